"""Boxes that die, graders that fork, two graders at once, and wrong requests."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.process import BoxProcess, _live_boxes
from gradebox.sandbox.errors import BadRequest, SandboxError, UnknownLanguage
from gradebox.sandbox.model import FOLDER, MIB, Compiled, Limits, Program
from testing.commands import run_command
from testing.submissions.hostile import host

pytestmark = pytest.mark.slow  # each test starts real programs

REPOSITORY = Path(__file__).resolve().parents[3]
SUM = Program("python", {"main.py": b"print(sum(map(int, input().split())))"})
C_SUM = b"""#include <stdio.h>
int main(void) { int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b); return 0; }
"""
NAP = Program("python", {"main.py": b"import time\ntime.sleep(0.4)\nprint('slept')"})


@pytest.fixture(scope="module")
def box() -> Iterator[EmbeddedSandbox]:
    with EmbeddedSandbox(2) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def total(box: EmbeddedSandbox) -> Compiled:
    return box.compile(SUM)


def boxes() -> list[BoxProcess]:
    return [one for one in _live_boxes if one.pid]


def kill_all(which: str) -> None:
    pids = [one._outer_pid if which == "outer" else one.pid for one in boxes()]
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # dead already, and not noticed yet
            os.kill(pid, signal.SIGKILL)
    host.wait_until_gone(pids)


# ---- boxes that die ----------------------------------------------------------------------


@pytest.mark.parametrize("which", ["outer", "box"])
def test_dead_boxes_are_replaced(box, total, which):
    assert box.run(total, Limits(), stdin=b"1 2").stdout == b"3\n"
    kill_all(which)
    for _ in range(3):
        assert box.run(total, Limits(), stdin=b"1 2").stdout == b"3\n"


@pytest.mark.parametrize("which", ["outer", "box"])
def test_a_run_whose_box_dies_is_run_again(box, which):
    nap = box.compile(NAP)
    killer = threading.Timer(0.2, kill_all, [which])
    killer.start()
    assert box.run(nap, Limits()).stdout == b"slept\n"
    killer.join()


def test_nothing_is_left_of_a_closed_sandbox():
    before = host.count()
    for _ in range(3):
        with EmbeddedSandbox(2) as sandbox:
            compiled = sandbox.compile(SUM)
            sandbox.run(compiled, Limits(), stdin=b"1")
            sandbox.run(compiled, Limits(), stdin=b"1" + b" 1" * 100_000)
    assert host.grown(before) is None


ADOPTS = """
import ctypes, os
from gradebox.sandbox import Limits, Program
from gradebox.sandbox.box import EmbeddedSandbox
ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: as the first process of a container
with EmbeddedSandbox(1) as box:
    for n in range(2):
        box.run(box.compile(Program("python", {"main.py": b"print(%d)" % n})), Limits())
