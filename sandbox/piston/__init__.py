"""The sandbox that is one or several Piston servers: see sandbox/piston/client.py."""

from sandbox.piston.client import PistonSandbox

__all__ = ["PistonSandbox"]
