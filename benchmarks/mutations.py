"""Which changes of a module its tests notice: `python benchmarks/mutations.py [MODULE …]`.

Each mutant is a copy of the module with one operator, number or word changed, made by cosmic-ray
(`pip install cosmic-ray`). The tests run on it; those that all pass have missed it. Works in a copy
of the checkout. A mutant takes about two seconds on a quiet core, all modules an hour.

Left out, since no test can tell them apart:
    types in annotations            they are never evaluated
    `is` for `==` between texts     equal texts that are constants are one object
    frozen=True                     nothing assigns to a frozen dataclass
    the size and presence of lru_cache
"""

from __future__ import annotations

import argparse
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# module ─▶ the tests that are meant to notice every change of it
MODULES = {
    "eval/grading/verdict.py": "tests/eval/grading/test_verdict.py",
    "eval/grading/time_policy.py": "tests/eval/grading/test_time_policy.py",
    "eval/problems/selection.py": "tests/eval/problems/test_selection.py",
    "eval/solutions/extract_code.py": "tests/eval/solutions/test_extract_code.py",
    "checkers/compare.py": "tests/checkers/test_compare.py",
    "sandbox/box/isolation/seccomp.py": "tests/sandbox/box/isolation/test_seccomp.py",
}
CONFIGURATION = """
[cosmic-ray]
module-path = "{module}"
timeout = 120.0
excluded-modules = []
test-command = "{python} -m pytest -x -q -n 0 -p no:cacheprovider {tests}"
[cosmic-ray.distributor]
name = "local"
"""
RESULTS = """
select s.operator_name, s.start_pos_row, r.test_outcome
from mutation_specs s join work_results r on s.job_id = r.job_id
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="default: all of MODULES")
    modules = parser.parse_args().modules or list(MODULES)
    with tempfile.TemporaryDirectory(prefix="gradebox-mutations-") as name:
        copy = Path(name, "checkout")
        subprocess.run(["git", "worktree", "add", "-q", "--detach", copy], cwd=ROOT, check=True)
        try:
            for module in modules:
                report(module, mutate(copy, module, Path(name)))
        finally:
            remove = ["git", "worktree", "remove", "--force", str(copy)]
            subprocess.run(remove, cwd=ROOT, check=True)


def mutate(copy: Path, module: str, folder: Path) -> list[tuple[str, int, bool]]:
    """Return (operator, line, noticed) of each mutant of a module."""
    configuration, results = folder / "mutants.toml", folder / f"{Path(module).stem}.sqlite"
    values = {"module": module, "tests": MODULES[module], "python": sys.executable}
    configuration.write_text(CONFIGURATION.format(**values))
    for action in ("init", "exec"):
        command = [sys.executable, "-m", "cosmic_ray.cli", action, configuration, results]
        subprocess.run(command, cwd=copy, check=True)
    rows = sqlite3.connect(results).execute(RESULTS).fetchall()
    return [
        (name.partition("/")[2], line, "SURV" not in str(end).upper()) for name, line, end in rows
    ]


def report(module: str, mutants: list[tuple[str, int, bool]]) -> None:
    """Print how many mutants were noticed, and the lines of those that were not."""
    lines = ROOT.joinpath(module).read_text().splitlines()
    counted = [m for m in mutants if not same(m[0], lines[m[1] - 1])]
    missed = [m for m in counted if not m[2]]
    share = 1 - len(missed) / max(1, len(counted))
    print(f"{module}: {len(counted) - len(missed)} of {len(counted)} noticed, {share:.3f}")
    for name, line, _ in sorted(missed, key=lambda m: m[1]):
        print(f"  {line}: {lines[line - 1].strip()}   {name}", flush=True)


def same(operator: str, line: str) -> bool:
    """Return whether a change makes no difference, by the rules above."""
    return (
        "BitOr" in operator
        or operator.endswith(("_Is", "_IsNot"))
        or line.strip() == "@dataclass(frozen=True)"
        or "@lru_cache" in line
    )


if __name__ == "__main__":
    main()
