"""Python checkers kept warm in the embedded box: one start, the same answers as plain starts."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from gradebox.checkers import Check, open_checker
from gradebox.checkers.check import Checker
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.model import Compiled, Limits

SAME = "import sys\nprint(int(open(sys.argv[2]).read() == open(sys.argv[3]).read()))\n"


class CountingSandbox(EmbeddedSandbox):
    """Counts the sessions and runs that were started."""

    sessions = 0
    runs = 0

    def open_session(self, compiled: Compiled, *more, **named):  # type: ignore[no-untyped-def]
        self.sessions += 1
        return super().open_session(compiled, *more, **named)

    def run(self, compiled: Compiled, limits: Limits, **named):  # type: ignore[no-untyped-def,override]
        self.runs += 1
        return super().run(compiled, limits, **named)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[CountingSandbox]:
    with CountingSandbox(2) as opened:
        yield opened


def open_counted(sandbox: CountingSandbox, source: str) -> Checker:
    sandbox.sessions = sandbox.runs = 0
    made = open_checker(sandbox, source=source, name=None)
    assert made is not None
    return made


def test_a_checker_is_started_once_for_many_cases(sandbox: CountingSandbox) -> None:
    checker = open_counted(sandbox, SAME)
    outcomes = [checker.check(b"", b"2", b"2" if i % 2 else b"3").outcome for i in range(6)]
    checker.close()
    assert outcomes == ["rejected", "accepted"] * 3
    assert (sandbox.sessions, sandbox.runs) == (1, 0)


def test_threads_get_sessions_of_their_own(sandbox: CountingSandbox) -> None:
    checker = open_counted(sandbox, SAME)
    outcomes: list[str] = []

    def check_five() -> None:
        for i in range(5):
            answer = str(i).encode()
            outcomes.append(checker.check(b"", answer, answer).outcome)

    threads = [threading.Thread(target=check_five) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    checker.close()
    assert outcomes == ["accepted"] * 20
    assert 1 <= sandbox.sessions < 20


def test_a_case_leaves_no_file_or_state_for_the_next(sandbox: CountingSandbox) -> None:
    source = (
        "import os, sys\n"
        "left = [f for d in ('.', '/tmp', '/dev/shm') if os.path.isdir(d)"
        " for f in os.listdir(d) if f.startswith('left')]\n"
        "for d in ('.', '/tmp', '/dev/shm'):\n"
        "    try:\n"
        "        open(os.path.join(d, 'left'), 'w').write('x')\n"
        "    except OSError:\n"
        "        pass\n"
        "seen = getattr(sys, 'seen', 0)\n"
        "sys.seen = 1\n"
        "print(int(not left and not seen))\n"
    )
    checker = open_counted(sandbox, source)
    outcomes = {checker.check(b"", b"", b"").outcome for _ in range(3)}
    checker.close()
    assert outcomes == {"accepted"}


def test_a_case_that_kills_its_driver_is_run_by_a_plain_start(sandbox: CountingSandbox) -> None:
    """In the session the checker's parent is the driver; in a plain start there is no driver."""
    source = (
        "import os, signal\n"
        "try:\n"
        "    os.kill(os.getppid(), signal.SIGKILL)\n"
        "except OSError:\n"
        "    pass\n"
        "print(1)\n"
    )
    checker = open_counted(sandbox, source)
    check: Check = checker.check(b"", b"", b"")
    after = checker.check(b"", b"", b"")
    checker.close()
    assert {check.outcome, after.outcome} == {"accepted"}


def test_an_exception_is_reported_as_by_a_plain_start(sandbox: CountingSandbox) -> None:
    checker = open_counted(sandbox, "raise ValueError('no idea')\n")
    check = checker.check(b"", b"", b"")
    checker.close()
    assert check.outcome == "unclear"
    assert check.exit_code == 1
    assert b"ValueError: no idea" in check.stderr
