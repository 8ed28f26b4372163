"""Runs on a server of ours write the records of a local run, whatever judges the solutions."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gradebox.eval.api.calls import run_piston_test
from gradebox.eval.cli.run import run_grading
from gradebox.eval.grading import remote
from gradebox.eval.grading.options import Options
from gradebox.eval.results.records import read_records
from tests.eval.api.serving import serving
from tests.eval.grading.drivers.small_work import options_of, records_of, write_work
from tests.eval.grading.drivers.small_work import unmeasured as without_figures
from tests.eval.grading.test_interactive import JUDGE, RIGHT
from tests.eval.grading.test_ioi import BEST, GUESS, GUESSED, HALVING, LAST, TESTS
from tests.eval.grading.test_ioi import ROWS as IOI
from tests.eval.problems.dataset_rows import HUMANEVAL, LEETCODE, MBPP, call_row, stdin_row
from tests.sandbox.backends import open_backend

pytestmark = pytest.mark.slow(5)
SUMS = "a, b = map(int, input().split())\nprint(a + b)\n"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with open_backend("box") as box, serving(box) as address:
        yield address


def unmeasured(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records without what is measured and where."""
    found = [without_figures(record) for record in records]
    return [{k: v for k, v in r.items() if k not in ("sandbox", "key")} for r in found]


def both(folder: Path, url: str, rows: list[Any], lines: list[Any], **flags: Any) -> Any:
    """Grade solutions here and there; return the records of both runs."""
    for name, found in (("p.jsonl", rows), ("s.jsonl", lines)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in found))
    options: dict[str, Any] = {"dataset": str(folder / "p.jsonl"), "no_check_dataset": True}
    options |= flags
    results = []
    for place in ({"sandbox": "local"}, {"endpoint": [url]}):
        out = folder / ("here" if "sandbox" in place else "there")
        run_grading(Options(folder / "s.jsonl", results_dir=out, **options, **place))
        results.append(unmeasured(list(read_records(out / "s"))))
    return results


def verdicts(records: list[dict[str, Any]]) -> list[str]:
    return [record["verdict"] or record["status"] for record in records]


@pytest.mark.parametrize(
    "flags",
    [
        {"stop_on_first_failure": True, "checker": "command:cmp -s {output} {answer}"},
        {"repeat": 2, "max_stored_output": 0, "time_limit_scale": {"python": 2.0},
         "compare": "exact", "skip_large_inputs_over": 1000},
    ],
    ids=str,
)  # fmt: skip
def test_flags(tmp_path, url, flags):
    """One of the problems is larger than what is sent with every request."""
    write_work(tmp_path)
    place = {"sandbox": None, "endpoint": [url]}
    metrics = {}
    for name, where in (("here", {"drivers": 1}), ("drivers", {"drivers": 3}), ("there", place)):
        metrics[name] = run_grading(options_of(tmp_path, name, **where, **flags)).files[0].metrics
    here, drivers, there = (records_of(tmp_path, name) for name in metrics)
    assert {"passed", "failed", "invalid"} <= {record["status"] for record in here}
    assert len(here) == 15
    assert drivers == here
    assert unmeasured(there) == unmeasured(here)
    assert metrics["drivers"]["flags"]["--drivers"] == 3
    for part in ("stats", "case_verdicts"):
        assert metrics["here"][part] == metrics["drivers"][part] == metrics["there"][part]
    again = run_grading(options_of(tmp_path, "there", **place, **flags)).files[0]
    assert (again.graded_now, again.from_before) == (0, 15)


def test_calls_asserts_and_completions(tmp_path, url):
    rows = [HUMANEVAL], [MBPP], [LEETCODE], [call_row(), stdin_row()]
    right = HUMANEVAL["canonical_solution"], MBPP["code"], LEETCODE["completion"]
    add = "class Solution:\n    def add(self, a, b):\n        return a + b\n"
    ids = "HumanEval/900", "900", "double-all", "2900"
    for number, code in enumerate((*right, add)):
        folder = tmp_path / str(number)
        folder.mkdir()
        lines = [{"id": ids[number], "code": text} for text in (code, "x = 1", "def f(")]
        here, there = both(folder, url, rows[number], lines)
        assert here == there
        assert verdicts(there)[0] == "AC"
        assert "AC" not in verdicts(there)[1:]


def test_graded_problems_and_their_managers(tmp_path, url):
    for name, rows in (("train", [*IOI, GUESS]), ("tests", [*TESTS, *GUESSED])):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / "d").mkdir(exist_ok=True)
        (tmp_path / "d" / f"{name}.jsonl").write_text(text)
    codes = [("largest", BEST), ("largest", LAST), ("guess", HALVING)]
    lines = [{"id": f"2024/{name}", "code": code, "language": "c++17"} for name, code in codes]
    here, there = both(tmp_path, url, [], lines, dataset=str(tmp_path / "d"))
    assert here == there
    assert verdicts(there) == ["AC", "WA", "AC"]
    assert [subtask["points"] for subtask in there[1]["subtasks"]] == [0.0, 30.0, 32.2]


