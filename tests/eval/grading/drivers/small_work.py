"""Problems and solutions for tests with driver processes, and what two runs must have alike."""

import json
from pathlib import Path
from typing import Any

from gradebox.eval.grading.options import Options
from gradebox.eval.results.records import read_records

ROOT = Path(__file__).resolve().parents[4]
MEASURED = {"cpu_s", "wall_s", "memory_bytes", "contended"}
CHECKER = """\
import sys
expected, got = (open(name).read().strip() for name in sys.argv[2:4])
print(int(float(got) == float(expected)))
"""
ECHO = "print(input())"


def write_work(folder: Path, solutions: int = 12, tests: int = 3) -> None:
    """Write problems with and without a checker, one with large tests, and solutions of them."""
    cases = [{"input": f"{n}\n", "output": f"{n}\n"} for n in range(tests)]
    large = [{"input": f"{n} " + 200_000 * "x" + "\n", "output": f"{n}\n"} for n in range(tests)]
    rows = [
        {"id": "1/A", "official_tests": cases, "time_limit": 5.0},
        {"id": "2/B", "official_tests": cases, "time_limit": 5.0, "generated_checker": CHECKER},
        {"id": "3/C", "official_tests": large, "time_limit": 5.0},
    ]
    codes = {
        "1/A": (ECHO, "print(1)", "import sys; sys.exit(3)", "int main( {"),
        "2/B": ("print(int(input()) + 0.0)", "print(-1)", "print('no number')"),
        "3/C": ("print(input().split()[0])", ECHO),
    }
    lines = [{"id": "9/Z", "code": ECHO}, {"id": "1/A", "completion": "I can't."}]
    for number in range(solutions):
        problem = rows[number % 3]["id"]
        code = codes[problem][number // 3 % len(codes[problem])]
        lines.append({"id": problem, "code": f"{code}\n# {number // 2}"})
    lines.append(dict(lines[2]))  # a duplicate
    for name, found in (("problems.jsonl", rows), ("sols.jsonl", lines)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in found))


def options_of(folder: Path, name: str = "results", **more: Any) -> Options:
    """Return the options that grade the work of a folder into its folder `name`."""
    given: dict[str, Any] = {"workers": 4, "drivers": 2, "sandbox": "local", **more}
    return Options(
        solutions_path=folder / "sols.jsonl",
        dataset=str(folder / "problems.jsonl"),
        results_dir=folder / name,
        **given,
    )


def records_of(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the records of a run without what is measured."""
    return [unmeasured(record) for record in read_records(folder / name / "sols")]


def unmeasured(value: Any) -> Any:
    """Return JSON data without measured fields, and errors with their numbers."""
    if isinstance(value, dict):
        kept = {k: unmeasured(v) for k, v in value.items() if k not in MEASURED}
        if kept.get("verdict") in ("TLE", "MLE", "OLE"):
            for name in ("error", "output_bytes"):  # they have what was measured
                kept.pop(name, None)
        return kept
    return [unmeasured(v) for v in value] if isinstance(value, list) else value
