"""Decide whether two answers are the same."""
