"""The CPU time that hostile texts cost in the grader's own process, and how long a server waits.

    python benchmarks/hostile_texts.py                       every entry and shape, 64 KB and 1 MB
    python benchmarks/hostile_texts.py --only response math  entries with a word in their name
    python benchmarks/hostile_texts.py --serve               and /health of a server meanwhile

    entry                 worst      2nd        3rd
    submission c++17      21 ms      20 ms      19 ms     quote and escape, spaces, …
    …
    worst of 3120: 31 ms, response python, fences

An entry is a function through which a program, a response, an answer, an output or a row is read;
the shapes are in testing/hostile_texts.py. `time.process_time` is measured, of all threads of this
process but not of workers and boxes. A figure over half of the bar is the least of three.
`submission` entries run in the embedded sandbox, a language that is not installed is left out;
`output` entries have a program that prints the text on stdout and stderr. Exit status 1 over the
bar: 50 ms for 1 MB, and 1 s for /health. All entries take an hour; two shapes of one take a second.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)
sys.path.insert(1, f"{sys.path[0]}/src")

from gradebox.checkers.builtins import TABLE as CHECKERS  # noqa: E402
from gradebox.checkers.compare import MODES  # noqa: E402
from gradebox.checkers.long_outputs import first_difference, output_judge  # noqa: E402
from gradebox.checkers.math import EvaluatorMath, grade  # noqa: E402
from gradebox.checkers.true_false import extract_verdict, judge_response  # noqa: E402
from gradebox.checkers.values.judging import JUDGES, ValueJudge  # noqa: E402
from gradebox.eval.api.dialects.fusion import extraction  # noqa: E402
from gradebox.eval.api.grader import Grader  # noqa: E402
from gradebox.eval.api.rewards.values import answer_of  # noqa: E402
from gradebox.eval.common.errors import InputError, RowError  # noqa: E402
from gradebox.eval.models.answers.equality import harness  # noqa: E402
from gradebox.eval.models.benchmarks.evaluators import EVAL_FUNCTIONS  # noqa: E402
from gradebox.eval.models.benchmarks.extraction import EXTRACTION_FUNCTIONS  # noqa: E402
from gradebox.eval.models.benchmarks.pal import find_program  # noqa: E402
from gradebox.eval.models.benchmarks.sample import Sample  # noqa: E402
from gradebox.eval.models.benchmarks.texts import shortened  # noqa: E402
from gradebox.eval.problems.formats import FORMATS, Reading  # noqa: E402
from gradebox.eval.problems.row import make_problem  # noqa: E402
from gradebox.eval.solutions.program import program_of  # noqa: E402
from gradebox.sandbox.errors import BadRequest  # noqa: E402
from gradebox.sandbox.protocol import Sandbox  # noqa: E402
from testing.fakes.scripted_sandbox import Call, FakeSandbox, ready  # noqa: E402
from testing.hostile_texts import SHAPES, text_of  # noqa: E402

Entry = Callable[[str], Any]
BAR_S, HEALTH_S = 0.05, 1.0
SIZES = (1 << 13, 1 << 14, 1 << 15, 1 << 20)  # the first: what is read here at most
LANGUAGES = (
    "python",
    "c++17",
    "c",
    "java",
    "javascript",
    "go",
    "rust",
    "ruby",
    "pypy3",
    "kotlin",
    "c#",
)
TESTS = [{"input": "1\n", "output": "2\n"}]
STDIN: dict[str, Any] = {"id": "1/A", "time_limit": 1.0, "official_tests": TESTS}
CALL = {**STDIN, "test_kind": "call", "entry_point": "f", "prelude": "from typing import *"}
ASSERTS = {
    **STDIN,
    "test_kind": "assert",
    "entry_point": "f",
    "prompt": "def f(x):\n",
    "official_tests": [{"input": "assert f(1) == 2", "output": '{"entry": "f", "names": []}'}],
}
GRADED = {**STDIN, "test_kind": "graded", "graders": [["graders/grader.cpp", "int main() {}"]]}
# Rows of MultiPL-E: the tests call f.
TESTED = {
    "cpp": ("int f(int x) {\n", "}\nint main() {\n    auto candidate = f;\n"
            "    assert(candidate((1)) == (2));\n}\n"),
    "java": ("class Problem {\n    public static long f(long x) {\n", "    }\n"
             "    public static void main(String[] args) {\n"
             "    assert(f((1l)) == (2l));\n    }\n}\n"),
    "js": ("function f(x){\n", "const assert = require('node:assert');\nfunction test() {\n"
           "  let candidate = f;\n  assert.deepEqual(candidate(1),2);\n}\ntest();"),
}  # fmt: skip
SAMPLE = Sample("set", "1", "a question", ("1",), ("1", "2", "3", "4"))


class NoEquality:
    """Math equality has entries of its own."""

    def equal(self, reference: str, answer: str) -> bool:
        return reference == answer


def submissions(grader: Grader, sandbox: Sandbox) -> Iterator[tuple[str, Entry]]:
    """Yield the entries of programs, which run in the sandbox."""
    for language in LANGUAGES:
        if language in sandbox.describe().toolchains:
            yield (
                f"submission {language}",
                lambda text, name=language: grader.grade([{"code": text, "language": name}], STDIN),
            )
    for name, problem in (("call", CALL), ("assert", ASSERTS)):
        yield (
            f"submission for {name} tests",
            lambda text, row=problem: grader.grade([{"code": text}], row),
        )


def programs() -> Iterator[tuple[str, Entry]]:
    """Yield the entries of programs that are put together with what calls them, and don't run."""
    for name, (prompt, tests) in TESTED.items():
        row = {"name": "x_f", "language": name, "prompt": prompt, "tests": tests, "stop_tokens": []}
        problem = make_problem(Reading(FORMATS["multipl-e"], "strict").columns(row))
        yield (
            f"program for tests in {name}",
            lambda text, p=problem: program_of(text, p.language, p),
        )
    graded = make_problem(GRADED)
    yield "program of a graded problem", lambda text: program_of(text, "c++17", graded)


