"""A server with Piston's API v2 over the embedded sandbox: `python -m sandbox.server`.

app ─ admission · jobs ─ execute ─ codeforces · connect · runtimes · settings
"""
