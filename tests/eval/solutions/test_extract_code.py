"""Extract programs from responses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.solutions.extract_code import extract_code, fenced_programs
from gradebox.sandbox.languages import TABLE

F = "`" * 3

# name: (response, requested language, code, language)
CASES: dict[str, tuple[str, str | None, str | None, str]] = {
    "tagged": (f"Text.\n{F}python\nprint(1)\n{F}\nDone.", None, "print(1)\n", "python"),
    "the last one": (f"{F}py\na\n{F}\n{F}py\nb\n{F}", None, "b\n", "python"),
    "no tag, no requested language": (f"{F}\na\n{F}", None, "a\n", "python"),
    "no tag, requested language": (f"{F}\nint a;\n{F}", "c++20", "int a;\n", "c++20"),
    "no fence": ("print(1)", None, None, "python"),
    "no fence, requested language": ("int main(){}", "cpp", None, "cpp"),
    "empty": ("", None, None, "python"),
    "alias": (f"{F}cpp\nint a;\n{F}", None, "int a;\n", "c++17"),
    "tag in capitals": (f"{F}C++20\nint a;\n{F}", None, "int a;\n", "c++20"),
    "attributes": (f"{F}python title=x.py\na\n{F}", None, "a\n", "python"),
    "braces": (f"{F}{{.python .lines}}\na\n{F}", None, "a\n", "python"),
    "tag after a blank": (f"{F} Python 3\na\n{F}", None, "a\n", "python"),
    "any C++ tag matches any C++": (f"{F}cpp\nint a;\n{F}", "c++23", "int a;\n", "c++23"),
    "another language does not match": (f"{F}python\na\n{F}", "c++17", None, "c++17"),
    "last of several languages": (
        f"{F}python\na\n{F}\n{F}cpp\nb\n{F}\n{F}text\nc\n{F}",
        None,
        "b\n",
        "c++17",
    ),
    "the requested language among several": (
        f"{F}python\na\n{F}\n{F}cpp\nb\n{F}",
        "python",
        "a\n",
        "python",
    ),
    "sample output after the program": (
        f"{F}python\na\n{F}\nIt prints\n{F}\n42\n{F}",
        None,
        "a\n",
        "python",
    ),
    "sample output, requested language": (
        f"{F}python\na\n{F}\nIt prints\n{F}\n42\n{F}",
        "python",
        "a\n",
        "python",
    ),
    "unknown tag only": (f"{F}bash\nrm x\n{F}", None, None, "python"),
    "requested language is unknown and is the tag": (f"{F}rust\nfn\n{F}", "rust", "fn\n", "rust"),
    "empty fence last": (f"{F}python\na\n{F}\n{F}python\n\n{F}", None, "a\n", "python"),
    "tildes": ("~~~python\na\n~~~", None, "a\n", "python"),
    "tildes around backticks": (f"~~~python\n{F}\na\n~~~", None, f"{F}\na\n", "python"),
    "longer fence": (f"{F}``python\n{F}\na\n{F}``", None, f"{F}\na\n", "python"),
    "closing fence longer than the opening": (f"{F}python\na\n{F}``\n", None, "a\n", "python"),
    "indented": (
        f"1. So:\n   {F}python\n   if x:\n       a\n   {F}",
        None,
        "if x:\n    a\n",
        "python",
    ),
    "example in a docstring": (
        f'{F}python\ndef f():\n    """\n    {F}\n    x\n    {F}\n    """\n    return 1\n{F}',
        None,
        f'def f():\n    """\n    {F}\n    x\n    {F}\n    """\n    return 1\n',
        "python",
    ),
    "inside a Markdown fence": (
        f"{F}markdown\n# Answer\n{F}python\na\n{F}\n",
        None,
        "a\n",
        "python",
    ),
    "closing fence forgotten": (f"{F}\nplan\n{F}python\na\n{F}", None, "a\n", "python"),
    "backticks within a line before a fence": (
        f"Write it in {F}python fences:\n{F}python\na\n{F}",
        None,
        "a\n",
        "python",
    ),
    "a tag of no language does not end a fence": (
        f"{F}python\na\n{F}text\nb\n{F}\n",
        None,
        f"a\n{F}text\nb\n",
        "python",
    ),
    "inline code before a fence": (f"{F}a{F} is it:\n{F}python\na\n{F}", None, "a\n", "python"),
    "backticks in the tag of tildes": ("~~~python `x`\na\n~~~", None, "a\n", "python"),
    "<think> in two programs": (
        f"{F}python\n<think>\n{F}\n{F}text\n<think>\n{F}\n{F}python\nb\n{F}",
        None,
        "b\n",
        "python",
    ),
    "a closing fence may be indented by three": (
        f"{F}python\na\n   {F}\nIt prints 1.",
        None,
        "a\n",
        "python",
    ),
    "a fence indented by four is a line of the program": (
        f"{F}python\na\n    {F}\nb\n{F}",
        None,
        f"a\n    {F}\nb\n",
        "python",
    ),
    "three more than an indented fence": (
        f"- So:\n  {F}python\n  a\n     {F}\nIt prints 1.",
        None,
        "a\n",
        "python",
    ),
    "a tab is as wide as four blanks": (
        f"{F}python\na\n\t{F}\nb\n{F}",
        None,
        f"a\n\t{F}\nb\n",
        "python",
    ),
    "the last fence without a tag": (f"{F}\na\n{F}\n{F}\nb\n{F}", None, "b\n", "python"),
    "a tag among words": (f"{F}python, please\na\n{F}", None, "a\n", "python"),
    "inline code is not a fence": (f"{F}python a{F} and\nmore", None, None, "python"),
    "windows line ends": (f"{F}python\r\na\r\nb\r\n{F}\r\n", None, "a\nb\n", "python"),
    "cut in the program": (f"{F}python\nfor i in range(", None, "for i in range(\n", "python"),
    "cut after a draft": (
        f"{F}python\ndraft\n{F}\nBetter:\n{F}python\nfin",
        None,
        "fin\n",
        "python",
    ),
    "after </think>": (
        f"<think>\n{F}python\nno\n{F}\n</think>\n{F}python\nyes\n{F}",
        None,
        "yes\n",
        "python",
    ),
    "<think> opened by the prompt": (
        f"{F}python\nno\n{F}</think>\n{F}python\nyes\n{F}",
        None,
        "yes\n",
        "python",
    ),
    "open fence before </think>": (
        f"<think>{F}python\nno</think>\n{F}python\nyes\n{F}",
        None,
        "yes\n",
        "python",
    ),
    "program only before </think>": (
        f"<think>{F}python\nno\n{F}</think>Sorry",
        None,
        None,
        "python",
    ),
    "cut before </think>": (f"<think>\n{F}python\nno\n{F}\nand", None, None, "python"),
    "cut before </think>, with leading space": (
        f"\n <think> x\n{F}python\nno\n{F}",
        None,
        None,
        "python",
    ),
    "<think> in a program": (
        f'{F}python\n<think>\nprint("x")\n{F}',
        None,
        '<think>\nprint("x")\n',
        "python",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_program_and_language_of_a_response(name: str) -> None:
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
def test_repeated_fences_take_linear_time(unit: str, known: bool) -> None:
    """Read a megabyte of one unit; quadratic time would exceed the timeout of the test."""
    text = unit * (1_000_000 // len(unit))
    code, language = extract_code(text, None)
    assert language == "python"
    assert (code is not None) == known


def test_a_long_indentation_takes_linear_time() -> None:
    """Read half a megabyte of spaces, then many fences that are compared with it."""
    text = " " * 500_000 + F + "\n" + (F + "zz\n") * 80_000
    assert extract_code(text, None)[0] == (F + "zz\n") * 80_000


LINES = st.lists(
    st.sampled_from(["x = 1", "  y", "", "`a`", "text", "<b>", "``", "~~", '"""']), min_size=1
)


