"""Memory, and time per case, over a million cases that take no time to run.

    python benchmarks/million.py [--cases 1000000] [--cases-per-solution 50]
    python benchmarks/million.py --box --cases 100000 --cases-per-solution 500

The real scheduler, records and metrics grade generated solutions with a fake sandbox that answers
at once. The figures are therefore the grader's own: the memory of its processes (sum of PSS) and
the time per case, at the start and at the end. With --box, every case is a real run of a small C
program in the embedded sandbox, and boxes and programs are included.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(1, f"{sys.path[0]}/src")

from gradebox.eval.cli.run import run_grading
from gradebox.eval.grading.options import Options
from gradebox.sandbox.box import EmbeddedSandbox
from testing.fakes.scripted_sandbox import Call, FakeSandbox

PROBLEMS = 50
SAMPLE_EVERY_S = 1.0
ECHO = (
    "#include <unistd.h>\nint main(void) { char b[99]; return write(1, b, read(0, b, 99)) < 0; }\n"
)


def pss_bytes() -> int:
    """Return the proportional set size of this process and its descendants."""
    total, todo = 0, ["self"]
    while todo:
        pid = todo.pop()
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
            for task in Path(f"/proc/{pid}/task").iterdir():
                todo += (task / "children").read_text().split()
        except OSError:
            continue  # it has ended
        total += sum(
            int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith("Pss:")
        )
    return total


def write_problems(path: Path, cases: int) -> None:
    """Write problems whose expected output is their input."""
    with path.open("w") as file:
        for number in range(PROBLEMS):
            tests = [
                {"input": f"{number} {i}\n", "output": f"{number} {i}\n"} for i in range(cases)
            ]
            row = {"id": f"{number + 1}/A", "time_limit": 1.0, "memory_limit": 256.0}
            file.write(json.dumps({**row, "official_tests": tests}) + "\n")


def write_solutions(path: Path, solutions: int) -> None:
    """Write programs that are all different, so that every one is graded."""
    with path.open("w") as file:
        for number in range(solutions):
            code = f"{ECHO}// {number}\n"
            row = {"id": f"{number % PROBLEMS + 1}/A", "language": "c", "code": code}
            file.write(json.dumps(row) + "\n")


class Sampler(threading.Thread):
    """Sample memory and the number of cases that have run."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.samples: list[tuple[float, int, int]] = []
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(SAMPLE_EVERY_S):
            self.samples.append((time.monotonic(), _Counts.seen, pss_bytes()))

    def us_per_case(self, part: slice) -> float:
        """Return the wall time per case over a part of the samples."""
        rows = self.samples[part]
        (t0, n0, _), (t1, n1, _) = rows[0], rows[-1]
        return (t1 - t0) / max(1, n1 - n0) * 1e6


COUNTER = itertools.count()  # its steps are atomic


class _Counts:
    """Mixin that counts the runs of a sandbox."""

    seen = 0

    def run(self, *args: object, **kwargs: object):  # type: ignore[no-untyped-def]
        _Counts.seen = next(COUNTER) + 1
        return super().run(*args, **kwargs)  # type: ignore[misc]


class Counting(_Counts, FakeSandbox):
    """A sandbox whose programs print their input."""


class CountingBox(_Counts, EmbeddedSandbox):
    """The embedded sandbox."""


def answer(call: Call) -> bytes:
    return call.stdin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--cases-per-solution", type=int, default=50)
    parser.add_argument("--box", action="store_true", help="real runs in the embedded sandbox")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="folder for temporary files")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        write_problems(folder / "problems.jsonl", args.cases_per_solution)
        write_solutions(folder / "solutions.jsonl", args.cases // args.cases_per_solution)
        options = Options(
            solutions_path=folder / "solutions.jsonl",
            dataset=str(folder / "problems.jsonl"),
            results_dir=folder / "results",
            workers=args.workers,
        )
        sandbox = (
            CountingBox(args.workers)
            if args.box
            else Counting(answer, record=False, slots=args.workers)
        )
        sampler = Sampler()
        sampler.start()
        started, cpu = time.monotonic(), time.process_time()
        result = run_grading(options, sandbox=sandbox)
        wall_s, cpu_s = time.monotonic() - started, time.process_time() - cpu
        sampler.done.set()
        sampler.join()
        metrics = result.files[0].metrics
        size = (result.files[0].folder / "piston_eval_results.jsonl").stat().st_size
    assert metrics is not None
    cases = sum(metrics["case_verdicts"].values())
    tenth = max(2, len(sampler.samples) // 10)
    grading = [s for s in sampler.samples if s[1] < cases] or sampler.samples
    sampler.samples = grading
    print(
        f"cases            {cases} in {metrics['num_solutions']} solutions, all "
        f"{'AC' if metrics['case_verdicts'] == {'AC': cases} else metrics['case_verdicts']}"
    )
    print(f"records          {size / 2**20:.0f} MiB")
    print(f"wall             {wall_s:.1f} s; grader's CPU {cpu_s / cases * 1e6:.0f} us per case")
    print(
        f"PSS, all         {max(s[2] for s in grading) / 2**20:.0f} MiB at most, "
        f"{grading[0][2] / 2**20:.0f} after the first second"
    )
    print(
        f"wall per case    {sampler.us_per_case(slice(None, tenth)):.0f} us at the start, "
        f"{sampler.us_per_case(slice(-tenth, None)):.0f} us at the end"
    )
    return result.exit_status


if __name__ == "__main__":
    sys.exit(main())
