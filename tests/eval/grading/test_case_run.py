"""One case, from its test to its record, over a scripted sandbox."""

import hashlib
from dataclasses import dataclass, field, replace

import pytest
from msgspec import UNSET

from gradebox.checkers.check import Check, accept, reject, unclear
from gradebox.eval.common.errors import InputError, Retry
from gradebox.eval.grading.cases.case_run import CaseGrader, CaseSettings
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.time_policy import bounds_of
from gradebox.eval.problems.chosen_tests import ProblemTests
from gradebox.eval.problems.problem import Problem, TestCase, TestRef
from gradebox.sandbox.errors import MissingToolchain, SandboxError
from gradebox.sandbox.model import Program
from testing.fakes.scripted_sandbox import FakeSandbox, ready

PROBLEM = Problem("1/A", time_limit_s=1.0, memory_limit_bytes=64 << 20)
TEST = TestCase("official", 4, b"1 2\n", b"3\n")
REF = TestRef("official", 4, 4)
RETRY = Retry(attempts=3, first_s=0.0)


@dataclass
class FakeChecker:
    answer: Check | Exception = field(default_factory=accept)
    name: str = "fake"
    digest: str = "fake"
    calls: list[tuple[bytes, bytes, bytes]] = field(default_factory=list)

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        self.calls.append((input, output, expected))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def close(self) -> None:
        pass


def grade(*answers, problem=PROBLEM, checker=None, tests=None, ref=REF, **settings):
    """Return the record and the sandbox, whose runs give the answers in turn, then the last."""
    waiting = list(answers)
    sandbox = FakeSandbox(lambda call: waiting.pop(0) if len(waiting) > 1 else waiting[0])
    grader = CaseGrader(
        CaseSettings(sandbox, **{"retry": RETRY, **settings}),
        ProblemResources(problem, tests or ProblemTests.of(problem.id, [TEST]), checker),
        bounds_of(problem),
        sandbox.compile(Program("python", {"main.py": b"x"})),
    )
    return grader.grade(ref), sandbox


def test_an_accepted_case():
    case, sandbox = grade(ready(b" 3 ", cpu_s=0.25, stderr=b"\xff!"))
    assert (case.verdict, case.reason, case.passed, case.score) == (
        "AC",
        "passed_by_exact_match",
        True,
        1.0,
    )
    assert (case.case_type, case.test_case_i) == ("official", 4)
    assert (case.output, case.expected, case.stderr) == (" 3 ", "3\n", "\\xff!")
    assert (case.cpu_s, case.exit_code, case.signal) == (0.25, 0, None)
    assert (case.input_bytes, case.output_bytes) == (4, 3)
    assert case.input_sha256 == hashlib.sha256(b"1 2\n").hexdigest()
    assert case.output_sha256 == hashlib.sha256(b" 3 ").hexdigest()
    assert (case.contended, case.output_passed) == (False, True)
    assert (case.input, case.repeats) == (UNSET, UNSET)  # of an accepted case, run once
    call = sandbox.calls[0]
    assert (call.stdin, call.collect, call.alone) == (b"1 2\n", (), False)
    assert (call.limits.cpu_s, call.limits.wall_s) == (1.25, 4.5)
    assert call.limits.memory_bytes == 64 << 20


def test_the_program_gets_only_the_input():
    _, sandbox = grade(b"4\n", checker=FakeChecker())
    call = sandbox.calls[0]
    assert TEST.expected not in (call.stdin, *call.files.values())
    assert call.args == ()


@pytest.mark.parametrize(
    ("mode", "output", "verdict"),
    [("open-r1", b"3", "AC"), ("exact", b"3", "WA"), ("exact", b"3\n", "AC")],
)
def test_the_chosen_comparison_is_used(mode, output, verdict):
    case, _ = grade(output, compare=mode)
    assert case.verdict == verdict


@pytest.mark.parametrize(
    ("data", "kept"),
    [(b"1 2\n", "1 2\n"), (b"x" * 200, "x" * 200), (b"x" * 201, UNSET), (b"\xff", UNSET)],
    ids=["short", "longest", "too long", "not text"],
)
def test_short_inputs_of_failed_cases_are_recorded(data, kept):
    tests = ProblemTests.of("1/A", [TestCase("official", 0, data, b"3\n")])
    case, _ = grade(b"4\n", tests=tests, ref=TestRef("official", 0, len(data)))
    assert (case.verdict, case.input) == ("WA", kept)


