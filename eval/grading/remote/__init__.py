"""Whole solutions graded by servers of ours: the request, and the task that sends it."""
