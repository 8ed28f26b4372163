"""Every row of the corpus through the embedded sandbox and the one verdict function.

One test a program, so that it is compiled once; a failure lists each row that went wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from checkers.compare import equal
from eval.model import Problem
from eval.time_policy import bounds_of, run_limits
from eval.verdict import Match, ended_well, judge
from sandbox.choose import open_sandbox
from sandbox.model import Compiled, Execution, Program
from sandbox.protocol import Sandbox
from tests.submissions import table_cpp, table_python
from tests.submissions.model import PROGRAMS, Row, made

ROWS = [*table_cpp.ROWS, *table_python.ROWS]
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


def run(box: Sandbox, compiled: Compiled, row: Row) -> tuple[str, Execution]:
    """The verdict of one row, by the rules of a real run, and its evidence."""
    bounds = bounds_of(Problem("corpus", row.cpu_s, row.memory_mb << 20))
    stdin, expected = made(row.stdin), made(row.expected)
    by_file = row.mode == "file"
    execution = box.run(
        compiled,
        run_limits(bounds, len(expected)),
        stdin=b"" if by_file else stdin,
        files={"input.txt": stdin} if by_file else None,
        collect=("output.txt",) if by_file else (),
    )
    if not ended_well(execution, bounds):
        return judge(execution, bounds, None).verdict, execution
    output = execution.files.get("output.txt", b"") if by_file else execution.stdout
    return judge(execution, bounds, Match(equal(output, expected, "open-r1"))).verdict, execution


def complaints(row: Row, verdict: str, compiled: Compiled, seen: Execution | None) -> list[str]:
    """What differs from the row, each with what was wanted and what was seen."""
    wrong = []
    if verdict not in row.verdicts.split():
        wrong.append(f"verdict {verdict}, not {row.verdicts}")
    if row.says and row.says not in (seen.stderr if seen else compiled.log):
        wrong.append(f"{row.says!r} is not in what it said")
    if seen is not None:
        for name, wanted, got in (
            ("exit code", row.exit_code, seen.exit_code),
            ("signal", row.signal, seen.signal),
            ("output bytes", row.output_bytes, seen.stdout_bytes),
        ):
            if wanted is not None and got != wanted:
                wrong.append(f"{name} {got}, not {wanted}")
    return [f"{row.label}: {text} ({_shown(seen)})" for text in wrong]


def _shown(seen: Execution | None) -> str:
    if seen is None:
        return "not run"
    return (
        f"exit {seen.exit_code}, signal {seen.signal}, killed for {seen.killed_for}, "
        f"limits {sorted(seen.limits_hit)}, {seen.cpu_s:.3f} s CPU, {seen.wall_s:.3f} s, "
        f"{seen.memory_bytes} bytes, stdout {seen.stdout[:40]!r}, stderr {seen.stderr[-120:]!r}"
    )


def compile_row(box: Sandbox, row: Row) -> Compiled:
    name = "main.cpp" if row.in_language.startswith("c") else "main.py"
    return box.compile(Program(row.in_language, {name: row.source}))


def check(box: Sandbox, rows: list[Row]) -> list[str]:
    compiled = compile_row(box, rows[0])
    try:
        wrong = []
        for row in rows:
            verdict, seen = run(box, compiled, row) if compiled.ok else ("CE", None)
            wrong += complaints(row, verdict, compiled, seen)
        return wrong
    finally:
        compiled.close()


@pytest.mark.slow
@pytest.mark.parametrize("program", BY_PROGRAM)
def test_program(box: Sandbox, program: str) -> None:
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
def test_runs_alike_every_time(box: Sandbox, row: Row) -> None:
    compiled = compile_row(box, row)
    outputs = {run(box, compiled, row)[1].stdout for _ in range(6)}
    compiled.close()
    assert len(outputs) == 1
    assert outputs != {b"found\n"}


def test_every_program_is_in_a_row() -> None:
    alone = {"hashes.py", "addresses.cpp", "leaves_files.cpp"}
    assert {path.name for path in PROGRAMS.iterdir()} == {row.program for row in ROWS} | alone


def test_labels_are_unique() -> None:
    labels = [row.label for row in ROWS]
    assert sorted(set(labels)) == sorted(labels)
