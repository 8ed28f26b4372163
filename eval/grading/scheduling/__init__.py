"""Spread the cases of solutions over the workers of one process."""
