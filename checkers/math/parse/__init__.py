"""Parse normalised text into structures and SymPy expressions."""
