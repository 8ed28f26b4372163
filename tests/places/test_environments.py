"""Environments that lack something: each gives right verdicts, or an error with a remedy.

A program is never failed by its environment: the table of docs/places.md.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

DEEP = """
int f(int n) { volatile char a[1000]; a[0] = n; return n ? f(n - 1) + a[0] - a[0] : 0; }
int main() { return f(50000); }
"""
LARGE = """
#include <cstdlib>
#include <cstring>
int main() { char *p = (char *)malloc(160 << 20); return p ? memset(p, 0, 160 << 20) != p : 3; }
"""
PROGRAMS = {  # (language, code, whether it is right); the test wants no output
    "deep": ("cpp", DEEP, True),
    "large": ("cpp", LARGE, True),
    "streams": ("cpp", "#include <iostream>\nint main() { std::cin.get(); }\n", True),
    "python": ("python", "# é\nimport sys\nsys.stdin.read()\n", True),
    "wrong": ("python", "print('é')\n", False),
}
PROBLEM = {"id": "1/A", "official_tests": [{"input": "é\n", "output": ""}], "memory_limit": 256}
JUMPS = """
import itertools, time
def jumping(clock, unit):
    jumps = itertools.cycle((0, -86400, 3600, 86400, -3600))
    return lambda: clock() + next(jumps) * unit
time.time, time.time_ns = jumping(time.time, 1), jumping(time.time_ns, 10**9)
"""


@dataclass(frozen=True)
class Place:
    """How a grader is started in it, and what follows.

    script       shell commands before the grader's
    compiled     the C++ program that is graded besides, or none
    environment  of the grader
    mounts       the script needs a mount namespace
    errors       programs that are an error, all others have their verdict
    remedy       part of their message, or of the one line with exit status 2
    """

    script: str = ""
    compiled: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    mounts: bool = False
    errors: tuple[str, ...] = ()
    remedy: str = ""
    status: int = 0


NO_HOME = (("HOME", "/proc"),)
NO_LOCALE = (("LC_ALL", "C"), ("PYTHONUTF8", "0"), ("PYTHONCOERCECLOCALE", "0"))
NOEXEC = "mkdir t && mount -t tmpfs -o noexec tmpfs t && export TMPDIR=$PWD/t"
SHM = "mount -t tmpfs -o size=64m tmpfs /dev/shm"
PLACES = {
    "a read-only home, no locale": Place(environment=(*NO_HOME, *NO_LOCALE)),
    "temporary files on noexec, 64 MB of /dev/shm": Place(
        f"{NOEXEC} && {SHM}", "large", mounts=True
    ),
    "temporary files on noexec, a read-only home": Place(
        NOEXEC,
        environment=NO_HOME,
        mounts=True,
        remedy="mounted noexec; set GRADEBOX_CACHE to a folder of your own",
        status=2,
    ),
    "a masked /proc, as in a container": Place(
        "mount -t tmpfs tmpfs /proc/fs",
        environment=(("SANDBOX_LEVEL", "userns"),),
        mounts=True,
        remedy="/proc: Operation not permitted",
        status=2,
    ),
    "a soft limit on the stack": Place("ulimit -Ss 8192", "deep"),
    "a hard limit on the stack": Place(
        "ulimit -s 8192", "deep", errors=("deep",), remedy="ulimit -s unlimited", status=3
    ),
    "a hard limit on data": Place(
        "ulimit -d 150000", "large", errors=("large",), remedy="ulimit -d unlimited", status=3
    ),
    "a hard limit on files below the launcher's size": Place(
        "ulimit -f 1000", remedy="raise the file size limit (ulimit -f)", status=2
    ),
    "a hard limit on files below a compiled program's size": Place(
        "ulimit -f 3000", "streams", errors=("streams",), remedy="ulimit -f unlimited", status=3
    ),
    "a clock that jumps, a working folder that was removed": Place(
        "export PYTHONPATH=$PWD/jumps${PYTHONPATH:+:$PYTHONPATH}"
        " && mkdir gone && cd gone && rmdir ../gone"
    ),
}


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("name", PLACES)
def test_no_program_is_failed_by_it(name, tmp_path):
    place = PLACES[name]
    rows = [
        {"id": "1/A", "solution_id": who, "language": language, "code": code}
        for who, (language, code, _) in PROGRAMS.items()
        if who in ("python", "wrong", place.compiled)
    ]
    for file, lines in (("problems", [PROBLEM]), ("solutions", rows)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (tmp_path / f"{file}.jsonl").write_text(text)
    (tmp_path / "jumps").mkdir()
    (tmp_path / "jumps" / "sitecustomize.py").write_text(JUMPS)
    grader = [sys.executable, "-m", "gradebox.eval.cli.console", "grade", "--sandbox", "local"]
    grader += ["--dataset", str(tmp_path / "problems.jsonl")]
    grader += ["--solutions-path", str(tmp_path / "solutions.jsonl")]
    grader += ["--results-dir", str(tmp_path / "results"), "--workers", "2"]
    start = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    start = [*start, "sh"] if place.mounts else ["sh"]
    script = f'{place.script or ":"} || exit 77; exec "$@"'
    kept = ("PATH", "HOME", "PYTHONPATH")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    done = subprocess.run(
        [*start, "-c", script, "sh", *grader],
        cwd=tmp_path,
        env=environment | dict(place.environment),
        capture_output=True,
        check=False,
    )
    said = b" ".join((done.stdout + done.stderr).split()).decode("utf-8", "replace")
    if place.mounts and (done.returncode == 77 or "unshare failed" in said):
        pytest.skip(f"nothing can be mounted here: {said[-200:]}")
    assert done.returncode == place.status, said
    assert "Traceback" not in said
    if place.status == 2:
        assert place.remedy in said
        return
    lines = (tmp_path / "results/solutions/piston_eval_results.jsonl").read_text("utf-8")
    for record in map(json.loads, lines.splitlines()):
        who = record["solution_id"]
        right = "passed" if PROGRAMS[who][2] else "failed"
        found = (who, record["status"], record["error"])
        if who in place.errors and record["status"] == "error":
            assert place.remedy in json.dumps(record), found
        else:
            assert record["status"] == right, found
