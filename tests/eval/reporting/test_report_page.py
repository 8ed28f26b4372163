"""The report in a real browser, as a reader uses it."""

import re
from pathlib import Path

import pytest

from gradebox.eval.reporting.page import build_report
from gradebox.eval.results.statistics.counts import StatisticsOptions
from gradebox.eval.results.statistics.summary import Summary
from gradebox.sandbox.common.own_command import command
from tests.eval.reporting.browser import Browser
from tests.eval.reporting.synthetic_run import METRICS, synthetic_run
from tests.eval.results.statistics.made_records import case, solution, write_results

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "demo"
    records = [
        *synthetic_run(300),
        solution("9/A", 0, [case("ER")], rating=None),
        solution("9/B", 0, [case("SK")]),
    ]
    write_results(folder, records, METRICS)
    return build_report(str(folder), options=StatisticsOptions(ks=(1, 2, 9))).path


def rows_of(browser: Browser, column: str) -> list[str]:
    script = (
        "return [...document.querySelectorAll('tr.line .c-' + arguments[0])].map(e => e.innerText)"
    )
    return browser.run(script, column)  # type: ignore[no-any-return]


def select(browser: Browser, name: str, value: str) -> None:
    browser.run(
        "const s = document.querySelector(`[name=${arguments[0]}]`); s.value = arguments[1];"
        "s.dispatchEvent(new Event('change'))",
        name,
        value,
    )


def text_of(browser: Browser, selector: str) -> str:
    return browser.run("return document.querySelector(arguments[0]).innerText", selector)  # type: ignore[no-any-return]


def test_the_summary_shows_figures_notices_and_plots(browser, page):
    browser.open(page)
    tiles = text_of(browser, "#tiles")
    for name in ("pass@1", "pass@2", "pass@1 at 0.8 × time", "estimated rating"):
        assert name in tiles
    notices = text_of(browser, "#notices")
    assert "1 solution that ended in infrastructure errors" in notices
    assert "pass@9 is undefined: 75 of 75 problems have fewer than 9 graded samples" in notices
    plots = browser.run("return [...document.querySelectorAll('.plot h3')].map(e => e.innerText)")
    assert plots == [
        *("pass@k", "pass@1 by rating", "Verdicts of solutions", "Verdicts by sample number"),
        *("CPU time against its limit", "Memory against its limit", "pass@1 by language"),
        *("pass@1 by year of the contest", "pass@1 by tag"),
    ]
    assert browser.run("return document.querySelectorAll('.plot svg').length") == len(plots)
    assert browser.console() == []


def test_the_table_is_searched_filtered_sorted_and_paged(browser, page):
    browser.open(page)
    assert "302 of 302 solutions, 1 to 50 shown" in text_of(browser, "#found")
    browser.type("/gen-00123")
    browser.wait("return document.querySelectorAll('tr.line').length === 1")
    assert rows_of(browser, "sample") == ["3 · gen-00123"]
    browser.run("document.querySelector('#filters button').click()")
    select(browser, "verdict", "TLE")
    assert set(rows_of(browser, "verdict")) == {"TLE"}
    select(browser, "verdict", "error")
    assert rows_of(browser, "problem") == ["9/A"]
    browser.run("document.querySelector('#filters button').click()")
    sort = "document.querySelector('th[data-key=rating] button').click()"
    browser.run(sort)
    browser.run(sort)
    ratings = [int(rating) for rating in rows_of(browser, "rating")]
    assert ratings == sorted(ratings, reverse=True)
    state = "return document.querySelector('th[data-key=rating]').getAttribute('aria-sort')"
    assert browser.run(state) == "descending"
    browser.run("document.activeElement.blur()")
    browser.type("]")
    assert "51 to 100 shown" in text_of(browser, "#found")
    browser.type("[")
    assert "1 to 50 shown" in text_of(browser, "#found")


def test_clicking_a_plot_filters_the_table(browser, page):
    browser.open(page)
    marks = browser.run(
        "return [...document.querySelectorAll('.filter-mark')].map(e => e.ariaLabel)"
    )
    place = next(i for i, name in enumerate(marks) if name.startswith("runtime error: "))
    browser.run("document.querySelectorAll('.filter-mark')[arguments[0]].focus()", place)
    browser.press("Enter")
    assert set(rows_of(browser, "verdict")) == {"RE"}
    wanted = int(marks[place].split()[2])
    assert text_of(browser, "#found").startswith(f"{wanted} of 302 solutions")


def figures(browser: Browser, title: str) -> list[list[str]]:
    """Return the rows of the table below a plot."""
    script = """
    const plots = [...document.querySelectorAll('.plot')];
    const plot = plots.find(e => e.innerText.startsWith(arguments[0]));
    plot.querySelector('details').open = true;
    return new Promise(done => setTimeout(() => done([...plot.querySelectorAll('tbody tr')]
        .map(tr => [...tr.cells].map(td => td.innerText)))))"""
    return browser.run(script, title)  # type: ignore[no-any-return]


