"""Runs over short answers (math harness, equational theories) and prompts for code problems.

questions ─▶ requests ─▶ gradebox.eval.models ─▶ responses ─▶ checkers ─▶ counts
"""
