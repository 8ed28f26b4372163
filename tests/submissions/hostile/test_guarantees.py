"""The table of guarantees in the docs: it has all attacks, and is written from outcomes."""

import pytest

from testing.submissions.hostile import guarantees
from testing.submissions.hostile.guarantees import BEGIN, END, PAGE
from testing.submissions.hostile.table import ATTACKS


def committed() -> list[str]:
    return PAGE.read_text().partition(BEGIN)[2].partition(END)[0].splitlines()


def test_every_attack_is_in_the_page():
    rows = [line.split(" | ")[0].removeprefix("| ") for line in committed()]
    for attack in ATTACKS:
        assert attack.tries in rows, (
            f"{attack.run}: run testing.submissions.hostile.guarantees again"
        )


def test_no_guarantee_of_the_page_is_broken():
    for line in committed():
        cells = [cell.strip() for cell in line.strip("|").split("|")[1:]]
        assert not any(cell.startswith("**") for cell in cells), line


def test_a_broken_guarantee_is_bold(tmp_path):
    row = {"level": "full", "run": "reach file", "came_out": "BREACH read", "wrong": "BREACH read"}
    lines = guarantees.table(
        [
            {**row, "tries": "the expected output, by its path"},
            {"level": "none", "unavailable": "x"},
        ]
    )
    assert lines[0] == "| attack | full |"
    assert "| the expected output, by its path | **BREACH read** |" in lines
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nlast year\n{END}\nafter\n")
    guarantees.write(lines, page)
    assert "last year" not in page.read_text()
    assert page.read_text().startswith("before\n") and page.read_text().endswith("after\n")


def test_a_page_without_markers_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing")
    with pytest.raises(SystemExit, match=r"page\.md lacks"):
        guarantees.write([], page)
