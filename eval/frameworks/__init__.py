"""Adapters for evaluation frameworks and trainers: HF evaluate, lm-eval, inspect_ai, verifiers.

None of them is imported unless its module is: docs/frameworks.md.
"""
