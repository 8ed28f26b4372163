"""Metrics of LiveCodeBench by difficulty, month and window; a window needs no new runs."""

import json
from pathlib import Path
from typing import Any

from gradebox.eval.cli.run import run_grading
from gradebox.eval.grading.options import Options
from testing.fakes.scripted_sandbox import Call, FakeSandbox
from tests.eval.problems.dataset_rows import stdin_row

# (id, month, difficulty, whether its solution is right)
ROWS = (
    ("a", "2024-07", "easy", True),
    ("b", "2024-08", "easy", False),
    ("c", "2024-08", "hard", True),
    ("abc350_c", "2024-09", "medium", False),
)


def answers(call: Call) -> bytes:
    even = int(call.stdin or b"0") % 2 == 0  # without input: the calibration
    return b"YES\n" if even or "wrong" in call.source else b"NO\n"


def graded(tmp_path: Path, **window: Any) -> dict[str, Any]:
    data, solutions = tmp_path / "rows.jsonl", tmp_path / "s.jsonl"
    rows = [stdin_row(question_id=name, contest_date=f"{month}-01T00:00:00", difficulty=level)
            for name, month, level, _ in ROWS]  # fmt: skip
    lines = [{"question_id": name, "code_list": [f"{'right' if right else 'wrong'} # {name}"]}
             for name, _, _, right in ROWS]  # fmt: skip
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    solutions.write_text(json.dumps(lines))
    options = Options(
        solutions, dataset=str(data), results_dir=tmp_path / "r", sandbox="local", **window
    )
    (result,) = run_grading(options, sandbox=FakeSandbox(answers)).files
    assert result.metrics is not None
    return {**result.metrics, "graded_now": result.graded_now}


def test_by_difficulty_month_and_window(tmp_path):
    everything = graded(tmp_path)
    assert (everything["graded_now"], everything["pass_at_1"]) == (4, 0.5)
    tables = everything["statistics"]["tables"]
    shares = {
        name: [(row["group"], row["problems"], row["pass_at_1"]) for row in tables[name]]
        for name in ("difficulty", "month")
    }
    assert shares == {
        "difficulty": [("easy", 2, 0.5), ("medium", 1, 0.0), ("hard", 1, 1.0)],
        "month": [("2024-07", 1, 1.0), ("2024-08", 2, 0.5), ("2024-09", 1, 0.0)],
    }
    assert everything["known_faults"]["faults"] == {"wrong tests": 1}
    assert everything["known_faults"]["pass_at_1_without"] == 2 / 3

    window = graded(tmp_path, from_="2024-07-15", to="2024-08-01")
    assert (window["graded_now"], window["num_attempted"]) == (0, 2)
    assert (window["pass_at_1"], window["known_faults"]) == (0.5, None)

    again = graded(tmp_path)
    assert (again["graded_now"], again["pass_at_1"]) == (0, 0.5)
    easy = graded(tmp_path, difficulty=["easy"])
    assert (easy["graded_now"], easy["num_attempted"]) == (0, 2)
