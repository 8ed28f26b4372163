"""The difference of expected and actual output in the page."""

import pytest

from gradebox.eval.reporting.page import build_report
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


def test_lines_are_classified(browser, tmp_path):
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


def test_long_outputs_are_folded_and_unfolded(browser, tmp_path):
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
