"""Export a case as files that run without gradebox."""