def responses(grader: Grader) -> Iterator[tuple[str, Entry]]:
    """Yield the entries of models' responses; the sandbox of the grader runs nothing."""
    for language in ("", "python", "c++17", "java"):
        row = {"language": language} if language else {}
        yield (
            f"response {language or 'in any language'}",
            lambda text, row=row: grader.grade([{"completion": text, **row}], STDIN),
        )
    yield "response for assert tests", lambda text: grader.grade([{"completion": text}], ASSERTS)
    for language in ("python", "cpp", "sql", "bash", "go"):
        yield f"fusion {language}", lambda text, name=language: extraction.extract(text, name)
    yield "query of a trainer", lambda text: answer_of(text, "a")
    yield "program of a benchmark", lambda text: find_program(text)


def answers() -> Iterator[tuple[str, Entry]]:
    """Yield the entries of short answers."""
    yield "TRUE or FALSE", extract_verdict
    yield "TRUE or FALSE, judged", lambda text: judge_response(text, True)
    for policy in ("strict", "dart", "lm-open-science"):
        yield f"math {policy}", lambda text, name=policy: grade("1", text, name, 1.0)
    yield "math as the gold", lambda text: grade(text, "So it is 1", timeout=1.0)
    yield "math extract", lambda text: EvaluatorMath(timeout=1.0).extract_ans(text)
    yield "answer harness", lambda text: harness("1", text)
    for name, extract in EXTRACTION_FUNCTIONS.items():
        yield name, lambda text, read=extract: read(shortened(text), SAMPLE)
    no_equality: Any = NoEquality()
    for name, evaluate in EVAL_FUNCTIONS.items():
        yield name, lambda text, judge=evaluate: judge([shortened(text)], SAMPLE, no_equality)


def outputs(grader: Grader, printed: list[bytes]) -> Iterator[tuple[str, Entry]]:
    """Yield the entries of what programs print; `printed` is what the grader's program does."""

    def run(text: str) -> Any:
        printed[0] = text.encode()
        return grader.grade([{"code": "x"}], STDIN)

    def judged(text: str, judge: Callable[[bytes, bytes], Any]) -> None:
        judge(text.encode(), text.encode()[:-1] + b"~")

    yield "output and stderr", run
    for mode in MODES:
        yield (
            f"output {mode}",
            lambda t, m=mode: judged(t, lambda a, b: first_difference(a, b, m)),
        )
    for name in CHECKERS:
        checker = output_judge(name)
        yield (
            f"checker {name}",
            lambda t, c=checker: judged(t, lambda a, b: c.check(b"", a, b)),
        )
    for name in sorted(JUDGES):
        judge = ValueJudge(name)
        yield f"judge {name}", lambda t, c=judge: judged(t, lambda a, b: c.check(b"", a, b))


def rows() -> Iterator[tuple[str, Entry]]:
    """Yield the entries of data sets' rows: a text in each of their fields."""
    for row_format in FORMATS.values():
        fields = sorted(
            {*row_format.names, *row_format.uses, *frozenset().union(*row_format.needs)}
        )
        for field in fields:
            plain = dict.fromkeys(fields, "x") | {"language": "cpp"}

            def read(
                text: str, kind: Any = row_format, row: Any = plain, name: str = field
            ) -> None:
                for value in (text, [text]):
                    with suppress(RowError, InputError):
                        Reading(kind, "strict").columns({**row, name: value})

            yield f"row {row_format.name} {field}", read


