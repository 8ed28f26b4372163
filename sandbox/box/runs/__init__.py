"""The runs of programs: what is requested of a box, and what comes back."""
