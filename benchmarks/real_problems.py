"""Grades solutions of real problems and says whether each verdict is the intended one.

    python benchmarks/real_problems.py --data DIR

DIR holds problems.jsonl and generated_tests/ in the columns of open-r1/codeforces; the
solutions are tests/submissions/codeforces/. They are graded with 1 worker and with 4, twice
each, and the verdict of every solution and case must be the same every time. Exit status 1
when one is not, or not as intended.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from tests.submissions.codeforces.table import Intended, read_table

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "eval/eval_with_piston_gentest_checker_stats.py"
RUNS = ((1, "first"), (4, "first"), (1, "second"), (4, "second"))

# What must not differ between runs: solution → (verdict, ((case, verdict, reason), …)).
Verdicts = dict[str, tuple[Any, ...]]


def write_solutions(rows: list[Intended], path: Path) -> None:
    """The programs as a solutions file, named by their place in the table."""
    with path.open("w") as out:
        for row in rows:
            line = {
                "id": row.problem,
                "solution_id": row.program,
                "language": row.language,
                "code": row.source.decode(),
            }
            out.write(json.dumps(line) + "\n")


def grade(data: Path, solutions: Path, results: Path, workers: int) -> Verdicts:
    """One run of the real command."""
    done = subprocess.run(
        [
            *(sys.executable, COMMAND, "--solutions-path", str(solutions)),
            *("--dataset", str(data / "problems.jsonl")),
            *("--generated-tests-dir", str(data / "generated_tests")),
            *("--max-generated-tests", "-1", "--stop-on-first-failure", "--sandbox", "local"),
            *("--workers", str(workers), "--results-dir", str(results)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise SystemExit(f"the grader ended with status {done.returncode}:\n{done.stderr[-2000:]}")
    lines = (results / solutions.stem / "piston_eval_results.jsonl").read_text().splitlines()
    return {record["solution_id"]: _verdicts(record) for record in map(json.loads, lines)}


def _verdicts(record: dict[str, Any]) -> tuple[Any, ...]:
    cases = (
        (case["case_type"], case["test_case_i"], case["verdict"], case["reason"])
        for case in record["details"]
    )
    return (record["verdict"], *cases)


def unintended(rows: list[Intended], seen: Verdicts) -> list[str]:
    """One line for each program that did not get the verdict it was written for."""
    return [
        f"{row.program}: {seen[row.program][0]}, meant to be {row.verdict}"
        for row in rows
        if seen[row.program][0] != row.verdict
    ]


def changed(first: Verdicts, other: Verdicts) -> list[str]:
    """One line for each program whose verdicts are not those of the first run."""
    return [f"{name}: not as in the first run" for name in first if first[name] != other[name]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True, help="folder with problems.jsonl")
    data = parser.parse_args().data
    if not (data / "problems.jsonl").is_file():
        parser.error(f"--data {data}: there is no problems.jsonl in it")
    rows = read_table()
    complaints: list[str] = []
    first: Verdicts = {}
    with tempfile.TemporaryDirectory(prefix="real-problems-") as temporary:
        solutions = Path(temporary) / "solutions.jsonl"
        write_solutions(rows, solutions)
        for workers, time_of in RUNS:
            start = time.perf_counter()
            results = Path(temporary) / f"{workers}-{time_of}"
            seen = grade(data.resolve(), solutions, results, workers)
            first = first or seen
            found = [*unintended(rows, seen), *changed(first, seen)]
            complaints += found
            counts = Counter(str(verdicts[0]) for verdicts in seen.values())
            print(
                f"{workers} worker{'s' if workers > 1 else ''}, {time_of} time: "
                f"{len(seen)} solutions of {len({row.problem for row in rows})} problems in "
                f"{time.perf_counter() - start:.0f} s, "
                f"{', '.join(f'{v} {n}' for v, n in sorted(counts.items()))}; "
                f"{len(found)} not as intended or not the same",
                flush=True,
            )
            for line in found:
                print(f"  {line}", flush=True)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
