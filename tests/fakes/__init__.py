"""Stand-ins for what tests must not need: see each module."""
