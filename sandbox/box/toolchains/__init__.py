"""Compilers and interpreters: finding them, building programs with them, caching the results."""
