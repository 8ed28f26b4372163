"""Helpers for every package of eval: errors, diagnostics, signals, output streams."""
