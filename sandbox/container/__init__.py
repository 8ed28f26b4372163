"""Run Piston or gradebox's server in Docker: `python -m sandbox.container up`."""
