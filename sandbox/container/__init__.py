"""Piston or this repository's server in Docker: `python -m sandbox.container up`."""
