"""Runs over short answers: the math harness, equational theories, solutions to sample.

problems ─▶ requests ─▶ eval.sampling ─▶ responses ─▶ checkers ─▶ counts
"""
