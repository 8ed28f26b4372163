"""Every row of the corpus, run in the embedded sandbox and judged by the grader's verdict function.

There is one test for each program, so that it is compiled once. A failure lists all its wrong rows.
"""

import itertools
from collections.abc import Iterator
from typing import cast

import pytest

from gradebox.checkers.compare import equal
from gradebox.eval.grading.time_policy import Bounds, bounds_of, run_limits
from gradebox.eval.grading.verdict import Match, judge
from gradebox.eval.problems.problem import Problem
from gradebox.sandbox.model import Compiled, Execution, Program
from gradebox.sandbox.opening import open_sandbox
from gradebox.sandbox.protocol import BatchSandbox, Sandbox
from testing.submissions.model import PROGRAMS, ROWS, Row, made

BY_PROGRAM = {
    program: list(rows)
    for program, rows in itertools.groupby(
        sorted(ROWS, key=lambda row: (row.in_language, row.program)),
        key=lambda row: f"{row.program} as {row.in_language}",
    )
}


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with open_sandbox("local", endpoints=None, slots=2, languages=[]) as sandbox:
        yield sandbox


def verdict_of(row: Row, execution: Execution) -> str:
    """Return the verdict of a run, by the rules of a real one."""
    bounds, expected = bounds_of_row(row), made(row.expected)
    by_file = row.mode == "file"
    output = execution.files.get("output.txt", b"") if by_file else execution.stdout
    return judge(execution, bounds, Match(equal(output, expected, "open-r1"))).verdict


def bounds_of_row(row: Row) -> Bounds:
    return bounds_of(Problem("corpus", row.cpu_s, row.memory_mb << 20))


def run(box: Sandbox, compiled: Compiled, row: Row) -> Execution:
    stdin, limits = made(row.stdin), run_limits(bounds_of_row(row), len(made(row.expected)))
    if row.mode == "stdio":
        return box.run(compiled, limits, stdin=stdin)
    files = {"input.txt": stdin}
    return box.run(compiled, limits, files=files, collect=("output.txt",))


def run_in_a_batch(box: Sandbox, compiled: Compiled, row: Row) -> list[Execution]:
    """Run it twice in one request; once when it fails."""
    limits = run_limits(bounds_of_row(row), len(made(row.expected)))
    groups = cast("BatchSandbox", box).run_many(compiled, [limits] * 2, [made(row.stdin)] * 2)
    return [execution for group in groups for execution in group]


def end(execution: Execution) -> tuple[object, ...]:
    return (execution.exit_code, execution.signal, execution.killed_for, execution.limits_hit)


def complaints(row: Row, verdict: str, compiled: Compiled, result: Execution | None) -> list[str]:
    """Return the differences from the row, each with the expected and the actual value."""
    wrong = []
    if verdict not in row.verdicts.split():
        wrong.append(f"verdict {verdict}, not {row.verdicts}")
    if row.says and row.says.encode() not in (result.stderr if result else compiled.log):
        wrong.append(f"{row.says!r} is not in its messages")
    if result is not None:
        for name, wanted, got in (
            ("exit code", row.exit_code, result.exit_code),
            ("signal", row.signal, result.signal),
            ("output bytes", row.output_bytes, result.stdout_bytes),
        ):
            if wanted is not None and got != wanted:
                wrong.append(f"{name} {got}, not {wanted}")
    return [f"{row.label}: {text} ({_shown(result)})" for text in wrong]


def _shown(result: Execution | None) -> str:
    if result is None:
        return "not run"
    return (
        f"exit {result.exit_code}, signal {result.signal}, killed for {result.killed_for}, "
        f"limits {sorted(result.limits_hit)}, {result.cpu_s:.3f} s CPU, {result.wall_s:.3f} s, "
        f"{result.memory_bytes} bytes, stdout {result.stdout[:40]!r}, "
        f"stderr {result.stderr[-120:]!r}"
    )


def compile_row(box: Sandbox, row: Row) -> Compiled:
    name = "main.cpp" if row.in_language.startswith("c") else "main.py"
    return box.compile(Program(row.in_language, {name: row.source}))


def check(box: Sandbox, rows: list[Row]) -> list[str]:
    compiled = compile_row(box, rows[0])
    wrong = []
    for row in rows:
        if not compiled.ok:
            wrong += complaints(row, "CE", compiled, None)
            continue
        alone = run(box, compiled, row)
        wrong += complaints(row, verdict_of(row, alone), compiled, alone)
        # The first row of a program; test_run_many.py has every end in a batch.
        batched = row is rows[0] and row.mode == "stdio" and alone.killed_for != "wall"
        for result in run_in_a_batch(box, compiled, row) if batched else ():
            wrong += complaints(row, verdict_of(row, result), compiled, result)
            if end(result) != end(alone):
                wrong.append(f"{row.label}: alone {_shown(alone)}, in a batch {_shown(result)}")
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("program", BY_PROGRAM)
def test_program(box, program):
    wrong = check(box, BY_PROGRAM[program])
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [
        Row("hashes.py"),
        Row("addresses.cpp"),
        Row("leaves_files.cpp"),
    ],
    ids=lambda row: row.program,
)
def test_repeated_runs_print_the_same(box, row):
    compiled = compile_row(box, row)
    outputs = {run(box, compiled, row).stdout for _ in range(6)}
    assert len(outputs) == 1
    assert outputs != {b"found\n"}


def test_every_program_is_in_a_row():
    alone = {"hashes.py", "addresses.cpp", "leaves_files.cpp"}
    assert {path.name for path in PROGRAMS.iterdir()} == {row.program for row in ROWS} | alone


def test_labels_are_unique():
    labels = [row.label for row in ROWS]
    assert sorted(set(labels)) == sorted(labels)
