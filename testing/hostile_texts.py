"""Texts that cost a careless reader more than a pass: a beginning, a repeated piece, an end.

    text_of("quotes", 1 << 16)   one of SHAPES in 64 KB

A search that may begin at every repetition and go on to the end is quadratic in such a text. Each
piece is a token that some reader of programs, responses, answers, tests or outputs knows.
"""

from testing.rows import named_rows

# name: what the text begins with, what is repeated, what it ends with
SHAPES: dict[str, tuple[str, str, str]] = named_rows(__file__, "shapes")


def text_of(shape: str, size: int) -> str:
    """Return a shape in at most `size` bytes of UTF-8, which is its size but for a piece."""
    before, piece, behind = SHAPES[shape]
    left = max(size - len((before + behind).encode()), 0)
    return before + piece * (left // len(piece.encode())) + behind
