"""A server with Piston's API v2 over the embedded sandbox: `python -m sandbox.server`.

app ─ admission · incoming · connect
 └ JSON ─ request ─▶ Job ─ execute ─▶ compile, run ─▶ Piston's answer
          layout: the files, and where they are in a box
          runtimes              codeforces: the protocol of that package
"""
