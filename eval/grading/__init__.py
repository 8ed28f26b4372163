"""Grading: from a session of opened inputs to verdicts and records."""
