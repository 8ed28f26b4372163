"""Read one expression into SymPy: grammar ─▶ parser."""
