"""The sandbox that sends programs to Piston servers. Imports go one way, downwards:

    client            PistonSandbox: chooses a server for each run
    attempts          tries of one piece of work on several servers
    fleet             the servers: concurrency, failures, leases
    stock_piston      a run on a stock Piston server, through a launcher of ours
      build           compile once, keep the binary
      launcher        the launcher's input files and its report
      evidence        server figures + launcher report → Execution
      probe, limits   what a server allows
      packages        which Piston package runs which language
    gradebox_server   a single run on gradebox.sandbox.server, which reports an Execution itself
    http/             one HTTP exchange: connection, transport, request and answer

box_launcher.py and box_launcher.c are not imported. They travel to the server as source text.
"""

from gradebox.sandbox.piston.client import PistonSandbox

__all__ = ["PistonSandbox"]
