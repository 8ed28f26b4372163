"""A machine that lacks something is refused in one line before anything runs."""

import os
import sys

import pytest

from testing.commands import ROOT, run_command

SETTINGS = {
    "open files": (
        "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (32, 32))",
        "this process may have 32 open files, and 1 program needs 96: ulimit -n 96\n",
    ),
    "open files for fewer programs": (
        "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (100, 100)); programs = 2",
        "this process may have 100 open files, and 2 programs at once need 128: ulimit -n 128, "
        "or fewer --workers\n",
    ),
    "open files that it may raise": (
        "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (32, 200))",
        "may have 96",
    ),
    "no folder": (
        "import tempfile; tempfile._candidate_tempdir_list = lambda: ['/proc/none']",
        "no folder for temporary files is writable: set TMPDIR to one",
    ),
    "threads": (
        "import threading as t, itertools as i; n, start = i.count(), t.Thread.start\n"
        'def refuse(self):\n    if next(n) > 1: raise RuntimeError("can\'t start new thread")\n'
        "    start(self)\n"
        "t.Thread.start = refuse",
        "4 more threads and processes are needed, and 2 can be started",
    ),
}
OPEN = """
import resource
from gradebox.sandbox.common.machine_check import check_machine
from gradebox.sandbox.errors import SandboxUnavailable
try:
    check_machine(globals().get("programs", 1))
    print("may have", resource.getrlimit(resource.RLIMIT_NOFILE)[0])
except SandboxUnavailable as error:
    print(error)
"""


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("name", SETTINGS)
def test_each_lack_names_its_remedy(name):
    setting, words = SETTINGS[name]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = run_command([sys.executable, "-c", setting + "\n" + OPEN], env=env)
    assert done.stdout.count("\n") == 1, done.stderr
    assert done.stdout.startswith(words)