def test_interactors_and_checkers_in_files_beside_the_data_set(tmp_path, url):
    (tmp_path / "judge.py").write_text(JUDGE)
    (tmp_path / "check").mkdir()
    (tmp_path / "check" / "main.py").write_text("import part\npart.end()\n")
    (tmp_path / "check" / "part.py").write_text(
        "import sys\n# \xe9\ndef end():\n"
        "    sys.exit(42 if sys.stdin.read() == open(sys.argv[2]).read() + sys.argv[4] else 43)\n"
    )
    test = {"input": "-\n", "output": "x"}
    talk = {"id": "1/A", "interaction_format": "talk", "interactor": "kattis:judge.py"}
    check = {"id": "2/B", "checker": "kattis:check yz"}
    broken = {"id": "3/C", "generated_checker": "def ("}
    rows = [{**row, "official_tests": [test]} for row in (talk, check, broken)]
    codes = [("1/A", RIGHT), ("1/A", "input()\nprint(1)"), ("2/B", "print('xyz', end='')"),
             ("2/B", "print('xz', end='')"), ("3/C", "print()")]  # fmt: skip
    lines = [{"id": name, "code": code} for name, code in codes]
    here, there = both(tmp_path, url, rows, lines)
    assert here == there
    assert verdicts(there) == ["AC", "WA", "AC", "WA", verdicts(here)[4]]
    assert there[0]["details"][0]["transcript"].startswith("interactor: 21\nsolution: 42")
    found = Options(
        tmp_path / "s.jsonl",
        dataset=str(tmp_path / "p.jsonl"),
        results_dir=tmp_path / "checked",
        endpoint=[url],
        self_check=True,
        problems=["1/A", "2/B"],
        no_check_dataset=True,
    )
    with pytest.raises(Exception, match="self-check: problem 2/B: checker kattis:check does not"):
        run_grading(found)


def generated(folder: Path) -> dict[str, Any]:
    """Write generated tests of problem 1/A, one of which is no UTF-8; return flags for them."""
    cells = [b"1 2\n", b"\xff\x80 \xed\xa0\x80", b"3 4\n", b"5 " + b"0" * 5000 + b"6\n"]
    outputs = [b"3\n", b"\xff\n", b"0\n", b"11\n"]
    columns = {
        "problem_id": ["1/A"] * 4,
        "test_case_i": [1, 2, 3, 4],
        "input": pa.array(cells, pa.binary()).view(pa.string()),
        "output": pa.array(outputs, pa.binary()).view(pa.string()),
    }
    (folder / "made").mkdir()
    pq.write_table(pa.table(columns), folder / "made" / "test_cases_1.parquet")
    return {"generated_tests_dir": folder / "made", "max_generated_tests": -1}


def test_generated_tests_in_parts_that_the_server_forgets(tmp_path, url, monkeypatch):
    """Two tests at once, each time sent again."""
    monkeypatch.setattr(remote, "PART_TESTS", 2)
    monkeypatch.setattr(remote, "INLINE_BYTES", 0)
    flags = {**generated(tmp_path), "max_generated_bytes_per_problem": 100}
    test = {"input": "1 1\n", "output": "2\n"}
    rows = [{"id": "1/A", "official_tests": [test], "time_limit": 0.5}]
    bytes_ = "import os\nos.write(1, os.read(0, 1) + b'\\n')\n"
    lines = [{"id": "1/A", "code": code} for code in (SUMS, bytes_, "def (", "while 1: pass")]
    here, there = both(tmp_path, url, rows, lines, stop_on_first_failure=True, **flags)
    assert here == there
    assert verdicts(there) == ["RE", "WA", "CE", "TLE"]
    assert there[0]["details"][-1]["reason"] == "budget_exceeded"
    assert [c["verdict"] for c in there[1]["details"]][2] == "SK"


def test_uploads_are_made_once(tmp_path, url, monkeypatch):
    sent: list[str] = []
    post: Callable[..., Any] = remote._post

    def counting(endpoint: Any, route: str, *more: Any) -> Any:
        sent.append(route)
        return post(endpoint, route, *more)

    monkeypatch.setattr(remote, "_post", counting)
    monkeypatch.setattr(remote, "INLINE_BYTES", 0)
    rows = [
        {"id": name, "official_tests": [{"input": "1 1\n", "output": "2\n"}]}
        for name in ("1/A", "2/B")
    ]
    lines = [{"id": row["id"], "code": f"{SUMS}# {n}"} for row in rows for n in range(5)]
    here, there = both(tmp_path, url, rows, lines)
    assert here == there
    assert (sent.count("/problems"), sent.count("/grade")) == (2, 10)


def test_one_case_on_a_server(url):
    row = {"id": "1/A", "time_limit": 1, "generated_checker": None}
    case = {"input": "1 2\n", "output": "3\n"}
    found = [
        run_piston_test(code, row, case, language, endpoint=url)
        for code, language in ((SUMS, "python"), ("print(1)", "python"), ("int main( {", "c++17"))
    ]
    assert [one["passed"] for one in found] == [True, False, False]
    assert [one["output"] for one in found] == ["3\n", "1\n", ""]
    assert [one["reason"] for one in found][1:] == ["failed_outputs_match", "compile_error"]
    assert "error: expected" in found[2]["error"]
    gone = run_piston_test(SUMS, row, case, endpoint="http://127.0.0.1:9")
    assert (gone["passed"], gone["reason"]) == (None, "sandbox_error")
    assert "no Piston server answers" in gone["error"]
