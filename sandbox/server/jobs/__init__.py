"""What a request of Piston's API runs: its fields checked, its program placed, run and reported.

JSON ─ request.py ─▶ Job ─ execute.py ─▶ compile, run ─ stages.py ─▶ Piston's answer
        files.py: the files     layout.py: where they are in a box
        limits.py               codeforces.py: the protocol of that package
        runtimes.py
"""
