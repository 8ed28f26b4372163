"""The view in a real browser: a run in progress, an edit, untrusted texts, several runs."""

import pytest

from gradebox.eval.debugging.reopen import Overrides
from gradebox.eval.reporting.page import build_report
from gradebox.eval.reporting.reruns import Reruns
from gradebox.eval.results.record import encode
from gradebox.eval.results.records import RESULTS_NAME
from tests.eval.debugging.small_run import SmallRun
from tests.eval.reporting.browser import Browser
from tests.eval.reporting.conftest import serving
from tests.eval.reporting.test_hostile_text import ATTACKS, EVIL, shown
from tests.eval.results.statistics.made_records import case, solution, write_results

pytestmark = pytest.mark.slow

RTL = "a\u202eb"
ROWS = "return [...document.querySelectorAll('tr.line .c-verdict')].map(e => e.innerText).join()"


def press(browser: Browser, name: str) -> None:
    browser.run(
        "[...document.querySelectorAll('button, summary')]"
        ".find(e => e.innerText.startsWith(arguments[0])).click()",
        name,
    )


def test_a_run_in_progress_is_watched(browser, tmp_path):
    path = tmp_path / RESULTS_NAME
    path.write_bytes(encode(solution("1/A", 0)))
    with serving(tmp_path) as address:
        browser.open(address)
        assert browser.run(ROWS) == "AC"
        with path.open("ab") as file:
            file.write(encode(solution("1/A", 1, [case("WA")]))[:-1])
            file.flush()
            browser.run("document.querySelector('tr.line .name').click()")
            browser.wait("return !!document.querySelector('tr.open + tr .command')")
            file.write(b"\n" + encode(solution("1/A", 2, [case("TLE")])))
        browser.wait("return document.querySelector('#found').innerText.startsWith('3 solutions;')")
        assert browser.run("return document.querySelectorAll('tr.line.open').length") == 1
        browser.press("Escape")
        browser.wait(ROWS + " === 'AC,WA,TLE'")
        write_results(tmp_path, [solution("1/A", 1), solution("1/A", 0)], {"timestamp": "now"})
        browser.wait(ROWS + " === 'AC,AC'")
        browser.wait("return document.querySelector('#head').innerText.includes('now')")
        assert browser.run("return document.querySelector('#notices').innerText") == ""
        assert browser.console() == []


def test_a_program_and_an_input_are_edited_and_run(browser, tmp_path):
    run = SmallRun(tmp_path)
    with serving(run.path, reruns=Reruns(Overrides(), run.sandbox)) as address:
        browser.open(f"{address}run/0/", "#solution=1")
        browser.wait("return !!document.querySelector('.part .box')")
        press(browser, "Edit and run again")
        browser.wait("return document.querySelectorAll('.edit textarea')[1].value === '1\\n'")
        edit = "document.querySelectorAll('.edit textarea')[arguments[0]].value = arguments[1]"
        verdict = "return document.querySelector('.edit .case-head .chip')?.innerText"
        assert browser.run("return document.querySelector('.edit textarea').value") == "wrong"
        press(browser, "Run this case")
        browser.wait(verdict + " === 'WA'")
        assert browser.run("return document.querySelector('.edit .got').innerText") == "wrong"
        browser.run(edit, 0, "echo")
        press(browser, "Run all cases")
        browser.wait("return document.querySelectorAll('.edit .cases .v-AC').length === 2")
        browser.run(edit, 1, "8\n")
        press(browser, "Run this case")
        browser.wait(verdict + " === 'not judged'")
        assert browser.console() == []


def test_untrusted_texts_are_shown_and_never_run(browser, tmp_path):
    text = EVIL + RTL + "x" * 1_000_000
    rows = [{"id": "1/A", "completion": f"{EVIL}</think>\n{RTL}\n```python\necho {text}\n```"}]
    problem = {"id": "1/A", "official_tests": [EVIL.replace("\ud800", "").replace("\udfff", "")]}
    run = SmallRun(tmp_path, rows, [{**problem, "description": text, "title": EVIL}])
    with serving(run.path, reruns=Reruns(Overrides(), run.sandbox)) as address:
        browser.open(f"{address}run/0/", "#solution=0")
        browser.wait("return !!document.querySelector('.part .box')")
        for name in ("Statement", "Response", "Thoughts", "Edit"):
            press(browser, name)
            browser.run("return new Promise(done => setTimeout(done, 200))")
        browser.wait("return document.querySelectorAll('.edit textarea')[1].value.length > 99")
        press(browser, "Run this case")
        browser.wait("return !!document.querySelector('.edit .case-head')")
        seen = browser.run("return document.querySelector('tr.open + tr').textContent")
        for attack in ATTACKS.values():
            assert shown(attack.replace("\ud800", "\ufffd").replace("\udfff", "\ufffd")) in seen
        assert seen.count("aU+202Eb") >= 3 and RTL not in seen
        for width in (390, 1280):
            browser.size(width, 900)
            assert browser.run("return document.documentElement.scrollWidth") <= width
        assert browser.run("return window.pwned") is None
        assert browser.console() == []


def test_runs_are_a_table_and_two_are_compared(browser, tmp_path):
    for name, verdict in (("a", "AC"), ("<b>", "WA")):
        write_results(tmp_path / name, [solution("1/A", 0, [case(verdict)])], {"timestamp": "now"})
    with serving(tmp_path / "a", tmp_path / "<b>") as address:
        browser.open(address)
        links = "return [...document.querySelectorAll('.runs a')].map(e => e.innerText)"
        assert browser.run(links) == ["a", "<b>"]
        press(browser, "Compare A and B")
        browser.wait("return document.querySelector('#details').innerText.includes('A better')")
        text = browser.run("return document.querySelector('#details').innerText")
        assert "-100.00 points" in text and "p = 1.00" in text
        second = browser.run("return document.querySelectorAll('.runs a')[1].href")
        browser.open(second)
        browser.wait(ROWS + " === 'WA'")
        browser.size(390, 900)
        assert browser.run("return document.documentElement.scrollWidth") <= 390
        browser.size(1280, 900)
        assert browser.console() == []


def test_a_report_has_the_program_and_the_response_inside(browser, tmp_path):
    answer = "<think>long\nthoughts</think>\nSo:\n```python\necho <b>\n```"
    run = SmallRun(tmp_path, [{"id": "1/A", "completion": answer, "solution_id": "=1+1"}])
    browser.open(build_report(str(run.path)).path, "#solution=0")
    press(browser, "Response")
    parts = "return [...document.querySelectorAll('.inside .part > summary')].map(e => e.innerText)"
    browser.wait(parts + ".length === 3")
    assert browser.run(parts) == ["Response", "Thoughts, 28 characters", "Program"]
    boxes = browser.run("return [...document.querySelectorAll('.part .box')].map(e => e.innerText)")
    assert [text.strip() for text in boxes] == [answer.partition("</think>\n")[2], "echo <b>"]
    saved = browser.run(
        "return new Promise(done => { URL.createObjectURL = file => { file.text().then(done);"
        " return '#'; };"
        " [...document.querySelectorAll('button')].find(e => e.innerText === 'CSV').click(); })"
    )
    lines = saved.split("\r\n")
    assert lines[0].startswith("problem,sample,solution,language,status,verdict,")
    assert lines[1].startswith("1/A,0,'=1+1,python,passed,AC,")
    assert browser.console() == []
