"""How each protocol reads the end of a program, as a table of evidence. Nothing runs here."""

from __future__ import annotations

import dataclasses
import signal

import pytest

from gradebox.checkers.programs import ProgramChecker
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.sandbox.model import MIB, Execution, Limits, Program
from testing.fakes.scripted_sandbox import Call, FakeSandbox, ready

LIMITS = Limits(cpu_s=10, wall_s=32, memory_bytes=512 * MIB, output_bytes=1000)


def ended(
    exit_code: int | None = 0,
    stdout: bytes = b"",
    stderr: bytes = b"",
    **more: object,
) -> Execution:
    x = Execution(exit_code, None, 0.1, 0.1, None, stdout=stdout, stderr=stderr)
    return dataclasses.replace(x, **more)  # type: ignore[arg-type]


SHARE = "score_multiplier.txt"

# protocol, evidence, outcome, verdict, score, a part of the message
ROWS = [
    ("python", ended(0, b"1\n"), "accepted", "OK", 1.0, "score 1"),
    ("python", ended(0, b"100"), "accepted", "OK", 1.0, ""),
    ("python", ended(0, b"1.0"), "accepted", "OK", 1.0, ""),
    ("python", ended(0, b"0\n"), "rejected", "WA", 0.0, "score 0"),
    ("python", ended(0, b"0.0"), "rejected", "WA", 0.0, ""),
    ("python", ended(0, b"0.5"), "accepted", "OK", 0.5, ""),
    ("python", ended(0, b"40"), "accepted", "OK", 0.4, ""),
    ("python", ended(0, b"0 because\nof this"), "rejected", "WA", 0.0, "because of this"),
    ("python", ended(0, b"1\n0\n"), "accepted", "OK", 1.0, ""),
    ("python", ended(0, b"0\n1\n"), "rejected", "WA", 0.0, ""),
    ("python", ended(0, b""), "unclear", "FAIL", None, "it printed nothing"),
    ("python", ended(0, b" \n\n"), "unclear", "FAIL", None, "it printed nothing"),
    ("python", ended(0, b"True"), "unclear", "FAIL", None, "it printed 'True'"),
    ("python", ended(0, b"ok 1"), "unclear", "FAIL", None, "it printed 'ok'"),
    ("python", ended(0, b"-1"), "unclear", "FAIL", None, "0 … 100"),
    ("python", ended(0, b"101"), "unclear", "FAIL", None, "0 … 100"),
    ("python", ended(0, b"nan"), "unclear", "FAIL", None, "'nan'"),
    ("python", ended(0, b"inf"), "unclear", "FAIL", None, "'inf'"),
    ("python", ended(0, b"1e999"), "unclear", "FAIL", None, "inf points"),
    ("python", ended(0, b"0x1"), "unclear", "FAIL", None, "'0x1'"),
    ("python", ended(0, b"1_0"), "unclear", "FAIL", None, "'1_0'"),
    ("python", ended(0, "١".encode()), "unclear", "FAIL", None, "\\xd9"),
    ("python", ended(0, b"1" * 900), "unclear", "FAIL", None, "(900 bytes)"),
    ("python", ended(0, b"\x1b[2J"), "unclear", "FAIL", None, "'\\x1b[2J'"),
    ("python", ended(1, b"1\n", b"Traceback\nKeyError: 3\n"), "unclear", "FAIL", None, "KeyError"),
    ("python", ended(3, b"0\n"), "unclear", "FAIL", None, "exit status 3"),
    ("words", ended(0, b"Accepted\n"), "accepted", "OK", 1.0, "Accepted"),
    ("words", ended(0, b"Wrong Answer"), "rejected", "WA", 0.0, "Wrong Answer"),
    ("words", ended(1, b"accepted"), "rejected", "WA", 0.0, "accepted"),
    ("words", ended(0), "accepted", "OK", 1.0, ""),
    ("words", ended(1), "unclear", "FAIL", None, "exit status 1"),
    ("testlib", ended(0, b"", b"ok 3 tokens"), "accepted", "OK", 1.0, "ok 3 tokens"),
    ("testlib", ended(1, b"", b"wrong answer x"), "rejected", "WA", 0.0, "wrong answer x"),
    ("testlib", ended(2), "rejected", "PE", 0.0, ""),
    ("testlib", ended(4), "rejected", "PE", 0.0, ""),
    ("testlib", ended(3, b"", b"FAIL bad answer"), "unclear", "FAIL", None, "FAIL bad answer"),
    ("testlib", ended(3), "unclear", "FAIL", None, "the checker said FAIL"),
    ("testlib", ended(7, b"", b"points 0.25 so"), "accepted", "OK", 0.25, "points 0.25 so"),
    ("testlib", ended(7, b"", b"points 0 so"), "rejected", "WA", 0.0, ""),
    ("testlib", ended(7, b"", b"points 60"), "accepted", "OK", 0.6, ""),
    ("testlib", ended(7, b"", b"points 600"), "unclear", "FAIL", None, "600 points"),
    ("testlib", ended(7, b"", b"points nan"), "unclear", "FAIL", None, "does not say how many"),
    ("testlib", ended(7), "unclear", "FAIL", None, "does not say how many"),
    ("testlib", ended(7, b"points 1", b"x points 1"), "unclear", "FAIL", None, "how many"),
    ("testlib", ended(5), "unclear", "FAIL", None, "exit status 5"),
    ("testlib", ended(127), "unclear", "FAIL", None, "exit status 127"),
    ("kattis", ended(42), "accepted", "OK", 1.0, ""),
    ("kattis", ended(43), "rejected", "WA", 0.0, ""),
    (
        "kattis",
        ended(43, files={"judgemessage.txt": b"token 3\nis wrong\n"}),
        "rejected",
        "WA",
        0.0,
        "token 3 is wrong",
    ),
    ("kattis", ended(42, files={"score.txt": b"0.5\n"}), "accepted", "OK", 0.5, ""),
    ("kattis", ended(42, files={"score.txt": b"0"}), "rejected", "WA", 0.0, ""),
    ("kattis", ended(42, files={"score.txt": b"nan"}), "unclear", "FAIL", None, "'nan'"),
    ("kattis", ended(42, files={"score.txt": b""}), "unclear", "FAIL", None, "no number"),
    ("kattis", ended(43, files={"score.txt": b"1"}), "unclear", "FAIL", None, "a rejection"),
    ("kattis", ended(43, stderr=b"trace\nline 3: no\n"), "rejected", "WA", 0.0, "line 3: no"),
    ("kattis-scoring", ended(42, files={"score.txt": b"0.5"}), "accepted", "OK", 0.5, ""),
    (
        "kattis-scoring",
        ended(42, files={SHARE: b"0.2"}),
        "accepted",
        "OK",
        0.2,
        "",
    ),
    (
        "kattis-scoring",
        ended(42, files={SHARE: b"2"}),
        "unclear",
        "FAIL",
        None,
        "0 … 1",
    ),
    (
        "kattis-scoring",
        ended(42, files={SHARE: b"1", "score.txt": b"1"}),
        *("unclear", "FAIL", None, "both"),
    ),
    ("kattis-scoring", ended(43, files={"score.txt": b"0.5"}), "rejected", "WA", 0.0, ""),
    ("kattis-scoring", ended(42), "accepted", "OK", 1.0, ""),
    ("kattis", ended(0), "unclear", "FAIL", None, "exit status 0"),
    ("kattis", ended(1), "unclear", "FAIL", None, "exit status 1"),
    ("command", ended(0), "accepted", "OK", 1.0, ""),
    ("command", ended(1, b"differ: byte 3"), "rejected", "WA", 0.0, "differ: byte 3"),
    ("command", ended(2, b"", b"cmp: no file"), "unclear", "FAIL", None, "cmp: no file"),
    ("command", ended(127), "unclear", "FAIL", None, "exit status 127"),
]