def test_the_error_of_a_wrong_output_shows_the_difference():
    case, _ = grade(b"4\n")
    assert (case.verdict, case.reason) == ("WA", "failed_outputs_match")
    assert "'3'" in case.error
    assert "'4'" in case.error


@pytest.mark.parametrize(
    ("answer", "verdict", "reason"),
    [
        (accept(), "AC", "passed_by_checker"),
        (reject("far off"), "WA", "failed_checker"),
        (reject("no number", "PE"), "WA", "presentation_error"),
        (unclear("it crashed"), "CU", "checker_unclear"),
    ],
)
def test_the_checker_judges_an_unequal_output(answer, verdict, reason):
    checker = FakeChecker(replace(answer, stdout=b"o\xff", stderr=b"e", exit_code=7))
    case, _ = grade(b"4\n", checker=checker)
    assert (case.verdict, case.reason) == (verdict, reason)
    assert case.checker == {"stdout": "o\\xff", "stderr": "e", "exit_code": 7}
    assert checker.calls == [(b"1 2\n", b"4\n", b"3\n")]


def test_only_the_bytes_of_the_expected_output_are_accepted_without_the_checker():
    checker = FakeChecker(reject("never asked"))
    case, _ = grade(b"3\n", checker=checker)
    assert (case.reason, case.checker, checker.calls) == ("passed_by_exact_match", None, [])


@pytest.mark.parametrize("mode", ["open-r1", "upstream", "exact"])
@pytest.mark.parametrize(
    ("answer", "verdict", "reason"),
    [
        (accept(), "AC", "passed_by_checker"),
        (reject("too many blanks"), "WA", "failed_checker"),
        (unclear("it crashed"), "CU", "checker_unclear"),
    ],
)
def test_the_checker_decides_whatever_the_comparison_says(answer, verdict, reason, mode):
    checker = FakeChecker(answer)
    case, _ = grade(b"3", checker=checker, compare=mode)
    assert (case.verdict, case.reason) == (verdict, reason)
    assert checker.calls == [(b"1 2\n", b"3", b"3\n")]


def test_the_checker_is_not_asked_about_a_crash():
    checker = FakeChecker()
    case, _ = grade(ready(b"3\n", exit_code=1), checker=checker)
    assert (case.verdict, case.output_passed, checker.calls) == ("RE", None, [])


@pytest.mark.parametrize(
    ("first", "second", "verdict", "contended", "alone"),
    [
        (0.89, None, "AC", False, [False]),
        (0.95, 0.93, "AC", True, [False, True]),
        (1.05, 0.97, "AC", True, [False, True]),
        (0.95, 1.01, "TLE", True, [False, True]),
        (1.2, 1.2, "TLE", True, [False, True]),
        (1.3, None, "TLE", False, [False]),
    ],
)
def test_a_run_near_the_limit_is_repeated_alone_and_the_repeat_decides(
    first, second, verdict, contended, alone
):
    runs = [ready(b"3", cpu_s=s) for s in (first, second) if s is not None]
    case, sandbox = grade(*runs)
    assert (case.verdict, case.contended) == (verdict, contended)
    assert case.cpu_s == (second or first)
    assert [call.alone for call in sandbox.calls] == alone


@pytest.mark.parametrize(
    ("first_mb", "second_mb", "verdict", "alone"),
    [(65, 20, "AC", [False, True]), (65, 65, "MLE", [False, True]), (64, None, "AC", [False])],
)
def test_memory_over_the_limit_counts_only_when_the_repeat_alone_shows_it_too(
    first_mb, second_mb, verdict, alone
):
    runs = [ready(b"3", memory_bytes=mb << 20) for mb in (first_mb, second_mb) if mb]
    case, sandbox = grade(*runs)
    assert (case.verdict, case.contended) == (verdict, len(alone) == 2)
    assert case.memory_bytes == (second_mb or first_mb) << 20
    assert [call.alone for call in sandbox.calls] == alone


