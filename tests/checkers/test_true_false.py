"""The published rules for TRUE and FALSE, with a row for each rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.checkers.true_false import (
    MOST_READ,
    Verdict,
    extract_verdict,
    judge_response,
    render_prompt,
)
from testing.rows import rows


@pytest.mark.parametrize(
    ("response", "value", "reason"),
    rows(__file__, "rules"),
)
def test_rules(response, value, reason):
    assert extract_verdict(response) == Verdict(value, reason)


@pytest.mark.parametrize(
    ("response", "expected", "correct", "reason"),
    rows(__file__, "reasons"),
)
def test_reasons_are_those_of_the_judge(response, expected, correct, reason):
    assert judge_response(response, expected) == (correct, reason)


def test_the_result_unpacks():
    value, reason = extract_verdict("VERDICT: TRUE")
    assert value is True
    assert reason == "labelled"


@given(st.text(max_size=300))
def test_any_text_gives_a_verdict_or_a_reason(text):
    value, reason = extract_verdict(text)
    assert value in (True, False, None)
    assert reason


@given(st.text(alphabet="TRUEFALSboxedtext{}\\: \n*", max_size=120))
def test_a_box_at_the_end_always_wins(text):
    assert extract_verdict(text + "\\boxed{FALSE}").value is False


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["\\boxed{", "VERDICT: TRUE or ", "**", "\\text{", "{", "\n"])
def test_long_responses_are_read_in_one_pass(unit):
    """Searching the end of each opener would take quadratic time and hit the test's time limit."""
    assert extract_verdict(unit * 100_000 + " \nFALSE").value in (False, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("opens", "inside", "value"), [("\\boxed{\\text{", "", None), ("\\boxed{\\text{", "TRUE", True)]
)
def test_nested_boxes_are_read_in_one_pass(opens, inside, value):
    """Reading the contents of each nested box would take quadratic time."""
    assert extract_verdict(opens * 1000 + inside + "}}" * 1000).value is value


def test_the_end_of_a_long_response_is_read_and_its_first_line():
    long = "x " * MOST_READ
    assert extract_verdict(f"\\boxed{{TRUE}} {long} VERDICT: FALSE") == (False, "labelled")
    assert extract_verdict(f"\n TRUE.\n{long}") == (True, "line")
    assert extract_verdict(f"{long}\nVERDICT: TRUE\n {' ' * MOST_READ}").value is None
    assert extract_verdict("TRUE" + " " * 30_000 + "x").value is None


@pytest.mark.parametrize(
    ("template", "prompt"),
    [
        ("{{equation1}} implies {{ equation2 }}?", "x=y implies x*y=z?"),
        ("{{ equation1 }}{{equation2}}", "x=yx*y=z"),
        ("{{equation1}} {{equation1}}", "x=y x=y"),
        ("{equation1} {{equation3}} {{  equation1  }} {{equation1 }}",) * 2,
        ("100% {} %s {0} $x", "100% {} %s {0} $x"),
    ],
)
def test_render_prompt(template, prompt):
    assert render_prompt(template, "x=y", "x*y=z") == prompt


def test_placeholders_in_equations_are_not_filled_in():
    assert render_prompt("{{equation1}}", "{{equation2}}", "secret") == "{{equation2}}"
    assert render_prompt("{{equation1}}", r"\1 \g<0>", "") == r"\1 \g<0>"
