"""CPython's own test suite in the embedded sandbox: by fork and by exec, file by file.

    python benchmarks/cpython_tests.py --results FILE [--start fork|exec] [--again] [NAME ...]
    python benchmarks/cpython_tests.py --results FILE --compare

Each test file of the sandbox's interpreter (its folder `test`) is run as a program of its own: its
source, with a runner at its end. Files of packages (test_asyncio/…) are imported by one. A run that
is in FILE already is not repeated, unless with `--again`; `--compare` prints what differs. Outcomes
of one test that differ between runs of the same start are unsteady, and are listed apart.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    sys.path.insert(1, f"{sys.path[0]}/src")

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.toolchains.find import resolve
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import MIB, Limits, Program

LIMITS = Limits(cpu_s=20, wall_s=40, memory_bytes=1024 * MIB, processes=64, stderr_bytes=1 << 16)
STARTS: tuple[Literal["fork", "exec"], ...] = ("fork", "exec")
OUTCOMES = "outcomes.jsonl"
RUNNER = """

def _run_the_tests(module):
    import json, os, sys, unittest
    file = os.open("outcomes.jsonl", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    class Result(unittest.TestResult):
        def _write(self, test, outcome):
            os.write(file, (json.dumps([test.id(), outcome]) + chr(10)).encode())
        def addSuccess(self, test): self._write(test, "pass")
        def addFailure(self, test, error): self._write(test, "fail")
        def addError(self, test, error): self._write(test, "error")
        def addSkip(self, test, reason): self._write(test, "skip")
        def addExpectedFailure(self, test, error): self._write(test, "expected")
        def addUnexpectedSuccess(self, test): self._write(test, "unexpected")
        def addSubTest(self, test, subtest, error):
            if error: self._write(test, "subtest")

    result = Result()
    try:
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules[module]).run(result)
    except unittest.SkipTest as reason:
        os.write(file, (json.dumps(["module", "skip: " + str(reason)]) + chr(10)).encode())
    os.write(file, (json.dumps(["all", result.testsRun]) + chr(10)).encode())

"""


def test_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name of each test file, and the program that runs its tests."""
    paths = sorted(folder.rglob("test_*.py"))
    for path in sorted(paths, key=lambda path: len(path.parts)):
        parts = path.relative_to(folder).with_suffix("").parts
        name = "/".join(parts)
        if len(parts) == 1:
            yield name, as_program(path.read_bytes())
        elif all((folder.joinpath(*parts[:i]) / "__init__.py").exists() for i in range(len(parts))):
            module = ".".join(("test", *parts))
            text = f"import unittest\nimport {module}\n{RUNNER}_run_the_tests({module!r})\n"
            yield name, text.encode()


def as_program(source: bytes) -> bytes:
    """Return a test file whose last statement runs its tests and writes their outcomes."""
    lines = source.splitlines(keepends=True)
    for node in ast.parse(source).body:
        if isinstance(node, ast.If) and "__name__" in ast.dump(node.test):
            for i in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[i] = b"\n"
    return b"".join(lines) + RUNNER.encode() + b"_run_the_tests('__main__')\n"


def one_run(sandbox: EmbeddedSandbox, source: bytes) -> dict[str, Any]:
    """Return what a run shows of the tests."""
    with_interpreter = Program("python", {"main.py": source})
    compiled = sandbox.compile(with_interpreter)
    if not compiled.ok:
        return {"end": "CE", "error": compiled.log.decode(errors="replace")[-300:]}
    run = sandbox.run(compiled, LIMITS, collect=(OUTCOMES,))
    outcomes: dict[str, list[str]] = defaultdict(list)
    for line in run.files.get(OUTCOMES, b"").splitlines():
        try:
            test, outcome = json.loads(line)
        except ValueError:  # the run was ended while it wrote
            continue
        outcomes[test].append(outcome)
    end = run.killed_for or (f"signal {run.signal}" if run.signal else f"exit {run.exit_code}")
    error = run.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    row = {"end": end, "forked": run.forked, "cpu_s": round(run.cpu_s, 2)}
    return row | {"outcomes": outcomes, "error": error[-300:]}