def test_a_program_that_the_kernel_ended_for_its_memory_is_not_run_again():
    killed = ready(memory_bytes=65 << 20, exit_code=None, signal=9, killed_for="memory")
    case, sandbox = grade(killed)
    assert (case.verdict, case.contended, len(sandbox.calls)) == ("MLE", False, 1)


@pytest.mark.parametrize(("output", "right"), [(b"3", True), (b"4", False)])
def test_a_late_output_is_judged_separately(output, right):
    case, _ = grade(ready(output, cpu_s=1.2))
    assert (case.verdict, case.passed, case.output_passed) == ("TLE", False, right)


FILE_MODE = replace(PROBLEM, input_mode="file")


def test_file_mode_uses_files_and_an_empty_stdin():
    case, sandbox = grade(ready(b"chatter", files={"output.txt": b"3"}), problem=FILE_MODE)
    assert (case.verdict, case.output, case.output_bytes) == ("AC", "3", 1)
    call = sandbox.calls[0]
    assert (call.stdin, call.files, call.collect) == (
        b"",
        {"input.txt": b"1 2\n"},
        ("output.txt",),
    )


def test_a_missing_output_file_is_a_wrong_answer():
    case, _ = grade(ready(b"3"), problem=FILE_MODE, checker=FakeChecker())
    assert (case.verdict, case.reason) == ("WA", "failed_outputs_match")
    assert case.error == "output.txt was not written"


def test_a_transient_sandbox_fault_is_retried():
    case, sandbox = grade(SandboxError("a"), SandboxError("b"), b"3")
    assert case.verdict == "AC"
    assert len(sandbox.calls) == 3


@pytest.mark.parametrize(
    ("error", "calls", "text"),
    [
        (SandboxError("box died"), 3, "box died"),
        (MissingToolchain("apt-get install g++"), 1, "apt-get install g++"),
        (RuntimeError("a bug"), 1, "RuntimeError: a bug"),
        (ready(exit_code=None), 3, "how the program ended"),
        (ready(b"3", cpu_s=float("nan")), 3, "impossible times"),
        (ready(b"3", cpu_s=-1.0), 3, "impossible times"),
        (ready(b"3", wall_s=float("inf")), 3, "impossible times"),
    ],
)
def test_a_lasting_fault_is_recorded_as_er(error, calls, text):
    case, sandbox = grade(error)
    assert (case.verdict, case.reason, case.passed, case.score) == (
        "ER",
        "sandbox_error",
        None,
        None,
    )
    assert text in case.error
    assert len(sandbox.calls) == calls


def test_a_sandbox_fault_of_the_checker_is_recorded_as_er():
    case, _ = grade(b"4", checker=FakeChecker(SandboxError("box died")))
    assert (case.verdict, case.error) == ("ER", "box died")


def test_unreadable_tests_end_the_run():
    class Unreadable:
        def load(self, ref: TestRef) -> TestCase:
            raise InputError("tests are gone")

    with pytest.raises(InputError, match="tests are gone"):
        grade(b"3", tests=Unreadable())


def test_a_skipped_case_is_not_loaded():
    ref = replace(REF, skip="skipped_large_input", input_bytes=999)
    case, sandbox = grade(b"3", ref=ref)
    assert (case.verdict, case.reason, case.passed) == ("SK", "skipped_large_input", None)
    assert (case.input_bytes, sandbox.calls) == (999, [])


def test_repeats_record_all_verdicts():
    case, sandbox = grade(b"3", b"4", b"3", repeat=3)
    assert (case.verdict, case.repeats) == ("AC", ("AC", "WA", "AC"))
    assert len(sandbox.calls) == 3


def test_only_the_start_of_large_outputs_is_stored():
    output = b"3" + b" " * 999
    case, _ = grade(output, stored_bytes=10)
    assert (case.output, case.output_bytes) == ("3" + " " * 9, 1000)
    assert case.output_sha256 == hashlib.sha256(output).hexdigest()


def test_the_full_size_of_a_truncated_output_is_recorded():
    case, _ = grade(ready(b"333", stdout_bytes=5000, stdout_cut=True))
    assert (case.verdict, case.output_bytes) == ("OLE", 5000)
