"""README and docs agree with the code: commands, flags, links, paths, verdicts."""

import re
from pathlib import Path
from typing import get_args

import pytest

import gradebox
from gradebox.eval.cli.grade import make_parser
from gradebox.eval.results.record import CaseVerdict, Reason, Status

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
PAGES = [
    *sorted(ROOT.glob("*.md")),
    ROOT / "examples" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]


FLAGS = (ROOT / "docs" / "flags.md").read_text()


def first_cells(text: str, header: str) -> list[str]:
    """Return the first cells of the rows of the table with this first header, without backticks."""
    table = text.split(f"\n| {header} |", 1)[1].split("\n\n", 1)[0]
    rows = re.findall(r"^\| ([^|]*?) \|", table, flags=re.MULTILINE)
    return [cell.replace("`", "") for cell in rows]


def test_two_commands_come_right_after_what_it_is_and_why():
    sections = re.findall(r"^## (.*)", README, flags=re.MULTILINE)
    assert sections[:3] == ["Why this one", "Try it", "Grade your own file"]
    first = README.split("## Try it", 1)[1].split("\n## ", 1)[0]
    assert re.findall(r"^make (\w+)", first, flags=re.MULTILINE) == ["grade", "test"]


def test_every_make_target_named_is_there():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"`make ([a-z-]+)", page.read_text()))
        assert named <= targets, page


def test_the_table_of_flags_is_the_parsers():
    flags = {word for action in make_parser()._actions for word in action.option_strings}
    assert set(first_cells(FLAGS, "flag")) == flags - {"-h", "--help"}
    assert set(first_cells(README, "flag")) <= flags


UNSET = ("", "none", "all", "by columns and tests", "1", "local")  # what no value means
UNSET += ("gradebox's own interpreter, without its environment",)


@pytest.mark.parametrize("page", [README, FLAGS], ids=["README", "flags"])
def test_the_defaults_of_flags_are_the_parsers(page):
    rows = re.findall(r"^\| `(--[\w-]+)` \| ([^|]*?) ?\|", page, flags=re.MULTILINE)
    defaults = {a.option_strings[0]: a.default for a in make_parser()._actions if a.option_strings}
    assert len(rows) >= 8
    for flag, shown in rows:
        value = defaults[flag]
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        wanted = UNSET if value is None or text == "" else ("off" if value is False else text,)
        assert shown in wanted, flag


def test_exit_statuses_are_the_documented_ones():
    wanted = ["0", "2", "3", "130"]
    assert first_cells(README, "exit status") == wanted
    assert first_cells((ROOT / "docs" / "exit-statuses.md").read_text(), "status") == wanted


def test_every_verdict_status_and_reason_is_explained():
    records = (ROOT / "docs" / "records.md").read_text()
    for name in (*get_args(Reason), *get_args(Status)):
        assert f"`{name}`" in records, name
    for verdict in get_args(CaseVerdict):
        assert re.search(rf"^\| [^|]*\b{verdict}\b", records, flags=re.MULTILINE), verdict
        assert re.search(rf"^\| [^|]*\b{verdict}\b", README, flags=re.MULTILINE), verdict


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if not re.match(r"[a-z]+:", link):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_constraints_name_no_registry_and_one_version_each():
    text = (ROOT / "constraints.txt").read_text()
    marker = r'python_version (<|>=) "3\.\d+"'
    assert "://" not in text
    assert not re.search(r"^\s*-", text, flags=re.MULTILINE)
    for line in text.splitlines():
        assert line.startswith("#") or re.fullmatch(
            rf"[a-z0-9.-]+==[\w.]+( ; {marker}( and {marker})?)?", line
        ), line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_files_exist(page):
    """A page that names a file of the code names one that is there."""
    if page.name == "CHANGELOG.md":
        return
    folders = "eval|checkers|sandbox|testing|tests|benchmarks|docs|docker|configs|examples"
    for name in re.findall(rf"`((?:{folders})/[\w./-]+)`", page.read_text()):
        assert (ROOT / name).exists(), f"{page.name} names {name}"


def test_the_version_is_the_newest_of_the_changes():
    versions = re.findall(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert versions[0] == gradebox.__version__
    assert f"\nVersion {gradebox.__version__}. " in README


def test_every_page_of_the_docs_is_in_their_index():
    index = (ROOT / "docs" / "README.md").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, page.name
