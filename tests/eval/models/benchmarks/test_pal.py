"""Finding the program in a model's output."""

import pytest

from gradebox.eval.models.benchmarks.pal import find_program

BODY = "def solution():\n    return 5"


@pytest.mark.parametrize(
    "output",
    [
        BODY,
        f"```python\n{BODY}\n```",
        f"```py\n{BODY}\n```\nDone.",
        f"```\n{BODY}\n```",
        f"```python3\n{BODY}",
        f"```python\nprint(1)\n```\nBetter:\n```python\n{BODY}\n```",
        f"{BODY}\n```\n\nQ: another?",
        f"<think>```python\nprint(1)\n```</think>{BODY}",
        "    return 5",
    ],
)
def test_the_program_is_found(output):
    program = find_program(output)
    assert program.startswith(BODY)
    compile(program, "program", "exec")


@pytest.mark.parametrize(
    "output", ["print(1)\nanswer = 5", "x = 2\nanswer = x", "# so\nanswer = 5"]
)
def test_a_program_without_a_function_is_taken_whole(output):
    program = find_program(output)
    assert program is not None and program.startswith(output)


@pytest.mark.parametrize(
    "output", ["", "  \n", "I cannot do that.", "<think>```python\nprint(1)", "```python\n```"]
)
def test_outputs_without_a_program(output):
    assert find_program(output) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "output",
    ["```" * 50_000, "```" + " " * 100_000, "```python" + "\t" * 100_000, "x = (" * 50_000],
    ids=lambda text: text[:9],
)
def test_hostile_outputs_take_linear_time(output):
    """A quadratic pattern would take minutes and hit the test's time limit."""
    program = find_program(output)
    assert program is None or isinstance(program, str)


def test_a_long_word_is_not_a_program_and_takes_linear_time():
    """A quadratic pattern took 2 s for 30,000 letters: an hour for a million."""
    assert find_program("A" * 1_000_000) is None
    assert find_program("math.tau.hex(1)") is not None and find_program("f(1)") is not None
