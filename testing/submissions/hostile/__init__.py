"""Programs that attack the sandbox, and the required outcome of each at every level.

model ── table (attacks that are run), compiling (attacks on the compiler) ─┐
host (counts on the grader's side before and after) ────────────────────────┼─ harness ─
test_hostile programs/ (the attacks; probe.cpp runs after each) ─────────────────────────┘    └─
python -m … (JSON)
"""
