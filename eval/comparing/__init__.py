"""Compare two runs problem by problem, or a run with the verdicts of a site (`agreement`)."""
