"""A server that speaks Piston's API v2 over the embedded box: `python -m sandbox.server`.

app ─ admission · jobs ─ execute ─ codeforces ─ judging · connect · runtimes · metrics
"""
