"""Extraction led by the reference answer: parts, several values, letters, words."""
