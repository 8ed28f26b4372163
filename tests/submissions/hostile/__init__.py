"""Programs that attack the sandbox, and what must come out of each at every level.

model ── table (what is run), compiling (what is compiled) ─┐
host (what the grader's side must not show afterwards) ─────┼─ harness ─ test_hostile
programs/ (the attacks; probe.cpp runs after each) ─────────┘         └─ python -m … (JSON)
"""
