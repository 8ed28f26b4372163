"""Compare equations: of lines and curves, differential equations."""
