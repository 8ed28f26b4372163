"""Runs on gradebox.sandbox.server: several cases of a program in one request, as raw bytes."""
