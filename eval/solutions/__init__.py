"""Solutions files, and the extraction of programs from responses."""
