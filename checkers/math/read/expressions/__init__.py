"""Read one expression into SymPy: grammar ─▶ series ─▶ parser; operators has SymPy's functions."""