@given(LINES, LINES, st.sampled_from(sorted(TABLE)), st.sampled_from(["```", "````", "~~~"]))
def test_a_fenced_program_is_returned_unchanged(
    before: list[str], program: list[str], tag: str, signs: str
) -> None:
    code = "\n".join(program) + "\n"
    response = "\n".join([*before, signs + tag, *program, signs, *before])
    expected = code if code.strip() else None
    assert extract_code(response, tag)[0] == expected
    assert extract_code(response, None)[0] == expected


@given(st.text(alphabet="`~\n \tpython<think>/cp+\r", max_size=200), st.sampled_from([None, "cpp"]))
def test_a_program_consists_of_lines_of_the_response(text: str, language: str | None) -> None:
    code, found = extract_code(text, language)
    assert found == (language or found)
    if code is not None:
        assert code.strip()
        for line in code.split("\n"):
            assert line in text


def test_the_programs_of_a_language_are_those_with_its_tags_and_those_without() -> None:
    fences = (("cpp", "a"), ("python", "b"), ("", "c"), ("text", "d"), ("c++20", "e"), ("", " "))
    response = "\n".join(f"{F}{tag}\n{code}\n{F}" for tag, code in fences)
    assert fenced_programs(response, "c++17") == ["a\n", "c\n", "e\n"]
    assert fenced_programs(response, "python") == ["b\n", "c\n"]
    assert fenced_programs(f"{response}</think>{F}\nz\n{F}", "python") == ["z\n"]
