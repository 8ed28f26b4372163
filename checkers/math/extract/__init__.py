"""Find the answer in a response."""