@pytest.mark.parametrize(("name", "execution", "outcome", "verdict", "score", "words"), ROWS)
def test_each_protocol_reads_its_answers(
    name: str,
    execution: Execution,
    outcome: str,
    verdict: str,
    score: float | None,
    words: str,
) -> None:
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
    (ended(None, killed_for="cpu"), "stopped at 10 s of CPU time"),
    (ended(None, killed_for="wall"), "stopped at 32 s of wall time"),
    (ended(None, killed_for="memory"), "stopped at 512 MiB of memory"),
    (ended(None, killed_for="output"), "stopped at 1000 bytes of output"),
    (ended(None, killed_for="processes"), "stopped at its processes limit"),
    (ended(0, stdout_cut=True), "wrote more than 1000 bytes"),
    (ended(None, signal=int(signal.SIGSEGV)), "crashed with signal 11"),
    (ended(None), "did not end by itself"),
]


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize(("execution", "words"), ENDS)
def test_a_bad_end_is_unclear_whatever_was_printed_before(
    name: str, execution: Execution, words: str
) -> None:
    printed = dataclasses.replace(
        execution, stdout=b"1\n", stderr=b"points 1", files={"score.txt": b"1"}
    )
    check = PROTOCOLS[name].judge(printed, LIMITS, None)
    assert (check.outcome, check.verdict, check.score) == ("unclear", "FAIL", None)
    assert words in check.message


def test_points_are_a_share_of_a_known_full_mark() -> None:
    execution = ended(7, b"", b"points 30")
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
