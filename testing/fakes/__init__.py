"""Fakes: a sandbox that runs nothing, a grading process to interrupt, example records."""
