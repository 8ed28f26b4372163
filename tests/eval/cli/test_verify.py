"""`gradebox verify`: submissions of packages and of rows, compared with what is expected."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.cli import console

pytestmark = pytest.mark.slow(seconds=3)

SUM = "print(sum(map(int, input().split())))"
PACKAGE: Mapping[str, str] = {
    "problem.yaml": "limits: {time_multiplier: 1, time_safety_margin: 1.5}",
    ".timelimit": "0.5",
    "data/sample/1.in": "1 2\n",
    "data/sample/1.ans": "3\n",
    "data/secret/2.in": "2 2\n",
    "data/secret/2.ans": "4\n",
    "submissions/accepted/sum.py": SUM,
    "submissions/accepted/old.pas": "begin end.",
    "submissions/wrong_answer/three.py": "print(3)",
    "submissions/run_time_error/crash.py": "1 / 0",
    "submissions/time_limit_exceeded/loop.py": "while True: pass",
    "submissions/mixed/crash.py": "1 / 0",
}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


class Verified:
    """Runs the command and reads what it prints."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.lines: list[str] = []
        self.errors = ""

    def __call__(self, *words: object) -> int:
        status = console.main(["verify", *map(str, words)])
        printed = self._capsys.readouterr()
        self.lines, self.errors = printed.out.splitlines(), printed.err
        return status

    def found(self) -> dict[str, tuple[str, str, bool | None]]:
        rows = map(json.loads, self.lines)
        return {r["submission"]: (r["expected"], r["found"], r["as_expected"]) for r in rows}


@pytest.fixture
def verify(capsys: pytest.CaptureFixture[str]) -> Verified:
    return Verified(capsys)


def test_submissions_as_expected(tmp_path, verify):
    two = {
        "submissions/accepted/two/ac.py": SUM,
        "submissions/accepted/two/main.py": "1 / 0",
        "submissions/submissions.yaml": "accepted/two: {entrypoint: ac.py, permitted: [AC]}",
    }
    folder = write(tmp_path / "sum", {**PACKAGE, **two})
    assert verify(folder, "--json") == 0
    assert verify.found() == {
        "accepted/two": ("AC*", "AC", True),
        "accepted/sum.py": ("AC", "AC", True),
        "accepted/old.pas": ("AC", "not run", None),
        "wrong_answer/three.py": ("WA", "WA", True),
        "run_time_error/crash.py": ("RE", "RE", True),
        "time_limit_exceeded/loop.py": ("TLE", "TLE", True),
        "mixed/crash.py": ("any", "RE", True),
    }
    by_name = {row["submission"]: row for row in map(json.loads, verify.lines)}
    assert by_name["wrong_answer/three.py"]["test"] == "secret/2"
    assert by_name["time_limit_exceeded/loop.py"]["test"] == "sample/1"


def test_a_difference_is_marked_and_gives_the_status_1(tmp_path, verify):
    folder = write(tmp_path / "sum", {**PACKAGE, "submissions/wrong_answer/right.py": SUM})
    write(tmp_path / "broken", {"problem.yaml": "name: ["})
    assert verify(folder) == 1
    assert "nearer" not in "\n".join(verify.lines)  # nothing ran to the margin of a stated limit
    marked = [line for line in verify.lines if line.startswith("!")]
    assert [line.split()[1:4] for line in marked] == [["wrong_answer/right.py", "WA", "AC"]]
    assert verify.lines[-1] == "7 submissions: 5 as expected, 1 not, 1 not graded"
    assert verify(folder, tmp_path / "broken") == 2
    assert "problem broken is unusable: problem.yaml" in verify.errors


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{}/none"], "none does not exist: give a package's folder or zip"),
        (["{}/../plain"], "there are no submissions: put some into the packages, or give"),
        (["{}", "--time-limit", "fast"], "--time-limit: fast: give auto, or seconds up to 3600"),
        (["{}", "--time-limit-from", "*" * 201], "--time-limit-from: invalid glob value: '****"),
        (["{}", "--submissions", "{}/none.jsonl"], "none.jsonl does not exist"),
    ],
)
def test_wrong_use(tmp_path, verify, words, message):
    folder = write(tmp_path / "sum", PACKAGE)
    write(tmp_path / "plain", {name: text for name, text in PACKAGE.items() if "data" in name})
    write(tmp_path / "plain", {"problem.yaml": ""})
    assert verify(*[word.format(folder) for word in words]) == 2
    assert message in verify.errors


def test_the_time_limit_follows_from_the_submissions(tmp_path, verify):
    burn = "import time\nwhile time.process_time() < {}: pass\n" + SUM
    files = {
        **PACKAGE,
        "problem.yaml": "limits: {time_multiplier: 1, time_safety_margin: 1.5,"
        " time_resolution: 0.5}",
        "submissions/accepted/sum.py": burn.format(0.2),
        "submissions/time_limit_exceeded/near.py": burn.format(0.6),
    }
    del files[".timelimit"]
    folder = write(tmp_path / "sum", files)
    assert verify(folder) == 0
    (head,) = [line for line in verify.lines if line.startswith("sum: ")]
    assert head.startswith("sum: time limit 0.5 s; this machine needs 0.5 s (accepted/sum.py: 0.2")
    assert "time_limit_exceeded/near.py" in head and "nearer to it than the rule allows" in head


def rows(path: Path, *lines: Any) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_rows_and_their_submissions_are_audited(tmp_path, verify):
    """The checker accepts whatever ends with a 3 or is empty; the third test's answer is wrong."""
    checker = (
        "import sys\ntext = open(sys.argv[3]).read().strip()\n"
        "print(int(text in ('', '3') or text.endswith('3')))"
    )
    tests = [{"input": f"{a} {b}", "output": c} for a, b, c in ((1, 2, "3"), (0, 3, "1 3"))]
    problem = {
        "id": "s",
        "official_tests": [*tests, {"input": "2 2", "output": "4"}],
        "generated_checker": checker,
        "gold_solutions": [{"code": SUM, "expect": "passed"}],
    }
    dataset = rows(tmp_path / "p.jsonl", problem)
    more = rows(
        tmp_path / "s.jsonl",
        {"problem_id": "s", "code": "print(3)", "expect": "failed"},
        {"problem_id": "s", "code": SUM, "expect": "failed", "solution_id": "sum"},
    )
    audit = tmp_path / "audit.jsonl"
    assert verify(dataset, "--submissions", more, "--audit", audit, "--json") == 1
    found = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [(f["kind"], f["test"]) for f in found] == [
        ("accepted_fails", "official:2"),
        ("rejected_passes", ""),
        ("accepts_empty", "official:0"),
        ("accepts_empty", "official:1"),
        ("accepts_other_answer", "official:1"),
        ("rejects_expected", "official:2"),
        ("accepts_empty", "official:2"),
        ("accepts_other_answer", "official:2"),
    ]
