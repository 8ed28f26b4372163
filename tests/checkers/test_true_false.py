"""The published rules for TRUE and FALSE, with a row for each rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.checkers import true_false, verdict
from gradebox.checkers.true_false import (
    MOST_READ,
    Verdict,
    extract_verdict,
    judge_response,
    render_prompt,
)

BOXED, LABELLED, LINE = "boxed", "labelled", "line"
NOTHING = "no boxed, labelled or bare TRUE or FALSE"


@pytest.mark.parametrize(
    ("response", "value", "reason"),
    [
        # boxed
        (r"\boxed{TRUE}", True, BOXED),
        (r"\boxed{false}", False, BOXED),
        (r"so \boxed{ $TRUE$. }", True, BOXED),
        (r"\boxed{[(False)]!}", False, BOXED),
        (r"\boxed{\text{TRUE}}", True, BOXED),
        (r"\boxed{\mathrm{\mathbf{\operatorname{FALSE}}}}", False, BOXED),
        (r"\boxed{\mathrm{\mathbf{\text{\operatorname{FALSE}}}}}", False, BOXED),
        (r"\boxed{\mathrm{\mathbf{\operatorname{\mathrm{\text{FALSE}}}}}}", False, LABELLED),
        (r"\boxed {FALSE}", False, BOXED),
        (r"\BOXED{FALSE}", False, BOXED),
        (r"\boxed{\TEXT {true}}", True, BOXED),
        ("\\boxed{\u00a0TRUE\u2028}", True, BOXED),
        ("\\boxed{$\u00a0TRUE$}", None, NOTHING),
        (r"it is \text {TRUE}", True, LABELLED),
        (r"\boxed{\text{\text{\text{\text{\text{TRUE}}}}}}", True, LABELLED),
        (r"\boxed{\mathrm{\mathrm{\mathrm{\mathrm{\mathrm{TRUE}}}}}}", None, NOTHING),
        (r"\boxed{\textbf{TRUE}}", None, NOTHING),
        (r"\boxed{TRUE} then \boxed{FALSE}", False, BOXED),
        (r"\boxed{TRUE", None, NOTHING),
        (r"\boxed{FALSE and then \boxed{TRUE}", True, BOXED),
        (r"\boxed{x} \boxed{TRUE} \boxed{y}", True, BOXED),
        (r"\boxed{TRUE or FALSE}", None, NOTHING),
        (r"\boxed{**TRUE**}", True, BOXED),
        (r"\fbox{TRUE} or not", None, NOTHING),
        ("\\boxed{TRUE}\nVERDICT: FALSE", True, BOXED),
        # labelled
        ("VERDICT: TRUE", True, LABELLED),
        ("verdict：false", False, LABELLED),
        ("VERDICT = TRUE", None, NOTHING),
        ("VERDICT - TRUE", None, NOTHING),
        ("ANSWER = FALSE", False, LABELLED),
        ("so the answer: true, as shown", True, LABELLED),
        ("FINAL ANSWER - FALSE, q.e.d.", False, LABELLED),
        ("RESULT: TRUE done", True, LABELLED),
        ("OUTPUT_RESULT： False", False, LABELLED),
        ("OUTPUT__RESULT: TRUE", None, NOTHING),
        (r"it is \text{ true } here", True, LABELLED),
        ("VERDICT: TRUE OR FALSE", None, NOTHING),
        ("VERDICT: TRUE/FALSE", None, NOTHING),
        ("VERDICT: TRUE / FALSE", None, NOTHING),
        ("VERDICT: TRUE, or so I think", True, LABELLED),
        ("VERDICT: TRUE or, well, so I think", True, LABELLED),
        ("so\nFINAL ANSWER = TRUE!", True, LABELLED),
        ("VERDICT: TRUE orange", True, LABELLED),
        ("VERDICT: TRUEISH", None, NOTHING),
        ("NOVERDICT: TRUE x", None, NOTHING),
        ("ANSWER: TRUE ANSWER: FALSE", False, LABELLED),
        ("VERDICT:\n\nFALSE and so on", False, LABELLED),
        ("*VERDICT: TRUE*", True, LABELLED),
        ("**VERDICT**: FALSE", False, LABELLED),
        ("`VERDICT: TRUE`", True, LABELLED),
        ('{"verdict": "TRUE"}', None, NOTHING),
        ("FALSE\nANSWER: TRUE", True, LABELLED),
        # lines
        ("TRUE", True, LINE),
        ("because of this\nFALSE.", False, LINE),
        ("TRUE\nbecause\nFALSE", False, LINE),
        ("TRUE\nbecause\nit is so", True, LINE),
        ("why\nTRUE\nbecause", None, NOTHING),
        ("\n\n  **True!?** \n", True, LINE),
        ("The statement is FALSE.", None, NOTHING),
        ("TRUE FALSE", None, NOTHING),
        ("VERDICT: TRUE or\nFALSE", False, LINE),
        ("ＴＲＵＥ", None, NOTHING),
        # nothing
        ("", None, "the response is empty"),
        (" \n\t", None, "the response is empty"),
        ("``` ```", None, "the response is empty"),
    ],
)
def test_rules(response, value, reason):
    assert extract_verdict(response) == Verdict(value, reason)


@pytest.mark.parametrize(
    ("response", "expected", "correct", "reason"),
    [
        ("VERDICT: TRUE", True, True, "Answered TRUE"),
        ("VERDICT: TRUE", False, False, "Answered TRUE, expected FALSE"),
        ("Hard to say.", True, None, "No VERDICT found in response"),
        ("", True, None, "No VERDICT found in response"),
        (
            "VERDICT: TRUE, no: VERDICT: FALSE",
            False,
            True,
            "Answered FALSE (conflict resolved by final labeled marker)",
        ),
        (
            "\\boxed{TRUE}\nFALSE",
            False,
            False,
            "Answered TRUE, expected FALSE (conflict resolved by final boxed marker)",
        ),
        ("TRUE\nx\nFALSE", False, True, "Answered FALSE (conflict resolved by final line marker)"),
    ],
)
def test_reasons_are_those_of_the_judge(response, expected, correct, reason):
    assert judge_response(response, expected) == (correct, reason)


def test_the_former_module_name_is_an_alias():
    assert verdict.extract_verdict is true_false.extract_verdict


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
