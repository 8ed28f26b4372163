"""How each protocol reads the end of a program, as a table of evidence. Nothing runs here."""

from __future__ import annotations

import pytest

from gradebox.checkers.programs import ProgramChecker
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.sandbox.model import MIB, Execution, Limits, Program
from testing.fakes.scripted_sandbox import Call, FakeSandbox, ending, ready
from testing.rows import rows

LIMITS = Limits(cpu_s=10, wall_s=32, memory_bytes=512 * MIB, output_bytes=1000)


@pytest.mark.parametrize(
    ("name", "fields", "outcome", "verdict", "score", "words"), rows(__file__, "answers")
)
def test_each_protocol_reads_its_answers(name, fields, outcome, verdict, score, words):
    execution = ending(fields)
    check = PROTOCOLS[name].judge(execution, LIMITS, None)
    assert (check.outcome, check.verdict, check.score) == (outcome, verdict, score)
    assert words in check.message
    assert check.message.isprintable()
    assert (check.stdout, check.stderr, check.exit_code) == (
        execution.stdout,
        execution.stderr,
        execution.exit_code,
    )


ENDS = [
    ({"killed_for": "cpu"}, "stopped at 10 s of CPU time"),
    ({"killed_for": "wall"}, "stopped at 32 s of wall time"),
    ({"killed_for": "memory"}, "stopped at 512 MiB of memory"),
    ({"killed_for": "output"}, "stopped at 1000 bytes of output"),
    ({"killed_for": "processes"}, "stopped at its processes limit"),
    ({"exit_code": 0, "stdout_cut": True}, "wrote more than 1000 bytes"),
    ({"signal": 11}, "crashed with signal 11"),
    ({}, "did not end by itself"),
]


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize(("end", "words"), ENDS)
def test_a_bad_end_is_unclear_whatever_was_printed_before(name, end, words):
    printed = {"stdout": "1\n", "stderr": "points 1", "files": {"score.txt": "1"}}
    check = PROTOCOLS[name].judge(ending({"exit_code": None, **end, **printed}), LIMITS, None)
    assert (check.outcome, check.verdict, check.score) == ("unclear", "FAIL", None)
    assert words in check.message


def test_points_are_a_share_of_a_known_full_mark() -> None:
    execution = ending({"exit_code": 7, "stderr": "points 30"})
    assert PROTOCOLS["testlib"].judge(execution, LIMITS, 40.0).score == 0.75


@pytest.mark.parametrize(
    ("forked", "mib", "alone"), [(True, 470, True), (True, 400, False), (False, 470, False)]
)
def test_a_forked_run_near_the_memory_limit_is_repeated_alone(
    forked: bool, mib: int, alone: bool
) -> None:
    def script(call: Call) -> Execution:
        return ready("0" if call.alone else "1", memory_bytes=mib * MIB, forked=forked)

    checker = ProgramChecker(
        FakeSandbox(script), PROTOCOLS["python"], Program("python", {"main.py": b""})
    )
    assert checker.check(b"", b"", b"").outcome == ("rejected" if alone else "accepted")
