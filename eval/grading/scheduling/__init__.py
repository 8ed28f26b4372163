"""Spread the cases of solutions over the workers of one process.

Job ── start ──▶ Task ── Active: its units left ──▶ Share: the units of one worker
"""
