"""Compare two runs problem by problem.

results A ─ read_run ─▶ ComparedRun ─┐
results B ─ read_run ─▶ ComparedRun ─┴─ find_differences ─▶ warnings, refusals
                                       paired statistics ─▶ text
"""
