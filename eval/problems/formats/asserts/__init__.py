"""Formats of rows whose tests are a text of asserts."""
