"""Rows of benchmark files → samples. The registry imports what is here."""