@pytest.mark.parametrize("samples", [1, 3])
def test_plots_follow_the_filters_of_the_address(browser, tmp_path, samples):
    """The figures are those of a run of the matching solutions alone."""
    run = list(synthetic_run(120, samples))
    write_results(tmp_path, run, METRICS)
    summary = Summary()
    for record in run:
        if record["language"] == "python":
            summary.add(record)
    tables = summary.result()["tables"]
    address = "#verdict=TLE&language=python"
    browser.open(build_report(str(tmp_path)).path, address)
    for name in ("rating", "year", "tag"):
        found = sorted(figures(browser, f"pass@1 by {name}"))
        rows = sorted(tables[name], key=lambda row: row["group"])
        keys = ("group", "problems", "solutions")
        assert [row[:3] for row in found] == [[str(row[key]) for key in keys] for row in rows]
        for row, expected in zip(found, rows, strict=True):
            shown = [float(text) for text in re.findall(r"[\d.]+(?=%)", " ".join(row[3:]))]
            assert shown == [pytest.approx(100 * expected["pass_at_1"], abs=0.051)]
    assert len(figures(browser, "pass@1 by language")) == 3  # not narrowed by its own filter
    assert {row[0] for row in figures(browser, "Verdicts of")} > {"time limit", "wrong answer"}
    assert set(rows_of(browser, "verdict")) == {"TLE"}
    assert browser.run("return location.hash") == address
    assert browser.console() == []


def test_samples_and_shares_of_limits_are_filters_too(browser, tmp_path):
    used = [0.0, 0.02, 0.021, 1.6, 2.0, 2.4, 9.0]  # seconds of 2
    records = [
        solution("1/A", i, [case(cpu_s=0.0), case("AC" if i else "WA", 1, cpu_s=cpu_s)],
                 time_limit_s=2.0) for i, cpu_s in enumerate(used)
    ]  # fmt: skip
    unmeasured = [solution("2/A", 0, [case("SK")]), solution("2/A", 1, time_limit_s=None)]
    write_results(tmp_path, [*records, *unmeasured], METRICS)
    page = build_report(str(tmp_path)).path
    browser.open(page)
    found = figures(browser, "CPU time")
    assert [row for row in found if row[1:] != ["0", "0"]] == [
        ["0 to 1%", "1", "1"], ["1 to 2%", "1", "0"], ["60 to 80%", "1", "0"],
        ["90 to 100%", "1", "0"], ["100 to 125%", "1", "0"], ["over 125%", "1", "0"],
    ]  # fmt: skip
    for address, samples in [
        ("#time=0-0.01", "0 1"), ("#time=1.25-", "6"), ("#sample=2-4", "2 3 4"), ("#sample=6", "6"),
    ]:  # fmt: skip
        browser.open(page, address)
        shown = " ".join(text.split(" ")[0] for text in rows_of(browser, "sample"))
        assert shown == samples
        browser.run("document.querySelector('#filters .filter-chip').click()")
        assert text_of(browser, "#found").startswith("9 of 9 solutions")


def test_a_solution_is_opened_and_read_by_keyboard(browser, page):
    browser.open(page)
    select(browser, "verdict", "WA")
    browser.run("document.activeElement.blur(); scrollTo(0, 0)")
    browser.type("jj")
    browser.press("Enter")
    browser.wait("return !!document.querySelector('tr.open + tr .command')")
    first = browser.run("return location.hash")
    assert "WA" in text_of(browser, "tr.open + tr .case-head .chip")
    failing = browser.run("return document.querySelectorAll('.cases .bad').length")
    seen = set()
    for _ in range(failing):
        pressed = "return document.querySelector('.cases [aria-pressed=true]').title"
        seen.add(browser.run(pressed))
        browser.type("n")
    assert len(seen) == failing
    assert browser.run("return location.hash") == first  # around the end, back at the first
    browser.press("Escape")
    assert browser.run("return document.querySelector('tr.open')") is None
    assert browser.run("return document.activeElement.className") == "name text"
    assert browser.run("return location.hash") == "#verdict=WA"


