"""Extract programs from responses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.solutions.extract_code import extract_code, fenced_programs
from gradebox.sandbox.languages import TABLE
from testing.rows import named_rows

F = "`" * 3

# name: (response, requested language, code, language)
CASES: dict[str, tuple[str, str | None, str | None, str]] = named_rows(__file__, "responses")


@pytest.mark.parametrize("name", CASES)
def test_program_and_language_of_a_response(name):
    response, language, code, expected_language = CASES[name]
    assert extract_code(response, language) == (code, expected_language)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "known"),
    [
        ("`", False),
        ("~", False),
        (F + "\n", False),
        (F + "python\n", True),  # what is behind MOST_MARKS fences is the last one's program
        (F + "python\nx\n" + F + "\n", True),
        (F + "zzz\nx\n" + F + "\n", False),
        ("<think>", False),
        ("</think>", False),
        (" " * 50 + "\n", False),
        ("`" * 40 + "\n", False),
    ],
)
def test_repeated_fences_take_linear_time(unit, known):
    """Read a megabyte of one unit; quadratic time would exceed the timeout of the test."""
    text = unit * (1_000_000 // len(unit))
    code, language = extract_code(text, None)
    assert language == "python"
    assert (code is not None) == known


def test_a_long_indentation_takes_linear_time():
    """Read half a megabyte of spaces, then many fences that are compared with it."""
    text = " " * 500_000 + F + "\n" + (F + "zz\n") * 80_000
    assert extract_code(text, None)[0] == (F + "zz\n") * 80_000


LINES = st.lists(
    st.sampled_from(["x = 1", "  y", "", "`a`", "text", "<b>", "``", "~~", '"""']), min_size=1
)


@given(LINES, LINES, st.sampled_from(sorted(TABLE)), st.sampled_from(["```", "````", "~~~"]))
def test_a_fenced_program_is_returned_unchanged(before, program, tag, signs):
    code = "\n".join(program) + "\n"
    response = "\n".join([*before, signs + tag, *program, signs, *before])
    expected = code if code.strip() else None
    assert extract_code(response, tag)[0] == expected
    assert extract_code(response, None)[0] == expected


@given(st.text(alphabet="`~\n \tpython<think>/cp+\r", max_size=200), st.sampled_from([None, "cpp"]))
def test_a_program_consists_of_lines_of_the_response(text, language):
    code, found = extract_code(text, language)
    assert found == (language or found)
    if code is not None:
        assert code.strip()
        for line in code.split("\n"):
            assert line in text


def test_the_programs_of_a_language_are_those_with_its_tags_and_those_without():
    fences = (("cpp", "a"), ("python", "b"), ("", "c"), ("text", "d"), ("c++20", "e"), ("", " "))
    response = "\n".join(f"{F}{tag}\n{code}\n{F}" for tag, code in fences)
    assert fenced_programs(response, "c++17") == ["a\n", "c\n", "e\n"]
    assert fenced_programs(response, "python") == ["b\n", "c\n"]
    assert fenced_programs(f"{response}</think>{F}\nz\n{F}", "python") == ["z\n"]
