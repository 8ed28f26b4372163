"""Two runs side by side.

results A ─ side ─┐
results B ─ side ─┴─ circumstances (may they be compared?) ─ text
"""
