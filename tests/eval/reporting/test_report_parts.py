"""The parts of the report, without a browser."""

import json
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradebox.eval.common.terminal import option, shell_word
from gradebox.eval.reporting.page import STATIC, page_policy, script_json
from gradebox.eval.reporting.page_data import CASE_COLUMNS, COLUMNS, detail_of, row_of
from tests.eval.results.statistics.made_records import case, solution

TEXT = st.text(st.characters(exclude_categories=()), max_size=60)


@pytest.mark.slow
@given(
    st.recursive(
        TEXT | st.integers() | st.none(),
        lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    )
)
def test_script_json_is_equal_json_of_safe_characters(value):
    text = script_json(value)
    assert json.loads(text) == value
    assert all(" " <= char <= "~" for char in text)
    assert not set("<>&") & set(text)


def test_script_json_rejects_nan():
    with pytest.raises(ValueError, match="JSON compliant"):
        script_json(float("nan"))


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1))
def test_bash_reads_a_shell_word_as_the_original_text(text):
    word = shell_word(text)
    assert word.isprintable()
    done = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert done.stdout == text.encode()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("1000/A", "--problem 1000/A"),
        ("$(reboot)", "--problem '$(reboot)'"),
        ("a b", "--problem 'a b'"),
        ("-x", "--problem=-x"),
        ("\x1b[2J\nreboot\n", r"--problem $'\x1b[2J\x0areboot\x0a'"),
        ("\u202eA", r"--problem $'\xe2\x80\xaeA'"),
    ],
)
def test_options_are_quoted_for_the_shell(value, words):
    assert option("--problem", value) == words


def test_a_row_sums_up_the_cases():
    cases = [
        case(cpu_s=0.1, memory_bytes=5),
        case("WA", 1, cpu_s=0.7, memory_bytes=3),
        case("SK", 2),
    ]
    row = dict(zip(COLUMNS, row_of(solution("1/A", 2, cases, tags=("dp",))), strict=True))
    assert (row["passed"], row["judged"], row["cases"]) == (1, 2, 3)
    assert (row["cpu_s"], row["memory_bytes"]) == (0.7, 5)
    assert (row["verdict"], row["tags"], row["problem"]) == ("WA", ["dp"], "1/A")
    assert (row["contest"], row["date"]) == ("1", "2020")
    dated = solution(origin={"contest_date": "2024-05-04"})
    assert row_of(dated)[COLUMNS.index("date")] == "2024-05"


def test_the_row_of_a_solution_without_cases():
    record = solution("1/A", 0, status="failed", verdict="CE")
    record["details"] = []
    row = dict(zip(COLUMNS, row_of({**record, "error": "x" * 5000}), strict=True))
    assert (row["cpu_s"], row["judged"], row["verdict"]) == (None, 0, "CE")
    assert row["error"] == "x" * 120


def test_a_detail_has_all_figures_and_the_texts_of_some_cases():
    cases = [case("WA" if 10 <= i < 40 else "AC", i, stderr=f"e{i}") for i in range(50)]
    detail = detail_of(solution("1/A", 0, cases), "r")
    assert len(detail["cases"]) == 50
    assert sorted(map(int, detail["texts"])) == [0, 1, 2, *range(10, 22)]
    assert detail["texts"]["10"]["stderr"] == "e10"
    tenth = dict(zip(CASE_COLUMNS, detail["cases"][10], strict=True))
    assert (tenth["verdict"], tenth["number"], tenth["type"]) == ("WA", 10, "official")
    assert detail["reasons"][tenth["reason"]] == "failed_outputs_match"


@pytest.mark.parametrize(
    "word",
    ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
     "fetch(", "XMLHttpRequest", "http://", "https://", "javascript:", "srcdoc", "onclick="],
)  # fmt: skip
def test_the_page_never_uses_markup_strings_or_servers(word):
    for path in STATIC.iterdir():
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        if (path.name, word) != ("data.js", "fetch("):  # which a report's policy does not allow
            assert word not in text, path.name
    assert "connect-src 'none'" in page_policy()