try:
    print(os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("no child is left")
"""


def test_a_grader_that_adopts_orphans_reaps_those_of_its_boxes():
    command = [sys.executable, "-c", ADOPTS]
    done = run_command(command)
    assert done.stdout == "no child is left\n", done.stderr


def test_runs_leak_nothing(box, total):
    box.run(total, Limits(), stdin=b"1")
    before = replace(host.count(), processes=10**6)  # a box may be replaced
    for i in range(60):
        stdin = b"1 " * (100_000 if i % 20 == 0 else 3)
        box.run(total, Limits(), stdin=stdin, files={"a": b"b"}, collect=("a", "none"))
    assert host.grown(before) is None


# ---- graders that fork -------------------------------------------------------------------


def in_a_child(function: object) -> bytes:
    """Return what a function returns, or raises, in a forked child."""
    assert callable(function)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, str(function()).encode())
        except SandboxError as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    output = b""
    while part := os.read(read, 4096):
        output += part
    os.close(read)
    os.waitpid(pid, 0)
    return output


def test_the_sandbox_refuses_calls_in_a_forked_child(box, total):
    message = in_a_child(lambda: box.run(total, Limits(), stdin=b"1"))
    assert f"belongs to process {os.getpid()}, which forked".encode() in message
    assert b"open another one in the child" in message
    assert box.run(total, Limits(), stdin=b"1 1").stdout == b"2\n"


EXITS_NORMALLY = """
import os, sys
from sandbox import Limits, Program
from gradebox.sandbox.box import EmbeddedSandbox

with EmbeddedSandbox(1, level="none", allow_unsafe=True) as sandbox:  # has a folder on disk
    main = b"print(sum(map(int, input().split())))"
    total = sandbox.compile(Program("python", {"main.py": main}))
    sandbox.run(total, Limits(), stdin=b"1")
    child = os.fork()
    if not child:
        sandbox.close()
        sys.exit(5)  # by way of its exit handlers
    assert os.waitpid(child, 0)[1] == 5 << 8
    print(sandbox.run(total, Limits(), stdin=b"2 2").stdout)
"""


def test_a_forked_child_may_close_and_end_without_harm():
    done = run_command([sys.executable, "-c", EXITS_NORMALLY], timeout=120)
    assert (done.returncode, done.stdout) == (0, "b'4\\n'\n"), done.stderr


# ---- two graders -------------------------------------------------------------------------


def test_a_killed_grader_leaves_no_processes_and_the_next_cleans_up():
    code = "import time\nfrom gradebox.sandbox.box import EmbeddedSandbox\n"
    code += "box = EmbeddedSandbox(1)\nprint('up', flush=True)\ntime.sleep(60)\n"
    grader = subprocess.Popen([sys.executable, "-c", code], cwd=REPOSITORY, stdout=subprocess.PIPE)
    assert grader.stdout.readline() == b"up\n"
    below = host.children(grader.pid)
    assert below
    grader.kill()
    grader.wait()
    grader.stdout.close()
    host.wait_until_gone(below)
    EmbeddedSandbox(1).close()
    assert host.cgroups(grader.pid) == []


# ---- wrong requests -----------------------------------------------------------------------

NAN, FAR = float("nan"), float("inf")
OUT_OF_RANGE = {
    "cpu_s": (0, -1, NAN, FAR, 1e9),
    "wall_s": (0, NAN),
    "memory_bytes": (0, 1000, 1 << 60),
    "output_bytes": (-1,),
    "processes": (0, 10**9),
    "stderr_bytes": (-1,),
    "open_files": (0, 1 << 30),
    "file_size_bytes": (-5,),
    "disk_bytes": (0,),
}


def test_a_limit_out_of_range_is_named(box, total):
    for field, values in OUT_OF_RANGE.items():
        for value in values:
            with pytest.raises(BadRequest) as error:
                box.run(total, replace(Limits(), **{field: value}))
            assert str(error.value).startswith(f"limit {field}={value} is outside ")
    for other in ("1", None, True, 1j):
        with pytest.raises(BadRequest, match=r"limit cpu_s=.* is not a number"):
            box.run(total, replace(Limits(), cpu_s=other))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "../x", "/etc/passwd", "a\0b", "\udc80"])
def test_file_names_with_folders_are_refused(box, total, name):
    wanted = "cannot be encoded as UTF-8" if name == "\udc80" else "plain name without"
    calls: list[Callable[[], object]] = [
        lambda: box.run(total, Limits(), files={name: b""}),
        lambda: box.compile(Program("python", {"main.py": b"", name: b""})),
    ]
    if name != FOLDER:
        calls.append(lambda: box.run(total, Limits(), collect=(name,)))
    for call in calls:
        with pytest.raises(BadRequest, match=wanted):
            call()


def numbered(count: int) -> dict[str, bytes]:
    return {str(i): b"" for i in range(count)}


RUNS: dict[str, dict[str, Any]] = {
    "longer than 255 bytes": {"files": {"x" * 256: b""}},
    "300 arguments; at most": {"args": ["x"] * 300},
    "arguments of more than 32768 bytes": {"args": ["x" * 40_000]},
    "has a NUL byte": {"args": ["a\0b"]},
    "100 files in": {"files": numbered(100)},
    "50 out": {"collect": list(numbered(50))},
}
PROGRAMS = {
    "at least one file": Program("python", {}),
    "100 program files": Program("c++", numbered(100)),
    f"a program of {65 * MIB} bytes": Program("c++", {"m": bytes(65 * MIB)}),
    "unknown language 'pyhton'; did you mean 'python'": Program("pyhton", {"m": b""}),
}


def test_what_cannot_be_run_or_compiled_is_refused(box, total):
    for message, more in RUNS.items():
        with pytest.raises(BadRequest, match=message):
            box.run(total, Limits(), **more)
    for message, program in PROGRAMS.items():
        with pytest.raises((BadRequest, UnknownLanguage), match=message):
            box.compile(program)


def test_a_program_that_does_not_compile_cannot_be_run(box):
    refused = box.compile(Program("c++17", {"m.cpp": b"int main("}))
    with pytest.raises(BadRequest, match="only a program that this sandbox compiled"):
        box.run(refused, Limits())


@pytest.mark.parametrize("level", ["FULL", "root", "0"])
def test_an_unknown_level_is_refused(level):
    with pytest.raises(BadRequest, match="one of full, delegated, userns, landlock, none"):
        EmbeddedSandbox(1, level=level)


def test_level_none_is_refused_by_default():
    with pytest.raises(SandboxError, match="--allow-unsafe-sandbox"):
        EmbeddedSandbox(1, level="none")


def test_a_closed_sandbox_refuses_runs():
    sandbox = EmbeddedSandbox(1)
    compiled = sandbox.compile(SUM)
    sandbox.close()
    sandbox.close()
    with pytest.raises(SandboxError, match="the sandbox is closed"):
        sandbox.run(compiled, Limits())


def landlock_abi() -> int:
    """Return the kernel's Landlock version, 0 where Landlock is missing or forbidden."""
    create_ruleset, version = 444, 1
    return max(0, int(ctypes.CDLL(None).syscall(create_ruleset, None, 0, version)))


def test_landlock_works_wherever_the_kernel_has_it():
    """A broken level would go unnoticed, because its tests would be skipped."""
    if not landlock_abi():
        pytest.skip("this kernel has no Landlock, or it is forbidden here")
    with EmbeddedSandbox(1, level="landlock") as sandbox:
        for program in (SUM, Program("c", {"main.c": C_SUM})):
            result = sandbox.run(sandbox.compile(program), Limits(), stdin=b"3 4")
            assert (result.exit_code, result.stdout) == (0, b"7\n"), program.language
