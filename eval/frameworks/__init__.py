"""Faces of the grader for evaluation frameworks: HF evaluate, lm-evaluation-harness, inspect_ai.

None of them is imported unless its module is: docs/frameworks.md.
"""