def read(results: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return the runs by file and start."""
    seen: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    if results.exists():
        for line in results.read_text().splitlines():
            row = json.loads(line)
            seen[row["file"]][row["start"]].append(row)
    return seen


def run_all(args: argparse.Namespace) -> None:
    """Run the test files and append one line a run."""
    tool = resolve(find("python"), public=False).path
    found = subprocess.run(
        [tool, "-c", "import test; print(test.__path__[0])"], capture_output=True, text=True
    )
    if found.returncode:
        sys.exit(f"{tool} has no package `test`; on Debian: apt-get install libpython3-testsuite")
    done = read(args.results)
    for start in args.start or STARTS:
        with EmbeddedSandbox(1, level=args.level, python_start=start) as sandbox:
            for name, source in test_files(Path(found.stdout.strip())):
                if (args.names and name not in args.names) or (
                    done[name][start] and not args.again
                ):
                    continue
                row = {"file": name, "start": start, **one_run(sandbox, source)}
                with args.results.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(f"{start} {name:<40} {row['end']}", flush=True)


def unfinished(rows: list[dict[str, Any]]) -> str:
    """Return why a file's tests cannot be run in a box; empty if they can."""
    row = rows[0]
    outcomes = row.get("outcomes", {})
    if "all" in outcomes and any(x not in ("all", "module") for x in outcomes):
        return ""
    skipped = outcomes.get("module", [""])[0]
    if skipped or "all" in outcomes:
        return str(skipped) or "has no tests of its own"
    return f"{row['end']}: {row['error']}"


def differences(runs: dict[str, list[dict[str, Any]]]) -> tuple[dict[str, Any], int]:
    """Return the tests whose outcomes differ between the starts, and how many are unsteady."""
    by_start = {start: [row.get("outcomes", {}) for row in runs[start]] for start in STARTS}
    tests = {test for rows in by_start.values() for row in rows for test in row}
    differ, unsteady = {}, 0
    for test in sorted(tests):
        seen = {
            start: {json.dumps(sorted(map(str, row.get(test, [])))) for row in rows}
            for start, rows in by_start.items()
        }
        if not seen["fork"] & seen["exec"]:
            differ[test] = {start: sorted(outcomes) for start, outcomes in seen.items()}
        elif len(seen["fork"] | seen["exec"]) > 1:
            unsteady += 1
    return differ, unsteady


def compare(results: Path) -> int:
    """Print the counts, and every difference."""
    same, different, apart, tests, unsteady = 0, 0, defaultdict(list), 0, 0
    forked = 0
    for name, runs in sorted(read(results).items()):
        if not all(runs[start] for start in STARTS):
            continue
        reason = unfinished(runs["exec"])
        if reason and unfinished(runs["fork"]):
            apart[reason].append(name)
            continue
        differ, some = differences(runs)
        ends = [{row["end"] for row in runs[start]} for start in STARTS]
        if not ends[0] & ends[1]:
            differ["end"] = list(map(sorted, ends))
        unsteady += some
        tests += len(runs["exec"][0].get("outcomes", {})) - 1
        forked += bool(runs["fork"][0].get("forked"))
        same, different = same + (not differ), different + bool(differ)
        for test, how in differ.items():
            print(f"{name}: {test}: {how}")
    print(f"{same + different} files, {tests} tests: {same} files the same, {different} different")
    print(f"started by fork: {forked}; tests with unsteady outcomes: {unsteady}")
    for reason, names in sorted(apart.items()):
        print(f"not run in a box: {', '.join(names)}: {reason}")
    return bool(different)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--results", type=Path, required=True, help="JSON lines, one per run")
    parser.add_argument("--start", choices=STARTS, action="append", help="(default: both)")
    parser.add_argument("--again", action="store_true", help="repeat runs that are in the results")
    parser.add_argument("--compare", action="store_true", help="print what differs, run nothing")
    parser.add_argument("--level", help="isolation level (default: the strongest)")
    parser.add_argument("names", nargs="*", help="only these files")
    args = parser.parse_args()
    if not args.compare:
        run_all(args)
    return compare(args.results)


if __name__ == "__main__":
    sys.exit(main())
