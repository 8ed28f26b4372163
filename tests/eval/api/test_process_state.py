"""Importing and calling the library, or a command's `main`, leaves the process as it was."""

import json
import sys

import pytest

from testing.commands import run_command
from tests.sandbox.backends import needs_box

STATE = """
import asyncio, ctypes, json, locale, logging, os, resource, signal, sys, threading, warnings

def state():
    libc = ctypes.CDLL(None)
    subreaper = ctypes.c_int()
    libc.prctl(37, ctypes.byref(subreaper), 0, 0, 0)
    loggers = {n: l for n, l in logging.root.manager.loggerDict.items()
               if isinstance(l, logging.Logger) and (l.handlers or l.level or l.filters)}
    status = open("/proc/self/status").read()
    return {
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "signals": {str(s): str(signal.getsignal(s)) for s in signal.valid_signals()},
        "blocked": sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, []))),
        "logging": [str(logging.root.handlers), logging.root.level, logging.root.disabled,
                    sorted(loggers), logging.raiseExceptions],
        "hooks": [str(sys.excepthook), str(threading.excepthook), str(sys.unraisablehook)],
        "warnings": [str(f) for f in warnings.filters],
        "path": list(sys.path),
        "streams": [id(sys.stdin), id(sys.stdout), id(sys.stderr)],
        "limits": [str(resource.getrlimit(kind)) for kind in range(16)],
        "umask": [line for line in status.splitlines() if line.startswith("Umask")],
        "cpus": sorted(os.sched_getaffinity(0)),
        "recursion": sys.getrecursionlimit(),
        "locale": locale.setlocale(locale.LC_ALL),
        "subreaper": subreaper.value,
        "dumpable": libc.prctl(3, 0, 0, 0, 0),
    }

def changes(before):
    after = state()
    return {key: [before[key], after[key]] for key in before if before[key] != after[key]}
"""

LIBRARY = """
import requests  # the library itself configures warnings and loggers
before = state()
import gradebox
row = {"id": "1/A", "official_tests": [{"input": "2\\n", "output": "4\\n"}],
       "generated_checker": "import sys\\nprint(int(open(sys.argv[3]).read() == '4\\\\n'))"}
rows = [{"code": "print(4)"}, {"code": "int main( {", "language": "cpp"}]
records = gradebox.grade(rows, row, sandbox="local")
assert [r["verdict"] for r in records] == ["AC", "CE"], records
asyncio.run(gradebox.grade_async(rows, row, sandbox="local"))
assert gradebox.run("print(7)", sandbox="local").stdout == b"7\\n"
reward = gradebox.rewards.make_codeforces("pass_fail", sandbox="local")
assert reward(["```python\\nprint(4)\\n```"], official_tests=[row["official_tests"]]) == [1.0]
gradebox.Client("http://127.0.0.1:9", patience_s=0.1).grade(rows, row)
gradebox.close()
print(json.dumps(changes(before)))
"""

COMMANDS = """
from gradebox.eval.cli.commands import compare, report
before = state()
assert compare.main(["nowhere", "nowhere"]) == 2
assert report.main(["nowhere"]) == 2
assert compare.main(["--no-such-flag"]) == 2
print(json.dumps(changes(before)))
"""


def run(code: str) -> dict[str, list[object]]:
    done = run_command([sys.executable, "-c", STATE + code], timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_the_library_changes_nothing_of_the_process():
    needs_box()
    assert run(LIBRARY) == {}


@pytest.mark.slow(seconds=1)
def test_commands_restore_the_logging_and_the_signals():
    assert run(COMMANDS) == {}