def test_a_case_shows_its_texts_and_its_command(browser, tmp_path):
    cases = [
        case("AC", 0),
        case(
            "WA",
            17,
            case_type="generated",
            input="a short <input>\n",
            output="1\n2 5\nx \n",
            expected="1\n2 3\nx\n",
            output_bytes=9000,
            stderr="debug: here",
            reason="failed_checker",
            checker={"stdout": "0", "stderr": "wrong at line 2", "exit_code": 0},
        ),
    ]
    write_results(tmp_path, [solution("1/A", 2, cases)], METRICS)
    browser.open(build_report(str(tmp_path)).path, "#solution=0")
    shown = text_of(browser, "tr.open + tr")
    for words in (
        "generated 17",
        "failed checker",
        "a short <input>",
        "First difference at line 2.",
        "The record has the first 9 B of 8.8 KB of output",
        "debug: here",
        "wrong at line 2",
        f"{command('debug')} {tmp_path} --problem 1/A --sample 2 --case generated:17",
    ):
        assert words in shown
    marks = browser.run("return [...document.querySelectorAll('.diff mark')].map(e => e.innerText)")
    assert marks[:2] == ["3", "5"]
    kinds = browser.run(
        "return [...document.querySelectorAll('.diff td.text')].map(e => e.className.trim())"
    )
    assert kinds == ["text", "text", "text want", "text got", "text ws", "text ws"]


def test_an_address_of_an_unknown_solution_is_reported(tmp_path, browser):
    write_results(tmp_path, [solution("1/A", 0, [case()])], METRICS)
    for asked in ("7", "x", "-1"):
        browser.open(build_report(str(tmp_path)).path, f"#solution={asked}")
        assert "a solution that this report does not have; it has 1 solution" in text_of(
            browser, "#found"
        )


@pytest.mark.parametrize("width", [320, 1280])
def test_the_page_fits_the_window(browser, page, width):
    assert browser.width_needed(page, "#solution=2", width) <= width


def test_controls_have_names_and_text_has_contrast(browser, page):
    """Check that every control has a name and all text a contrast of at least 4.5."""
    browser.open(page, "#solution=2")
    nameless = browser.run(
        """const controls = 'button, select, input, [role=button], [tabindex="0"]';
        const name = (e) => e.innerText || e.getAttribute('aria-label') || e.textContent || '';
        return [...document.querySelectorAll(controls)].filter(e => !name(e).trim())
            .map(e => e.outerHTML)"""
    )
    assert nameless == []
    for dark in (False, True):
        browser.dark(dark)
        browser.wait(
            f"return document.documentElement.dataset.theme === '{'dark' if dark else 'light'}'"
        )
        weak = browser.run(CONTRAST)
        assert weak == []
    browser.dark(False)


CONTRAST = """
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const behind = (e) => {
    for (; e; e = e.parentElement) {
        const c = parse(getComputedStyle(e).backgroundColor);
        if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
};
const ofText = (e) => !e.closest('svg, option') && !e.disabled && e.getClientRects().length
    && [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
return [...document.querySelectorAll('main *, header *')].filter(ofText).map(e => {
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    return [ratio, e.tagName, e.className, e.textContent.slice(0, 30)];
}).filter(([ratio]) => ratio < 4.5);
"""


def test_compiler_output_and_solutions_without_cases_are_shown(browser, tmp_path):
    failed = solution("1/A", 0, [case("CE", cpu_s=None, output="", expected="", output_bytes=0)])
    failed["compile"] = {"ok": False, "log": "main.cpp:3: error", "cpu_s": 0.25}
    no_code = solution("1/A", 1, status="failed", verdict=None, error="no code in the response")
    no_code["details"] = []
    write_results(tmp_path, [failed, no_code], METRICS)
    page = build_report(str(tmp_path)).path
    browser.open(page, "#solution=0")
    shown = text_of(browser, "tr.open + tr")
    assert "main.cpp:3: error" in shown
    assert "250 ms" in shown
    browser.open(page, "#solution=1")
    shown = text_of(browser, "tr.open + tr")
    assert "no code in the response" in shown
    assert "No case was run." in shown
    assert "no code" in rows_of(browser, "verdict")


def test_the_theme_follows_the_system_and_the_button(browser, page):
    background = "return getComputedStyle(document.body).backgroundColor"
    browser.open(page)
    light = browser.run(background)
    browser.dark(True)
    browser.wait("return document.documentElement.dataset.theme === 'dark'")
    assert browser.run(background) != light
    browser.type("t")
    assert browser.run(background) == light
    browser.run("localStorage.clear()")
    browser.dark(False)


def test_an_empty_output_is_pointed_out(browser, tmp_path):
    write_results(tmp_path, [solution("1/A", 0, [case("WA", output="", output_bytes=0)])], METRICS)
    browser.open(build_report(str(tmp_path)).path, "#solution=0")
    assert "The program printed nothing. First difference at line 1." in text_of(
        browser, "tr.open + tr"
    )


def test_help_lists_the_keys(browser, page):
    browser.open(page)
    browser.type("?")
    assert browser.run("return document.querySelector('#help').open") is True
    assert "previous failing case" in text_of(browser, "#help")
    browser.press("Escape")
    assert browser.run("return document.querySelector('#help').open") is False
