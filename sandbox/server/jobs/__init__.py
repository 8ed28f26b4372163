"""What a request of Piston's API runs: its fields checked, its program placed, run and reported.

JSON ─ request.py ─▶ Job ─ execute.py ─▶ compile, run ─▶ Piston's answer
        layout.py: the files, and where they are in a box
        runtimes.py             codeforces.py: the protocol of that package
"""
