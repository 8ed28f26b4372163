"""The README and the docs say what is so: commands, flags, links, verdicts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from eval.flags import make_parser
from eval.model import CaseVerdict, Reason, Status

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def first_cells(text: str, heading: str) -> list[str]:
    """First cells of the table's rows under a heading, backticks off."""
    section = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| ([^|]*?) \|", section, flags=re.MULTILINE)
    return [cell.replace("`", "") for cell in rows[1:]]


def test_the_two_commands_stand_in_the_first_screen() -> None:
    first = "\n".join(README.splitlines()[:24])
    assert re.findall(r"^make (\w+)", first, flags=re.MULTILINE) == ["grade", "test"]


def test_every_make_target_named_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"`make ([a-z-]+)", page.read_text()))
        assert named <= targets, page


def test_the_flags_table_is_the_parsers() -> None:
    flags = {word for action in make_parser()._actions for word in action.option_strings}
    assert set(first_cells(README, "Flags")) == flags - {"-h", "--help"}


def test_the_flags_defaults_are_the_parsers() -> None:
    section = README.split("## Flags\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `(--[\w-]+)` \| ([^|]*?) ?\|", section, flags=re.MULTILINE)
    said = {flag: default for flag, default in rows if re.fullmatch(r"-?\d+(\.\d+)?", default)}
    defaults = {a.option_strings[0]: a.default for a in make_parser()._actions if a.option_strings}
    for flag, default in said.items():
        if not isinstance(defaults[flag], (int, float)):
            continue
        assert float(default) == float(defaults[flag]), flag


def test_exit_statuses_are_the_documented_ones() -> None:
    wanted = ["0", "2", "3", "130"]
    assert first_cells(README, "When something is wrong") == wanted
    page = "## Top\n" + (ROOT / "docs" / "exit-statuses.md").read_text()
    assert first_cells(page, "Top") == wanted


def test_every_verdict_status_and_reason_is_explained() -> None:
    records = (ROOT / "docs" / "records.md").read_text()
    for name in (*get_args(Reason), *get_args(Status)):
        assert f"`{name}`" in records, name
    for verdict in get_args(CaseVerdict):
        assert re.search(rf"^\| [^|]*\b{verdict}\b", records, flags=re.MULTILINE), verdict
        assert re.search(rf"^\| [^|]*\b{verdict}\b", README, flags=re.MULTILINE), verdict


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if not re.match(r"[a-z]+:", link):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_constraints_name_no_registry_and_one_version_each() -> None:
    text = (ROOT / "constraints.txt").read_text()
    assert "://" not in text
    assert not re.search(r"^\s*-", text, flags=re.MULTILINE)
    for line in text.splitlines():
        assert line.startswith("#") or re.fullmatch(
            r'[a-z0-9.-]+==[\w.]+( ; python_version (<|>=) "3\.\d+")?', line
        ), line