def cpu_s(entry: Entry, text: str) -> float:
    """Return the CPU seconds of this process for a text, without those of its children."""
    began = time.process_time()
    with suppress(InputError, BadRequest):
        entry(text)
    return time.process_time() - began


def measured(entry: Entry, text: str) -> float:
    found = cpu_s(entry, text)
    for _ in range(2 if BAR_S / 2 < found < 1 else 0):
        found = min(found, cpu_s(entry, text))
    return found


@contextmanager
def server() -> Iterator[str]:
    """Run `gradebox serve`; yield its address."""
    command = [sys.executable, "-m", "gradebox.sandbox.server", "--port", "0"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = next(line for line in process.stderr if line.startswith("listening at"))
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield line.split()[2].rstrip(",")
    finally:
        process.terminate()
        process.wait()


def bodies(text: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield a text in the routes of a server: a name, a path and a body."""
    for language in ("c++", "java", "python"):
        files = [{"content": text}]
        yield (
            f"execute {language}",
            "/api/v2/execute",
            {
                "language": language,
                "version": "*",
                "files": files,
            },
        )
    yield "grade", "/grade", {"solutions": [{"completion": text}], "problem": STDIN}
    yield "run_code", "/run_code", {"language": "cpp", "code": text}
    yield "test_program", "/test_program", {"program": text, "tests": ["assert f(1) == 2"]}
    row = {"id": 1, "content": "", "labels": "{}", "test": "[]"}
    config = {"dataset_type": "CommonOJDataset", "language": "cpp", "provided_data": row}
    yield "submit", "/submit", {"dataset": "d", "id": 1, "completion": text, "config": config}


def slowest_health(address: str, path: str, body: Mapping[str, Any]) -> float:
    """Return the longest time that /health takes during a request."""
    data = json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"Content-Type": "application/json"})

    def ask() -> None:
        with suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(request, timeout=30).read()

    asking = threading.Thread(target=ask)
    asking.start()
    worst = 0.0
    while asking.is_alive():
        began = time.monotonic()
        urllib.request.urlopen(f"{address}/health", timeout=600).read()
        worst = max(worst, time.monotonic() - began)
        time.sleep(0.02)
    return worst


def report(name: str, found: list[tuple[float, str]], bar_s: float) -> None:
    found.sort(reverse=True)
    figures = "  ".join(f"{1000 * spent:6.0f} ms {shape}" for spent, shape in found[:3])
    print(f"{'!' if found[0][0] > bar_s else ' '} {name:34}{figures}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=[""], help="words in the names of entries")
    parser.add_argument("--shapes", nargs="*", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES, help="bytes of a text")
    parser.add_argument("--serve", action="store_true", help="/health of a server, not CPU time")
    arguments = parser.parse_args()
    worst = (0.0, "", "")
    count = 0
    if arguments.serve:
        with server() as address:
            for place, (name, _, _) in enumerate(bodies("")):
                if not any(word in name for word in arguments.only):
                    continue
                found = []
                for shape in arguments.shapes:
                    _, path, body = list(bodies(text_of(shape, arguments.sizes[-1])))[place]
                    found.append((slowest_health(address, path, body), shape))
                    print(f"{name}, {shape}: {found[-1][0]:.3f} s", file=sys.stderr, flush=True)
                report(name, found, HEALTH_S)
                worst, count = max(worst, (*max(found), name)), count + len(found)
        print(f"worst of {count}: /health took {worst[0]:.2f} s; {worst[2]}, {worst[1]}")
        return int(worst[0] > HEALTH_S)
    printed = [b""]

    def script(_call: Call) -> Any:
        return ready(printed[0], stderr=printed[0][: 1 << 16], exit_code=0)

    with (
        Grader(sandbox="local") as real,
        real.use_sandbox() as sandbox,
        Grader(sandbox=FakeSandbox(script, record=False)) as fake,
    ):
        entries = [*submissions(real, sandbox), *programs(), *responses(fake), *answers()]
        entries += [*outputs(fake, printed), *rows()]
        for name, entry in entries:
            if not any(word in name for word in arguments.only):
                continue
            cpu_s(entry, "x")  # imports, workers
            found = [
                (measured(entry, text_of(shape, size)), shape)
                for shape in arguments.shapes
                for size in arguments.sizes
            ]
            report(name, found, BAR_S)
            worst, count = max(worst, (*max(found), name)), count + len(found)
    print(f"worst of {count}: {1000 * worst[0]:.0f} ms; {worst[2]}, {worst[1]}")
    return int(worst[0] > BAR_S)


if __name__ == "__main__":
    sys.exit(main())
