"""What every room of eval may use: errors, diagnostics, signals, output streams."""
