"""--self-check: a run starts with correct judges; a wrong one stops it and is named."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.cli.run import RunResult, run_grading
from gradebox.eval.common.errors import InputError, Retry
from gradebox.eval.common.signals import Stopper
from gradebox.eval.grading.known.verification import Verification
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.session import GradingSession
from gradebox.sandbox.errors import SandboxError
from testing.fakes.scripted_sandbox import Answer, Call, FakeSandbox, ready

# A program prints its source's first word; "echo" prints its input. Sources of checkers:
#   fair   accepts outputs that end like the expected one     strict   accepts nothing
#   lax    accepts anything                                   half     gives half the points
#   broken crashes                                            down     the sandbox fails


def answer(call: Call) -> Answer:
    if "checker.py" not in call.program.files:
        word = call.source.split()[0]
        return call.stdin if word == "echo" else word.encode()
    output, expected = call.files["solution_output.txt"], call.files["correct_output.txt"]
    fair = b"1" if output.strip().endswith(expected.strip()) and output else b"0 not it"
    answers: dict[str, Answer] = {
        "strict": b"0 never",
        "lax": b"1",
        "half": b"0.5",
        "broken": ready(b"", exit_code=1, stderr=b"KeyError: 1\n"),
        "down": SandboxError("the box died"),
    }
    return answers.get(call.source, fair)


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


class Check:
    """Runs of one correct solution, of a problem with two tests, with --self-check."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sandbox = FakeSandbox(answer)
        self.said: list[str] = []

    def run(
        self, gold: list[dict[str, Any]] | None = None, *, flags: dict[str, Any] | None = None,
        tests: tuple[str, ...] = ("1\n", "2\n"), **problem: Any,
    ) -> RunResult:  # fmt: skip
        rows = [{"input": t, "output": t} for t in tests]
        dataset = write_lines(
            self.folder / "problems.jsonl", [{"id": "1/A", "official_tests": rows, **problem}]
        )
        more: dict[str, Any] = {"self_check": True, **(flags or {})}
        if gold is not None:
            more["self_check_solutions"] = write_lines(self.folder / "gold.jsonl", gold)
        options = Options(
            solutions_path=write_lines(
                self.folder / "sols.jsonl", [{"id": "1/A", "code": "echo", "solution_id": "own"}]
            ),
            dataset=str(dataset),
            results_dir=self.folder / "results",
            workers=2,
            **more,
        )
        retry = Retry(attempts=2, first_s=0.001)
        return run_grading(options, say=self.said.append, sandbox=self.sandbox, retry=retry)

    @property
    def summary(self) -> str:
        return next(text for text in self.said if text.startswith("self-check"))


@pytest.fixture
def check(tmp_path: Path) -> Check:
    return Check(tmp_path)


def test_a_run_with_a_correct_checker_starts(check):
    assert check.run(generated_checker="fair").exit_status == 0
    assert "1 checkers asked 3 times, 0 right and 0 wrong programs" in check.summary
    assert (check.folder / "results" / "sols" / "piston_eval_metrics.json").exists()


@pytest.mark.parametrize(
    ("checker", "message"),
    [
        ("strict", "does not accept the expected output of official:0: 'never'"),
        ("half", "does not accept the expected output of official:0: 'score 0.5'"),
        ("broken", "does not accept the expected output of official:0: 'the checker ended"),
        ("lax", "accepts an empty output, for 2 tests of 2"),
    ],
)
def test_a_wrong_checker_stops_the_run(check, checker, message):
    with pytest.raises(InputError) as e:
        check.run(generated_checker=checker)
    text = str(e.value)
    assert text.startswith("self-check: problem 1/A: checker generated_checker ")
    assert message in text and "\n" not in text and "repair it" in text
    assert not (check.folder / "results" / "sols" / "piston_eval_results.jsonl").exists()


def test_the_checker_itself_is_asked_even_if_outputs_are_equal(check):
    with pytest.raises(InputError, match="checker ncmp does not accept the expected output"):
        check.run(checker="ncmp", tests=("007\n",))


def test_an_empty_expected_output_is_no_evidence_against_a_checker(check):
    assert check.run(generated_checker="lax", tests=("\n",)).exit_status == 0


def test_a_sandbox_fault_is_not_blamed_on_the_checker(check):
    with pytest.raises(InputError, match="self-check: the sandbox failed: the box died; start"):
        check.run(generated_checker="down")


