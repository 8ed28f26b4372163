"""The first difference: found by the comparison mode, shown in its lines."""

import pytest

from gradebox.eval.common.terminal import render
from gradebox.eval.debugging.page_parts import Layout, first_difference, side_by_side
from testing.rows import rows

# expected, output, mode, byte offsets of the first difference (None: equal)
PLACES = [
    *rows(__file__, "places"),
    ("x" * 70_000 + "1", "x" * 70_000 + "2", "exact", [70_000, 70_000]),
    ("x " * 70_000 + "1", "x " * 70_000 + "2", "open-r1", [140_000, 140_000]),
]


@pytest.mark.parametrize(("expected", "output", "mode", "place"), PLACES)
def test_the_first_difference(expected, output, mode, place):
    found = first_difference(expected.encode(), output.encode(), mode)
    assert found == (place and tuple(place))


def shown(expected: bytes, output: bytes, *, full: bool = False, width: int = 80) -> list[str]:
    layout = Layout(width, "open-r1", full)
    return [render(line, colour=False) for line in side_by_side(expected, output, layout)][1:]


def test_carets_are_under_the_first_difference():
    lines = shown(b"1\n2 2\n3\n", b"1\n2 7\n4\n")
    assert lines == [
        "     1 1                                     1 1",
        ">    2 2 2                                   2 2 7",
        "         ^                                       ^",
        "*    3 3                                     3 4",
    ]


def test_the_differing_lines_are_side_by_side():
    lines = shown(b"1\n\n\n2\n5\n", b"1\n3\n5\n")
    marked = next(line for line in lines if line.startswith(">"))
    assert marked.split() == [">", "4", "2", "2", "3"]


def test_missing_lines_are_marked():
    lines = shown(b"1\n2\n", b"1\n")
    assert lines[1].split() == [">", "2", "2", "(nothing)"]


def test_the_difference_in_a_long_line_is_visible():
    same = b"123456789 " * 100_000
    lines = shown(same + b"right\n", same + b"wrong\n")
    assert "right" in lines[0] and "wrong" in lines[0] and "…" in lines[0]


def test_only_nearby_lines_are_shown_without_full():
    expected = b"".join(b"%d\n" % i for i in range(1000))
    lines = shown(expected, expected.replace(b"\n500\n", b"\nx\n"))
    assert len(lines) == 13
    assert len(shown(expected, expected.replace(b"\n500\n", b"\nx\n"), full=True)) == 1001


def test_an_output_of_ten_megabytes():
    expected = b"12345 67890\n" * 900_000
    lines = shown(expected, expected[:-2] + b"1\n")
    assert lines[3].split() == [">", "900000", "12345", "67890", "900000", "12345", "67891"]
