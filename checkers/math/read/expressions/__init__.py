"""Read one expression into SymPy: grammar ─▶ parser; operators has SymPy's functions."""
