"""Paths of files that are installed with gradebox."""

from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "models" / "data"
