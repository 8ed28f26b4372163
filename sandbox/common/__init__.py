"""Helpers used in all rooms."""
