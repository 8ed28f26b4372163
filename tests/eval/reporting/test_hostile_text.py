"""Untrusted text in a real browser: it never runs, and all of it is readable.

Every field that a model, a program, a checker or a dataset fills holds an attack that would set
`window.pwned` or leave the page.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from gradebox.eval.reporting.page import build_report
from testing.rows import named_rows
from tests.eval.results.statistics.made_records import case, solution, write_results

pytestmark = pytest.mark.slow

SCRIPT = "window.pwned=1"
ATTACKS = {
    "script": f"<script>{SCRIPT}</script>",
    "end of script": f"</script><script>{SCRIPT}</script>",
    "end of script, odd case": f"</ScRiPt ><img src=x onerror={SCRIPT}>",
    "double escape": f"<!--<script>{SCRIPT}",
    "image": f"<img src=x onerror='{SCRIPT}'>",
    "svg": f"<svg onload={SCRIPT}><a xlink:href='javascript:{SCRIPT}'>x</a></svg>",
    "attribute": f'" onmouseover="{SCRIPT}" x=\'" autofocus onfocus=\'{SCRIPT}',
    "comment": f"--><img src=x onerror={SCRIPT}><!--",
    "string end": f'\'); {SCRIPT}; ("\\"); {SCRIPT}//`${{{SCRIPT}}}`',
    "backslash": f"\\u003cscript\\u003e{SCRIPT}\\u003c/script\\u003e\\",
    "line separators": f"\u2028{SCRIPT}\u2029{SCRIPT}\r{SCRIPT}",
    "template": f"$chunks$script{{{{constructor.constructor('{SCRIPT}')()}}}}",
    "frame": f'<iframe srcdoc="<script>parent.{SCRIPT}</script>"></iframe>',
    "base": "<base href='http://127.0.0.1:1/'>",
    "refresh": f"<meta http-equiv=refresh content='0;url=data:,{SCRIPT}'>",
    "style": "<style>*{display:none}</style><link rel=stylesheet href=http://127.0.0.1:1/x>",
    "form": "<form action=http://127.0.0.1:1/><button autofocus>",
    "javascript link": f"javascript:{SCRIPT}",
    "prototype": "__proto__",
    "constructor": "constructor",
    "utf-7": f"+ADw-script+AD4-{SCRIPT}+ADw-/script+AD4-",
    "nul": f"\x00<scr\x00ipt>{SCRIPT}</script>",
}
EVIL = "".join(ATTACKS.values())


def hostile_record(text: str, number: int) -> dict[str, Any]:
    """Return a record with the attack in every untrusted string."""
    checker = {"stdout": text, "stderr": text, "exit_code": 1, text: text}
    cases = [
        case("WA", 0, output=text, expected=text + "2", error=text, stderr=text, checker=checker),
        case("WA", 1, input=text, output="1", expected=text, transcript=text),
        case("AC", 2, output=text, expected=text),
    ]
    return solution(
        text,
        number,
        cases,
        solution_id=text,
        language=text,
        error=text,
        tags=[text, "dp"],
        compile={"log": text + ".", "ok": False, "tool": text, text: text},
        sandbox={"backend": text, "level": text},
        key=text,
    )


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "a<img src=x onerror=window.pwned=1>b"
    records = [hostile_record(text, i) for i, text in enumerate(ATTACKS.values())]
    metrics = {"timestamp": EVIL, "flags": {"x": EVIL, EVIL: 1}, "sandbox": {"level": EVIL}}
    write_results(folder, records, metrics)
    return build_report(str(folder)).path


def shown(text: str) -> str:
    """Return `text` with the page's names of invisible characters."""
    pictures = {"\x00": "␀", "\r": "␍"}
    hidden = {char: f"U+{ord(char):04X}" for char in "\u2028\u2029\ud800\udfff\u202e\u200b"}
    return "".join({**pictures, **hidden}.get(char, char) for char in text)


