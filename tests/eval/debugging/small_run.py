"""A small run in a scripted sandbox.

The right output of every problem is its input. The source of a program decides its output:
    echo          right            wrong        "wrong"           flaky   wrong the first time
    long          5000 bytes of x  crash        exit status 3     broken  does not compile
1/A has three samples, 2/B a checker that accepts "wrong", 3/C one that crashes on it.
"""

import json
from pathlib import Path
from typing import Any

from gradebox.eval.cli.run import run_grading
from gradebox.eval.debugging.find import (
    Results,
    SolutionQuery,
    find_case,
    find_record,
    open_results,
)
from gradebox.eval.grading.options import Options
from testing.fakes.scripted_sandbox import Answer, Call, FakeSandbox, ready

PROBLEMS: list[dict[str, Any]] = [
    {"id": "1/A", "official_tests": ["1\n", "2\n"]},
    {"id": "2/B", "official_tests": ["1\n"], "generated_checker": "lenient"},
    {"id": "3/C", "official_tests": ["1\n"], "generated_checker": "crashing"},
    {"id": "4/D", "official_tests": ["1\n"], "interaction_format": "talk"},
]
SOLUTIONS: list[dict[str, Any]] = [
    {"id": "1/A", "code": "echo"},
    {"id": "1/A", "code": "wrong", "solution_id": "bad"},
    {"id": "1/A", "completion": "I don't know"},
    {"id": "2/B", "code": "wrong"},
    {"id": "3/C", "code": "wrong"},
    {"id": "4/D", "code": "echo"},
    {"id": "9/Z", "code": "echo"},
]


class ScriptedPrograms:
    """The programs' behaviour, and their state between runs."""

    def __init__(self) -> None:
        self.flaky_runs = 0

    def answer(self, call: Call) -> Answer:
        if "checker.py" in call.program.files:
            return _checked(call)
        word = call.source.split()[0]
        if word == "flaky":
            self.flaky_runs += 1
            return b"wrong" if self.flaky_runs == 1 else call.stdin
        answers: dict[str, Answer] = {
            "wrong": b"wrong",
            "long": b"x" * 5000,
            "crash": ready(b"", exit_code=3, stderr=b"boom\n"),
        }
        return answers.get(word, call.stdin)


def _checked(call: Call) -> Answer:
    output = call.files["solution_output.txt"]
    if call.source == "crashing" and output == b"wrong":
        return ready(b"", exit_code=1, stderr=b"ValueError: wrong\n")
    if call.source == "halving" and output != b"1\n":
        return b"0.5 half"
    return b"1 fine" if b"wrong" not in output or call.source == "lenient" else b"0 bad"


class SmallRun:
    """A folder with a run. `sandbox` is the scripted one it ran in."""

    def __init__(
        self,
        folder: Path,
        solutions: list[dict[str, Any]] | None = None,
        problems: list[dict[str, Any]] | None = None,
        *,
        interact: bool = False,
        **flags: Any,
    ) -> None:
        self.folder = folder
        self.programs = ScriptedPrograms()
        self.sandbox = FakeSandbox(
            self.programs.answer, lambda source: b"no" if source.startswith("broken") else None
        )
        if interact:  # only claimed, so the cases are ER
            self.sandbox.capabilities |= {"interact"}
        self.problems_path = folder / "problems.jsonl"
        self.solutions_path = folder / "sols.jsonl"
        self.write_problems(problems or PROBLEMS)
        write_lines(self.solutions_path, solutions or SOLUTIONS)
        self.options = Options(
            solutions_path=self.solutions_path,
            dataset=str(self.problems_path),
            results_dir=folder / "results",
            workers=2,
            **flags,
        )
        run_grading(self.options, sandbox=self.sandbox)

    def write_problems(self, problems: list[dict[str, Any]]) -> None:
        rows = []
        for problem in problems:
            tests = [{"input": t, "output": t} for t in problem["official_tests"]]
            rows.append({**problem, "official_tests": tests})
        write_lines(self.problems_path, rows)

    @property
    def path(self) -> Path:
        return self.folder / "results" / "sols"

    @property
    def results(self) -> Results:
        return open_results(str(self.path))

    def records(self) -> list[dict[str, Any]]:
        lines = (self.path / "piston_eval_results.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def case(
        self, problem: str, sample: int | None = None, case: str = "first-failed"
    ) -> tuple[Any, Any]:
        record = find_record(self.results, SolutionQuery(problem, sample))
        return record, find_case(record, case)


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
