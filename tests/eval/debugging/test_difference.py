"""The first difference: found by the comparison's own rules, shown in its lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers import compare
from checkers.compare import Mode
from eval.debugging.difference import Layout, first_place, side_by_side
from eval.debugging.screen import paint, width_of

# expected, output, mode, byte offsets of the first difference (None: equal)
PLACES = [
    (b"1 2 3\n", b"1 2 4\n", "open-r1", (4, 4)),
    (b"1 2 3\n", b"1  2\n4\n", "open-r1", (4, 5)),
    (b"12 3\n", b"13 3\n", "open-r1", (0, 0)),
    (b"1 2\n", b"1\n", "open-r1", (2, 2)),
    (b"1\n", b"1 2\n", "open-r1", (2, 2)),
    (b"", b"x", "open-r1", (0, 0)),
    (b"YES\n", b"yes\n", "open-r1", None),
    (b"YES no 1\n", b"yes NO 2\n", "open-r1", (7, 7)),
    (b"a\n\nb\n", b"a  \nc\n", "upstream", (3, 4)),
    (b"ab cd\n", b"ab  cd\n", "upstream", (3, 3)),
    (b"a\nb\n", b"a\n", "upstream", (2, 2)),
    (b"a b\n", b"a  b\n", "exact", (2, 2)),
    (b"a\n", b"a", "exact", (1, 1)),
    (b"x" * 70_000 + b"1", b"x" * 70_000 + b"2", "exact", (70_000, 70_000)),
    (b"x " * 70_000 + b"1", b"x " * 70_000 + b"2", "open-r1", (140_000, 140_000)),
]


@pytest.mark.parametrize(("expected", "output", "mode", "place"), PLACES)
def test_the_first_difference(
    expected: bytes, output: bytes, mode: Mode, place: tuple[int, int] | None
) -> None:
    assert first_place(expected, output, mode) == place


words = st.lists(st.sampled_from([b"1", b"22", b"yes", b"YES", b" ", b"\n", b"\t", b"\xff"]))


@given(words, words, st.sampled_from(compare.MODES))
def test_a_place_is_there_exactly_where_the_comparison_sees_a_difference(
    a: list[bytes], b: list[bytes], mode: Mode
) -> None:
    expected, output = b"".join(a), b"".join(b)
    place = first_place(expected, output, mode)
    assert (place is None) == compare.equal(output, expected, mode)
    if place is not None:
        assert 0 <= place.expected <= len(expected) and 0 <= place.output <= len(output)


@given(st.binary(max_size=300), st.binary(max_size=300), st.sampled_from(compare.MODES),
       st.sampled_from([40, 80, 81, 200]), st.booleans())  # fmt: skip
def test_rows_keep_to_the_width_and_are_harmless(
    expected: bytes, output: bytes, mode: Mode, width: int, full: bool
) -> None:
    for line in side_by_side(expected, output, Layout(width, mode, full)):
        shown = paint(line, colour=False)
        assert shown.isprintable() and width_of(shown) <= width


def shown(expected: bytes, output: bytes, *, full: bool = False, width: int = 80) -> list[str]:
    layout = Layout(width, "open-r1", full)
    return [paint(line, colour=False) for line in side_by_side(expected, output, layout)][1:]


def test_the_marks_stand_under_the_first_difference() -> None:
    lines = shown(b"1\n2 2\n3\n", b"1\n2 7\n4\n")
    assert lines == [
        "     1 1                                     1 1",
        ">    2 2 2                                   2 2 7",
        "         ^                                       ^",
        "*    3 3                                     3 4",
    ]


def test_lines_that_moved_stand_beside_their_partners() -> None:
    lines = shown(b"1\n\n\n2\n5\n", b"1\n3\n5\n")
    marked = next(line for line in lines if line.startswith(">"))
    assert marked.split() == [">", "4", "2", "2", "3"]


def test_a_missing_rest_is_said() -> None:
    lines = shown(b"1\n2\n", b"1\n")
    assert lines[1].split() == [">", "2", "2", "(nothing)"]


def test_the_difference_in_a_long_line_is_seen() -> None:
    same = b"123456789 " * 100_000
    lines = shown(same + b"right\n", same + b"wrong\n")
    assert "right" in lines[0] and "wrong" in lines[0] and "…" in lines[0]


def test_without_full_only_the_neighbourhood_is_shown() -> None:
    expected = b"".join(b"%d\n" % i for i in range(1000))
    lines = shown(expected, expected.replace(b"\n500\n", b"\nx\n"))
    assert len(lines) == 13
    assert len(shown(expected, expected.replace(b"\n500\n", b"\nx\n"), full=True)) == 1001


def test_ten_megabytes_are_looked_at_without_being_split() -> None:
    expected = b"12345 67890\n" * 900_000
    lines = shown(expected, expected[:-2] + b"1\n")
    assert lines[3].split() == [">", "900000", "12345", "67890", "900000", "12345", "67891"]
