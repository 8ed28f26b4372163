"""Submissions whose verdict is known: the check before a run, and the verification of packages."""
