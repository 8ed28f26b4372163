"""One module per command: its flags, then one call."""
