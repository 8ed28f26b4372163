"""Build, run and judge one exported case: python3 run.py

NO SANDBOX: program and checker run as you. Only their CPU time and wall time are limited.

`gradebox debug --export` copies this file, and the modules that it imports as the package
`judging`: the code that found the verdict in the run finds it here.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from threading import Timer
from typing import IO, Any, cast

from gradebox.checkers import long_outputs
from gradebox.checkers.builtins import builtin
from gradebox.checkers.check import Check, Checker
from gradebox.checkers.interactive import Interactor, judge_interaction
from gradebox.checkers.programs import ProgramChecker
from gradebox.checkers.protocols import PROTOCOLS, TESTS
from gradebox.checkers.values.judging import JUDGES
from gradebox.eval.grading.time_policy import run_limits
from gradebox.eval.grading.verdict import Bounds, Match, compare_output, judge, whole_output
from gradebox.eval.problems.problem import TestCase
from gradebox.sandbox import languages, python_compile
from gradebox.sandbox.model import Compiled, Execution, Interaction, Limits, Program
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.source_tokens import other_sources


class PlainRuns:
    """The part of a `Sandbox` that judging needs: subprocesses, each in a new folder of `root`."""

    capabilities = frozenset(("interact",))

    def __init__(self, root: str) -> None:
        self._root = root

    def compile(self, program: Program) -> Compiled:
        """Compile a program; end the process for a language that needs more than one command."""
        language, (main, *_) = languages.find(program.language), program.files
        if language.output or language.then:
            sys.exit(f"run.py cannot build {language.name}: build and run solution/{main} yourself")
        folder, tool = self._folder(program.files), language.tool[0]
        if language.family == "python":
            hook = self._folder({python_compile.HOOK_NAME: python_compile.HOOK})
            command = python_compile.command([tool, main], str(hook), main)
        elif language.compile is None:
            return Compiled(program, ok=True, artifact=folder)
        else:
            places = {"{source}": main, "{binary}": "program"}
            words = [languages.fill(word, places) for word in language.compile]
            command = [tool, *words, *other_sources(language.family, program.files)]
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        python_ok = done.returncode != python_compile.REJECTED
        ok = python_ok if language.family == "python" else done.returncode == 0
        return Compiled(program, ok, done.stdout, artifact=folder)

    def run(
        self, compiled: Compiled, limits: Limits, *, stdin: bytes = b"", **how: Any
    ) -> Execution:
        """See `Sandbox.run`."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as written:
            given.write(stdin)
            given.seek(0)
            run = _Run(compiled, limits, self._folder(how.pop("files", {})), given, written, **how)
            execution = _wait([run])[0][1]
            size = written.seek(0, os.SEEK_END)
            written.seek(0)
            output, cut = written.read(limits.output_bytes), size > limits.output_bytes
        return replace(execution, stdout=output, stdout_bytes=size, stdout_cut=cut)

    def interact(
        self, first: Compiled, second: Compiled, limits: Limits, second_limits: Limits, **how: Any
    ) -> Interaction:
        """See `Sandbox.interact`."""
        pipes = *os.pipe(), *os.pipe()
        args, files = how["second_args"], self._folder(how["second_files"])
        one = _Run(first, limits, self._folder({}), pipes[0], pipes[3])
        other = _Run(second, second_limits, files, pipes[2], pipes[1], args, how["second_collect"])
        for end in pipes:
            os.close(end)
        ended = _wait([one, other])
        found = dict(ended)
        return Interaction(found[one], found[other], "first" if ended[0][0] is one else "second")

    def _folder(self, files: Mapping[str, bytes]) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self._root))
        for name, data in files.items():
            (folder / name).write_bytes(data)
        return folder


class _Run:
    """A started program. Its stderr goes to a file outside its folder."""

    def __init__(
        self,
        compiled: Compiled,
        limits: Limits,
        folder: Path,
        stdin: IO[bytes] | int,
        stdout: IO[bytes] | int,
        args: Sequence[str] = (),
        collect: Sequence[str] = (),
    ) -> None:
        language, (main, *_) = languages.find(compiled.program.language), compiled.program.files
        places = {
            "{tool}": language.tool[0],
            "{source}": str(compiled.artifact / main),
            "{binary}": str(compiled.artifact / "program"),
            **languages.memory_places(limits.memory_bytes),
        }
        self._limits, self._wanted = limits, [folder / name for name in collect]
        self._stderr, self._began = folder.with_suffix(".stderr"), time.monotonic()
        self._stopped = False
        with self._stderr.open("wb") as stderr:
            self.process = subprocess.Popen(
                [*(languages.fill(word, places) for word in language.run), *args],
                cwd=folder,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env={**os.environ, "PYTHONHASHSEED": "0"},
                preexec_fn=self._limit,
            )
        self._timer = Timer(limits.wall_s, self._stop)
        self._timer.start()

    def _limit(self) -> None:
        cpu_s, stack = ceil(self._limits.cpu_s), resource.getrlimit(resource.RLIMIT_STACK)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
        resource.setrlimit(resource.RLIMIT_STACK, (stack, stack))
        output = self._limits.output_bytes + 1  # one more is seen as cut
        resource.setrlimit(resource.RLIMIT_FSIZE, (output, output))

    def _stop(self) -> None:
        self._stopped = True
        self.process.kill()

    def execution(self, status: int, used: resource.struct_rusage) -> Execution:
        """Return the evidence of the run, which has ended; without its stdout."""
        self._timer.cancel()
        end = self.process.returncode = os.waitstatus_to_exitcode(status)
        cpu_s = used.ru_utime + used.ru_stime
        over_cpu = end == -signal.SIGXCPU or (end < 0 and cpu_s >= self._limits.cpu_s)
        return Execution(
            exit_code=end if end >= 0 else None,
            signal=-end if end < 0 else None,
            cpu_s=cpu_s,
            wall_s=time.monotonic() - self._began,
            memory_bytes=used.ru_maxrss * 1024,
            stderr=self._stderr.read_bytes()[: self._limits.stderr_bytes],
            killed_for="cpu" if over_cpu else "wall" if self._stopped else None,
            files={path.name: path.read_bytes() for path in self._wanted if path.is_file()},
        )


