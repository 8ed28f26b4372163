"""The program that SandboxFusion's rules find in a completion."""

import time

import pytest

from gradebox.eval.api.dialects.fusion.extraction import (
    extract,
    without_entry_point,
)
from testing.rows import rows

PY, CPP = "```python\na = 1\n```", "```c++\nint x;\n```"


@pytest.mark.parametrize(
    ("completion", "language", "kind", "code"),
    rows(__file__, "responses"),
)  # fmt: skip
def test_a_program_is_found(completion, language, kind, code):
    block = extract(completion, language)
    assert (block.kind, block.code) == (kind, code)


def test_the_first_block_counts_whatever_its_tag_is():
    assert extract(f"{CPP} {PY}", "python", tagged=False).code == "int x;"
    assert extract("", "python", tagged=False).kind == "empty"


def test_what_runs_the_program_is_cut_off():
    main = 'x = 1\nif __name__ == "__main__":\n    x()'
    assert without_entry_point(main, "python") == "x = 1"
    assert without_entry_point("int f();\nint main() {}", "cpp") == "int f();"
    assert without_entry_point("package main\nx", "go") == "\nx"
    assert without_entry_point("a\n# Example usage\nb", "java") == "a"


HOSTILE = {
    "fences": "```\n" * 200_000,
    "inline": "x```" * 200_000,
    "opened": "```python " * 200_000,
    "blank": "```\n" + "\n" * 400_000,
    "spaces": "```\na\n" + " " * 400_000,
    "spaced lines": "```\na" + "\n  " * 200_000,
    "definitions": "def f():\n" * 100_000,
    "imports": "import a\n" * 100_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_completion_takes_linear_time(case):
    text = HOSTILE[case]
    took = []
    for part in (text[: len(text) // 4], text):
        began = time.process_time()
        extract(part, "python")
        took.append(time.process_time() - began)
    assert took[1] < 40 * max(took[0], 0.02)
