"""Read answer text into structures and SymPy expressions."""
