"""Our server compared with a real Piston, request by request.

table.py ─▶ a real Piston ─ record.py ─▶ answers.json ─┐
   └──────▶ our server ────────────────▶ test_compared.py: the same, but for `ours`
"""
