"""The sandbox that sends programs to Piston servers. Imports go one way, downwards:

    client            PistonSandbox: chooses a server for each run
    fleet             the servers: concurrency, failures, leases; tries on several of them
    stock_piston      a run on a stock Piston server, through a launcher of ours
      launcher        the launcher's input files, its report, and the evidence of both sides
      probe           what a server allows
      packages        which Piston package runs which language, and how a job starts there
    gradebox_server   a single run on gradebox.sandbox.server, which reports an Execution itself
    execute           a request to POST /api/v2/execute, its limits, and its answer
    transport         one HTTP exchange

box_launcher.py is not imported. It travels to the server as source text.
"""

from gradebox.sandbox.piston.client import PistonSandbox

__all__ = ["PistonSandbox"]
