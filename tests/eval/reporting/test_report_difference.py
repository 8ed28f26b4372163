"""The difference of expected and actual output in the page."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gradebox.eval.reporting.page import build_report
from tests.eval.reporting.browser import Browser
from tests.eval.reporting.synthetic_run import METRICS
from tests.eval.results.statistics.made_records import case, solution, write_results

pytestmark = pytest.mark.slow


DIFFERENCES: list[tuple[str, str, list[str]]] = [
    ("1\n2\n3\n", "1\n2\n3\n", ["eq", "eq", "eq"]),
    ("1\n2\n3", "1\n3", ["eq", "chg", "del"]),
    ("1\n3", "1\n2\n3", ["eq", "chg", "add"]),
    ("a\nb\nc", "a\nx\nc", ["eq", "chg", "eq"]),
    ("1 2\n3", "1   2 \n3", ["ws", "eq"]),
    ("", "1\n", ["add"]),
    ("1\n", "", ["del"]),
]


def test_lines_are_classified(browser: Browser, tmp_path: Path) -> None:
    cases = [
        case("WA", place, expected=expected, output=output)
        for place, (expected, output, _) in enumerate(DIFFERENCES)
    ]
    write_results(tmp_path, [solution("1/A", 0, cases)], METRICS)
    page = build_report(str(tmp_path)).path
    script = """return [...document.querySelectorAll('.diff tbody tr')].map(row => {
        const [a, b] = row.querySelectorAll('td.text');
        const numbers = [...row.querySelectorAll('.no')].map(e => e.innerText !== '');
        if (!numbers[0]) return 'add';
        if (!numbers[1]) return 'del';
        const has = (name) => a.className.includes(name);
        return has('ws') ? 'ws' : has('want') ? 'chg' : 'eq'; })"""
    for place, (_, _, kinds) in enumerate(DIFFERENCES):
        browser.open(page, f"#solution=0&case={place}")
        assert browser.run(script) == kinds


def test_long_outputs_are_folded_and_unfolded(browser: Browser, tmp_path: Path) -> None:
    lines = [str(i) for i in range(3000)]
    wrong = [*lines[:1500], "x", *lines[1501:]]
    other = [f"y{i}" for i in range(3000)]
    cases = [
        case("WA", 0, expected="\n".join(lines), output="\n".join(wrong)),
        case("WA", 1, expected="\n".join(lines), output="\n".join(other)),
    ]
    write_results(tmp_path, [solution("1/A", 0, cases)], METRICS)
    page = build_report(str(tmp_path)).path
    browser.open(page, "#solution=0&case=0")
    drawn = "return document.querySelectorAll('.diff tbody tr').length"
    assert browser.run(drawn) == 9  # the changed line, three lines on each side, two folds
    browser.run("document.querySelector('.gap button').click()")
    assert browser.run(drawn) == 8 + 1497
    browser.open(page, "#solution=0&case=1")
    assert browser.run(drawn) == 401
    assert "show 2,600 more lines" in browser.run(
        "return document.querySelector('.diff .gap').innerText"
    )


def test_each_side_shows_every_line_once(browser: Browser, tmp_path: Path) -> None:
    """Check for random texts that each side shows all its lines once and in order."""
    random_ = random.Random(5)
    texts = []
    for size in (1, 3, 8, 20, 60, 150, 700, 1500):
        lines = [str(random_.randint(0, size)) for _ in range(size)]
        other = [line for line in lines if random_.random() > 0.2]
        for _ in range(random_.randint(0, size // 3)):
            other.insert(random_.randint(0, len(other)), random_.choice(["new", "7", " 7", "8 "]))
        texts.append((lines, other))
    cases = [
        case("WA", i, expected="\n".join(a), output="\n".join(b)) for i, (a, b) in enumerate(texts)
    ]
    write_results(tmp_path, [solution("1/A", 0, cases)], METRICS)
    page = build_report(str(tmp_path)).path
    sides = """for (let gap; (gap = document.querySelector('.gap button'));) gap.click();
        const rows = [...document.querySelectorAll('.diff tbody tr')].map(row => [...row.cells]);
        const words = (cell) => cell.textContent.replace(/·/g, ' ');
        const side = (no, text) => rows.filter(cells => words(cells[no]))
            .map(cells => [Number(words(cells[no])), words(cells[text])]);
        return [side(0, 1), side(2, 3)]"""
    for place, (expected, output) in enumerate(texts):
        browser.open(page, f"#solution=0&case={place}")
        left, right = browser.run(sides)
        assert left == [[i, line] for i, line in enumerate(expected, start=1)]
        assert right == [[i, line] for i, line in enumerate(output, start=1)]
