"""A sandbox without isolation: programs run as plain processes in a new folder.

For programs of the tests only. Limits: CPU by rlimit, wall time, bytes of stdout.
"""

from __future__ import annotations

import os
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from gradebox.sandbox import languages
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.model import Compiled, Description, Execution, Interaction, Limits, Program
from gradebox.sandbox.source_tokens import other_sources

WALL_S = 60.0


class PlainSandbox(Closeable):
    """See `sandbox.protocol.Sandbox`. `runs` keeps the arguments and files of every run."""

    capabilities = frozenset({"interact", "collect"})
    slots = 2

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []
        self.compiles = 0
        self._folders: list[Path] = []

    def compile(
        self, program: Program, limits: Limits | None = None, *, interpreted: bool = True
    ) -> Compiled:
        self.compiles += 1
        folder = self._folder()
        for name, content in program.files.items():
            (folder / name).write_bytes(content)
        main = next(iter(program.files))
        if languages.find(program.language).name == "python":
            return Compiled(program, True, artifact=(sys.executable, str(folder / main)))
        done = subprocess.run(
            ["g++", "-std=c++17", "-O0", main, *other_sources("g++", program.files), "-o", "main"],
            cwd=folder,
            capture_output=True,
            check=False,
        )
        binary = (str(folder / "main"),)
        return Compiled(program, done.returncode == 0, log=done.stderr, artifact=binary)

    def run(
        self,
        compiled: Compiled,
        limits: Limits,
        *,
        stdin: bytes = b"",
        args: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        collect: Sequence[str] = (),
        alone: bool = False,
    ) -> Execution:
        self.runs.append({"stdin": stdin, "args": tuple(args), "files": dict(files or {})})
        folder = self._filled(files)
        started = time.monotonic()
        out, err = folder.parent / f"{folder.name}.out", folder.parent / f"{folder.name}.err"
        with out.open("wb") as o, err.open("wb") as e:
            process = self._start(compiled, args, folder, limits, subprocess.PIPE, o, e)
            try:
                process.communicate(stdin, timeout=min(limits.wall_s, WALL_S))
                killed = None
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed = "wall"
        return self._evidence(
            process.returncode, killed, started, out, err, limits, _collected(folder, collect)
        )

    def interact(
        self,
        first: Compiled,
        second: Compiled,
        first_limits: Limits,
        second_limits: Limits,
        *,
        second_args: Sequence[str] = (),
        second_files: Mapping[str, bytes] | None = None,
        second_collect: Sequence[str] = (),
    ) -> Interaction:
        self.runs.append({"args": tuple(second_args), "files": dict(second_files or {})})
        folders = (self._filled({}), self._filled(second_files))
        to_second, to_first = os.pipe(), os.pipe()
        logs = [folder.parent / f"{folder.name}.err" for folder in folders]
        started = time.monotonic()
        processes = []
        for i, (compiled, limits, ends) in enumerate(
            (
                (first, first_limits, (to_first[0], to_second[1])),
                (second, second_limits, (to_second[0], to_first[1])),
            )
        ):
            with logs[i].open("wb") as log:
                args = () if i == 0 else second_args
                processes.append(
                    self._start(compiled, args, folders[i], limits, ends[0], ends[1], log)
                )
        # A process closes its pipes a little before its end can be observed. Copies stay open until
        # then, so that the other one cannot fail of a closed pipe and seem to have ended first.
        ends = [(to_first[0], to_second[1]), (to_second[0], to_first[1])]
        killed: list[str | None] = [None, None]
        walls = [limits.wall_s for limits in (first_limits, second_limits)]
        first_ended = _wait_for_both(processes, walls, killed, started, ends)
        empty = folders[0].parent / "none"
        empty.write_bytes(b"")
        evidence = [
            self._evidence(
                processes[i].returncode,
                killed[i],
                started,
                empty,
                logs[i],
                (first_limits, second_limits)[i],
                _collected(folders[i], second_collect if i else ()),
            )
            for i in (0, 1)
        ]
        return Interaction(evidence[0], evidence[1], first_ended)

    def describe(self) -> Description:
        return Description("plain", "none", frozenset(), {})

    def close(self) -> None:
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    def _folder(self) -> Path:
        self._folders.append(Path(tempfile.mkdtemp()))
        place = self._folders[-1] / "work"
        place.mkdir()
        return place

    def _filled(self, files: Mapping[str, bytes] | None) -> Path:
        folder = self._folder()
        for name, content in (files or {}).items():
            (folder / name).write_bytes(content)
        return folder

    def _start(
        self,
        compiled: Compiled,
        args: Sequence[str],
        folder: Path,
        limits: Limits,
        stdin: Any,
        stdout: Any,
        stderr: Any,
    ) -> subprocess.Popen[bytes]:
        cpu_s = int(limits.cpu_s) + 1

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
            resource.setrlimit(resource.RLIMIT_FSIZE, (limits.output_bytes + 1,) * 2)

        return subprocess.Popen(
            [*compiled.artifact, *args],
            cwd=folder,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            preexec_fn=limit,
            env={"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0"},
        )

    def _evidence(
        self,
        code: int,
        killed: Any,
        started: float,
        out: Path,
        err: Path,
        limits: Limits,
        files: Mapping[str, bytes],
    ) -> Execution:
        size = out.stat().st_size
        cut = size > limits.output_bytes
        return Execution(
            exit_code=code if code >= 0 and not killed else None,
            signal=-code if code < 0 and not killed else None,
            cpu_s=0.0,
            wall_s=time.monotonic() - started,
            memory_bytes=None,
            stdout=out.read_bytes()[: limits.output_bytes],
            stderr=err.read_bytes()[: limits.stderr_bytes],
            stdout_bytes=size,
            stdout_cut=cut,
            killed_for="output" if cut else killed,
            files=files,
        )


def _wait_for_both(
    processes: Sequence[subprocess.Popen[bytes]],
    walls_s: Sequence[float],
    killed: list[str | None],
    started: float,
    pipe_ends: Sequence[tuple[int, int]],
) -> Literal["first", "second", "both"]:
    """Kill each process at its wall limit, close its pipe ends; return which ended first."""
    watched = {os.pidfd_open(process.pid): i for i, process in enumerate(processes)}
    order: list[list[int]] = []
    while watched:
        now = time.monotonic() - started
        left = min(walls_s[i] for i in watched.values()) - now
        ready = select.select(list(watched), [], [], max(0.0, left))[0]
        if ready:
            order.append([watched[fd] for fd in ready])
        for fd in ready:
            i = watched.pop(fd)
            processes[i].wait()
            _close(fd, *pipe_ends[i])
        for fd, i in list(watched.items()) if not ready else ():
            if walls_s[i] <= time.monotonic() - started:
                killed[i] = "wall"
                processes[i].kill()
                processes[i].wait()  # the other may end in consequence, after it
                order.append([i])
                del watched[fd]
                _close(fd, *pipe_ends[i])
    return "both" if len(order[0]) == 2 else "second" if order[0][0] else "first"


def _close(*descriptors: int) -> None:
    for fd in descriptors:
        os.close(fd)


def _collected(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}
