"""Read one expression into SymPy: tokens ─▶ grammar ─▶ series ─▶ calculus ─▶ latex (the parser)."""
