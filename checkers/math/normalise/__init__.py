"""Rewrite an answer's text into the one spelling that the parser knows."""
