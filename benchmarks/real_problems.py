"""Grade solutions of real problems and check that each verdict is the intended one.

    python benchmarks/real_problems.py --data DIR

DIR has problems.jsonl and generated_tests/ with the columns of open-r1/codeforces. The solutions
are in testing/submissions/codeforces/. They are graded with 1 worker and with 4, twice each. Exit
status 1 when a verdict of a solution or case differs between these runs, or is not the intended
one.
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
    sys.path.insert(1, f"{sys.path[0]}/src")

from testing.submissions.codeforces.table import Intended, read_table

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "eval/eval_with_piston_gentest_checker_stats.py"
RUNS = ((1, "first"), (4, "first"), (1, "second"), (4, "second"))

# For each solution: (verdict, (case type, case, verdict, reason), …). Equal in all runs.
Verdicts = dict[str, tuple[Any, ...]]


def write_solutions(rows: list[Intended], path: Path) -> None:
    """Write the programs as a solutions file."""
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
    """Run the real command. Return the verdicts."""
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


def unintended(rows: list[Intended], result: Verdicts) -> list[str]:
    """Return a line for each program without its intended verdict."""
    return [
        f"{row.program}: {result[row.program][0]} instead of {row.verdict}"
        for row in rows
        if result[row.program][0] != row.verdict
    ]


def changed(first: Verdicts, other: Verdicts) -> list[str]:
    """Return a line for each program whose verdicts differ from those of the first run."""
    return [f"{name}: differs from the first run" for name in first if first[name] != other[name]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True, help="folder with problems.jsonl")
    data = parser.parse_args().data
    if not (data / "problems.jsonl").is_file():
        parser.error(f"--data {data} has no problems.jsonl; give a folder with one")
    rows = read_table()
    complaints: list[str] = []
    first: Verdicts = {}
    with tempfile.TemporaryDirectory(prefix="real-problems-") as temporary:
        solutions = Path(temporary) / "solutions.jsonl"
        write_solutions(rows, solutions)
        for workers, turn in RUNS:
            start = time.perf_counter()
            results = Path(temporary) / f"{workers}-{turn}"
            result = grade(data.resolve(), solutions, results, workers)
            first = first or result
            found = [*unintended(rows, result), *changed(first, result)]
            complaints += found
            counts = Counter(str(verdicts[0]) for verdicts in result.values())
            print(
                f"{workers} worker{'s' if workers > 1 else ''}, {turn} run: "
                f"{len(result)} solutions of {len({row.problem for row in rows})} problems in "
                f"{time.perf_counter() - start:.0f} s, "
                f"{', '.join(f'{v} {n}' for v, n in sorted(counts.items()))}; "
                f"{len(found)} unintended or different",
                flush=True,
            )
            for line in found:
                print(f"  {line}", flush=True)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