RIGHT = {"id": "1/A", "code": "echo", "expect": "passed", "solution_id": "sure"}
WRONG = {"id": "1/A", "code": "no", "expect": {"status": "failed", "verdict": "WA"}}


def test_known_solutions_are_graded(check):
    others = [{**RIGHT, "id": "9/Z"}, {"id": "1/A", "code": "no"}, {**WRONG, "expect": "maybe"}]
    assert check.run([RIGHT, WRONG, *others]).exit_status == 0
    assert "0 checkers asked 0 times, 1 right and 1 wrong programs graded" in check.summary


@pytest.mark.parametrize(
    ("gold", "problem", "message"),
    [
        (
            {**RIGHT, "code": "other"},
            {"generated_checker": "fair"},
            "the known right solution sure is WA at official:0: not it",
        ),
        (
            {**RIGHT, "code": "other"},
            {},
            "sure is WA at official:0: token 1: expected '1', found ",
        ),
        (
            {**WRONG, "code": "echo", "solution_id": "bad"},
            {},
            "the known wrong solution bad passes",
        ),
    ],
)
def test_a_known_solution_with_the_wrong_status_stops_the_run(check, gold, problem, message):
    with pytest.raises(InputError) as e:
        check.run([gold], **problem)
    assert str(e.value).startswith("self-check: problem 1/A: ") and message in str(e.value)


def test_the_verdict_of_a_failing_correct_solution_is_reported(check):
    check.sandbox.script = lambda call: ready(b"", exit_code=2)
    with pytest.raises(InputError, match=r"solution sure is RE at official:0"):
        check.run([RIGHT])


def test_known_solutions_of_the_dataset_are_graded(check):
    gold = [{"code": "echo"}, {"code": "no", "language": "cpp", "expect": "failed"}]
    check.run(gold_solutions=gold)
    assert "1 right and 1 wrong programs graded" in check.summary
    with pytest.raises(InputError, match=r"the known right solution gold_solutions\[0\] is WA"):
        check.run(gold_solutions=[{"code": "no"}])


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ([{"code": 3}], "gold_solutions[0] has expect 'passed' and code of type int"),
        ([{"code": "x", "expect": "perhaps"}], "has expect 'perhaps'"),
        ([{"code": "x", "language": "cobol"}], "gold_solutions[0]: unknown language 'cobol'"),
    ],
)
def test_invalid_known_solutions_are_reported(check, gold, message):
    with pytest.raises(InputError) as e:
        check.run(gold_solutions=gold)
    assert message in str(e.value) and "problem 1/A" in str(e.value)


def test_files_without_expectations_are_refused(check):
    with pytest.raises(InputError, match='no line has "expect": "passed" or "failed"'):
        check.run([{**RIGHT, "expect": 1}, {**RIGHT, "expect": [1]}])


@pytest.mark.slow(seconds=2)
def test_an_interactor_that_does_not_compile_is_named(check):
    check.sandbox = None  # type: ignore[assignment] # the real one
    judge = {"role": "interactor", "protocol": "kattis", "language": "c++17"}
    judge |= {"files": {"main.cpp": "int"}}  # type: ignore[dict-item]
    message = r"gold_solutions\[0\] can't be graded: .* does not compile"
    with pytest.raises(InputError, match=message):
        check.run(judge_program=judge, gold_solutions=[{"code": "print(1)"}])


@pytest.mark.parametrize(
    ("kind", "run"), [("time_limit_exceeded", ["1"]), ("wrong_answer", ["1", "2"])]
)
def test_no_test_runs_behind_the_one_that_ends_a_solution(tmp_path, kind, run):
    seen: list[str] = []
    second = threading.Event()

    def wrong(call: Call) -> Answer:
        seen.append(call.stdin.decode())
        if call.stdin == b"1":
            second.wait(0.5 if kind == "time_limit_exceeded" else 30)
        else:
            second.set()
        return b"no"

    files = {f"data/secret/{t}.{end}": t for t in "12" for end in ("in", "ans")}
    files |= {".timelimit": "1", "problem.yaml": "", f"submissions/{kind}/a.py": "no"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    options = Options(solutions_path=(), dataset=str(tmp_path), workers=2)
    with Stopper() as stopper, GradingSession(options, FakeSandbox(wrong)) as session:
        (found,) = Verification(session, stopper).run(lambda outcome: None)
    assert sorted(seen) == run
    assert (found.found, found.test) == ("WA", "secret/1")