def _wait(runs: Sequence[_Run]) -> list[tuple[_Run, Execution]]:
    """Return the evidence of runs in the order in which they ended."""
    by_pid, ended = {run.process.pid: run for run in runs}, []
    while by_pid:
        pid, status, used = os.wait4(-1, 0)
        run = by_pid.pop(pid)
        ended.append((run, run.execution(status, used)))
    return ended


class _Values:
    """The comparison of values that calls returned."""

    def __init__(self, name: str) -> None:
        self._name = name

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        return JUDGES[self._name](output, expected)


def _judge(about: Mapping[str, Any], folder: Path, sandbox: Sandbox) -> Checker | Interactor | None:
    """Return what judges outputs; None where they are compared with the expected one."""
    name = about["name"]
    if "protocol" not in about:
        values = cast("Checker", _Values(name)) if name in JUDGES else None
        return values or (builtin(name) if name else None)
    protocol = {**PROTOCOLS, "tests": TESTS}[about["protocol"]]
    program = _program(about, folder)
    how: Any = {"extra_args": tuple(about["args"]), "full_points": about["full_points"]}
    kind = Interactor if about["interactive"] else ProgramChecker
    return kind(sandbox, protocol, program, name=name, **how)


def _program(about: Mapping[str, Any], folder: Path) -> Program:
    return Program(
        about["language"], {name: (folder / name).read_bytes() for name in about["files"]}
    )


def run_case(case: Path, root: str) -> str:
    """Return the verdict with its reason; write output.txt and stderr.txt.

    root  a folder for what is built and run
    """
    about: dict[str, Any] = json.loads((case / "case.json").read_bytes())
    sandbox = cast("Sandbox", PlainRuns(root))
    compiled = sandbox.compile(_program(about, case / "solution"))
    if not compiled.ok:
        print(compiled.log.decode("utf-8", "backslashreplace"))
        return "CE compile_error: the program does not compile"
    given, expected = ((case / name).read_bytes() for name in ("input.txt", "expected.txt"))
    bounds, (read, written) = Bounds(about["cpu_s"], about["memory_bytes"]), about["names"]
    asked = _judge(about["judge"], case / "checker", sandbox)
    found: Match | Check | None
    output: bytes | None
    if isinstance(asked, Interactor):
        result = judge_interaction(sandbox, compiled, asked, given, expected, run_limits(bounds))
        ran, output, found = result.execution, b"", result.check
        x = ran if found.accepted else result.execution_for_verdict
    else:
        x = ran = sandbox.run(
            compiled,
            run_limits(bounds, len(expected)),
            stdin=b"" if read else given,
            files={read: given} if read else {},
            collect=(written,) if written else (),
        )
        output, found = x.files.get(written) if written else x.stdout, None
        if whole_output(x, bounds):
            test = TestCase("official", 0, given, expected)
            found = compare_output(test, output, asked, about["compare"], written)
    (case / "output.txt").write_bytes(output or b"")
    (case / "stderr.txt").write_bytes(ran.stderr)
    end = f"signal {ran.signal}" if ran.signal else f"exit status {ran.exit_code}"
    print(f"program: {end}, {ran.cpu_s:.2f} s of CPU time")
    if ran.stderr:
        print("stderr:", ran.stderr.decode("utf-8", "backslashreplace"), sep="\n")
    judged = judge(x, bounds, found)
    return f"{judged.verdict} {judged.reason}" + (f": {judged.error}" if judged.error else "")


if __name__ == "__main__":
    long_outputs.SHORT_BYTES = sys.maxsize  # no workers: nothing is isolated here
    with tempfile.TemporaryDirectory() as folder:
        verdict = run_case(Path(__file__).resolve().parent, folder)
    print("verdict:", verdict)
    sys.exit(not verdict.startswith("AC "))