def test_no_attack_runs_and_every_attack_is_readable(browser, hostile_page):
    browser.open(hostile_page)
    browser.console()
    for number, text in enumerate(ATTACKS.values()):
        browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
        browser.run("location.hash = arguments[0]", f"#solution={number}&case=0")
        browser.wait(f"return !!document.querySelector('#row-{number}.open + tr .command')")
        seen = browser.run("return document.querySelector('tr.open + tr').innerText")
        all_text = browser.run("return document.querySelector('tr.open + tr').textContent")
        assert shown(text) in all_text, (text, seen)
        assert browser.run("return document.querySelector('tr.open .name').textContent") == shown(
            text
        )
        for element in ("iframe", "img", "base", "link", "form[action]", "svg a"):
            assert (
                browser.run("return document.querySelectorAll(arguments[0]).length", element) == 0
            )
        for _ in (1, 2):
            browser.press("ArrowRight")
            assert shown(text) in browser.run(
                "return document.querySelector('tr.open + tr').textContent"
            )
    assert browser.run("return window.pwned") is None
    assert browser.run("return location.protocol") == "file:"
    assert browser.console() == []


def test_filters_and_plots_show_hostile_names(browser, hostile_page):
    asked = {"text": EVIL, "sample": EVIL, "tag": EVIL[:99]}
    browser.open(hostile_page, "#" + urlencode(asked, errors="replace"))
    chips = browser.run(
        "return [...document.querySelectorAll('.filter-chip')].map(e => e.innerText)"
    )
    assert sum("<script>" in chip for chip in chips) >= 5  # above the plots and the table
    browser.run("document.querySelector('#filters > button').click()")
    browser.run(
        "for (const s of document.querySelectorAll('#filters select'))"
        " for (const o of s.options) { s.value = o.value; s.dispatchEvent(new Event('change')); }"
    )
    browser.run(
        "for (const g of document.querySelectorAll('.filter-mark'))"
        " g.dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    browser.run(
        "for (const e of document.querySelectorAll('*'))"
        " for (const t of ['mouseover', 'focus', 'load', 'error']) e.dispatchEvent(new Event(t))"
    )
    assert browser.run("return window.pwned") is None
    assert browser.console() == []


def test_the_policy_blocks_markup_and_scripts_from_strings(browser, hostile_page):
    """Check the browser's own defence, should the escaping have a hole."""
    browser.open(hostile_page)
    browser.console()
    refused = browser.run(
        "try { document.body.innerHTML = '<img src=x onerror=window.pwned=1>'; return false }"
        " catch (e) { return e.name }"
    )
    assert refused == "TypeError"
    browser.run(
        "const i = document.createElement('img'); i.setAttribute('src', 'x');"
        "document.body.append(i)"
    )
    assert any("img-src" in line for line in browser.console())
    refused = browser.run(
        "try { document.createElement('script').text = 'window.pwned=1'; return false }"
        " catch (e) { return e.name }"
    )
    assert refused == "TypeError"
    assert browser.run("return window.pwned") is None


@pytest.mark.parametrize("width", [400, 1280])
def test_a_very_long_word_does_not_widen_the_page(browser, tmp_path, width):
    write_results(tmp_path, [hostile_record("a" * 5000, 0)], {"flags": {"b" * 5000: "c" * 5000}})
    page = build_report(str(tmp_path)).path
    assert browser.width_needed(page, "#solution=0&case=1", width) <= width


HIDDEN = named_rows(__file__, "hidden")


def test_invisible_characters_are_shown_by_name(browser, tmp_path):
    cases = [
        case("WA", i, output=f"a{char}b", expected="ab")
        for i, (char, _) in enumerate(HIDDEN.values())
    ]
    write_results(tmp_path, [solution("1/A", 0, cases)], {})
    page = build_report(str(tmp_path)).path
    for number, (_, name) in enumerate(HIDDEN.values()):
        if number >= 12:  # the page has the texts of the first twelve failing cases
            break
        browser.open(page, f"#solution=0&case={number}")
        marks = browser.run(
            "return [...document.querySelectorAll('.diff .got .ctl')].map(e => e.textContent)"
        )
        assert marks == [name]
