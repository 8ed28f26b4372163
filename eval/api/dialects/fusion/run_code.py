"""POST /run_code of SandboxFusion: one program, one run; and its answers about runs.

`run_timeout` and `compile_timeout` are CPU seconds here (programs.py has the wall limit), and
`memory_limit_MB` holds for all memory of a program. SandboxFusion's server takes, and ours refuses:
paths that lead out of the working folder, `fetch_files` in folders, limits over those
of our server.

    Ran ─▶ {"status", "message", "compile_result", "run_result", "executor_pod_name", "files"}
           and, beside their fields: cpu_time (s), memory_bytes, verdict. Their client knows
           cpu_time in compile_result and run_result, so cpu_time is there too.

| the program                       | status  | run_result.status | return_code | verdict |
|-----------------------------------|---------|-------------------|-------------|---------|
| ended with 0                      | Success | Finished          | 0           | null    |
| ended with another code, a signal | Failed  | Finished          | code, -n    | RE      |
| met its CPU or wall limit         | Failed  | TimeLimitExceeded | null        | TLE     |
| met its memory limit              | Failed  | Finished          | -9          | MLE     |
| wrote too much                    | Failed  | Finished          | -9          | OLE     |
| did not compile                   | Failed  | null              | –           | CE      |

SandboxError is for the machine only: nothing that a program does leads to it.
"""

from __future__ import annotations

import base64
import contextlib
import signal
from collections.abc import Mapping
from typing import Any

import msgspec

from gradebox.eval.api.dialects.common import BODY, Place, invalid, read, within
from gradebox.eval.api.dialects.programs import Asked, ProgramRunner, Ran, text, verdict_of
from gradebox.sandbox.errors import BadRequest, SandboxError, UnknownLanguage
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import MIB, Compiled, Execution
from gradebox.sandbox.server.layout import check_folders, decode_base64, plain_name
from gradebox.sandbox.server.settings import Answer, Route, ServerRequest

NAMES: Mapping[str, str] = {
    "python": "python",
    "cpp": "c++17",
    "nodejs": "javascript",
    "go": "go",
    "java": "java",
    "csharp": "c#",
    "rust": "rust",
    "ruby": "ruby",
    **{name: f"script {name}" for name in ("bash", "perl", "lua", "php", "sql")},
}
COMPILED = ("cpp", "go", "java")  # their names of the languages with 10 s, not 20 s, for a test


def is_name(name: str) -> bool:
    """Return whether a request may name this language: their names, and those of our table."""
    with contextlib.suppress(UnknownLanguage):
        return bool(find(NAMES.get(name, name)))
    return False


def row_of(name: str, installed: Mapping[str, str]) -> str:
    """Return our name of a language.

    Raises BadRequest for a language that is not installed, instead of answering `Failed`: clients
    would take the program for wrong.
    """
    row = find(NAMES.get(name, name))
    if row.name in installed:
        return row.name
    served = ", ".join(n for n, own in NAMES.items() if own in installed)
    raise BadRequest(
        f"the language {name} is not installed on the server's machine ({row.install}); it runs "
        f"{served}"
    )


TIMEOUT_S = 10.0
COLLECT_MOST = 32
IGNORED = "IGNORE_THIS_FILE"


class _Fields(msgspec.Struct):
    code: str
    language: str
    stdin: str | None = None
    run_timeout: float | None = None
    compile_timeout: float | None = None
    memory_limit_MB: float | None = None
    files: dict[str, str | None] = {}
    fetch_files: list[str] = []


def run_code(programs: ProgramRunner) -> Route:
    """Return the route."""
    ceilings = programs.ceilings

    def answer(request: ServerRequest) -> Answer:
        fields = read(_Fields, request.body)
        check_language(fields.language, "language")
        run_s, compile_s = (
            within(value, TIMEOUT_S, ceilings.run_cpu_time / 1000, name)
            for name, value in (
                ("run_timeout", fields.run_timeout),
                ("compile_timeout", fields.compile_timeout),
            )
        )
        asked = Asked(
            language=row_of(fields.language, programs.installed),
            code=fields.code,
            cpu_s=run_s,
            stdin=(fields.stdin or "").encode("utf-8", "surrogatepass"),
            compile_cpu_s=compile_s,
            memory_bytes=_memory(fields.memory_limit_MB, ceilings.run_memory_limit),
            files=read_files(fields.files, ceilings.files_max, (*BODY, "files")),
            collect=_collect(fields.fetch_files),
        )
        try:
            return 200, run_answer(programs.run(asked))
        except SandboxError as error:
            why = f"the sandbox failed: {error}"
            return 200, {**blank("SandboxError"), "message": why, "verdict": "ER"}

    return answer


def check_language(name: str, *where: str) -> None:
    """Raise BadRequest for a language that requests may not name."""
    if not is_name(name):
        known = ", ".join(map(repr, NAMES))
        raise invalid((*BODY, *where), f"Input should be {known}", name)


def _memory(megabytes: float | None, most: int) -> int | None:
    """Return the memory limit in bytes; -1 and 0 name none, as there."""
    if megabytes is None or -1 <= megabytes <= 0:
        return None
    return int(within(megabytes, 0, most / MIB, "memory_limit_MB") * MIB)


def read_files(given: Mapping[str, Any], most: int, where: Place = ("files",)) -> dict[str, bytes]:
    """Return files, contents in base64 by path, null for none. Raises BadRequest."""
    if len(given) > most:
        raise invalid(where, f"Dictionary should have at most {most} items")
    files = {}
    for path, content in given.items():
        if content is None or IGNORED in path:
            continue
        place = (*where, path[:80])
        name = _path(path, place)
        if not isinstance(content, str):
            raise invalid(place, "Input should be a valid string", content)
        try:
            files[name] = decode_base64(content)
        except ValueError as error:
            raise invalid(place, f"the content is not base64: {error}") from None
    try:
        check_folders(set(files))
    except BadRequest as error:
        raise invalid(where, str(error)) from None
    return files


def _collect(given: list[str]) -> tuple[str, ...]:
    where = (*BODY, "fetch_files")
    if len(given) > COLLECT_MOST:
        raise invalid(where, f"List should have at most {COLLECT_MOST} items", given)
    names = []
    for number, path in enumerate(given):
        names.append(_path(path, (*where, number)))
        if "/" in names[-1]:
            message = "only files of the working folder itself are fetched, none in folders"
            raise invalid((*where, number), message, path)
    return tuple(dict.fromkeys(names))


def _path(path: str, where: Place) -> str:
    """Return a path in the working folder in its plainest spelling. Raises BadRequest."""
    try:
        return plain_name(path, 0)
    except BadRequest as error:
        message = str(error).partition(" ")[2]
        raise invalid(where, f"the path {message}", path) from None


# ---- answers ----

Times = tuple[float | None, float | None]  # wall and CPU seconds
UNTIMED: Times = (0.0, 0.0)  # the times of a command that did not have to run
_FAILED = frozenset({"TLE", "MLE", "RE", "OLE", "CE"})
_KILLED = frozenset({"MLE", "OLE"})


def run_answer(ran: Ran) -> dict[str, Any]:
    """Return the answer of POST /run_code."""
    execution = ran.execution
    answer = blank("Failed")
    if ran.compiles:
        answer["compile_result"] = _compile_result(ran.compiled)
    if execution is None:
        return {**answer, "verdict": "CE"}
    verdict = verdict_of(execution)
    return {
        **answer,
        "status": "Failed" if verdict else "Success",
        "run_result": command_result(
            verdict,
            _return_code(execution),
            (execution.wall_s, execution.cpu_s),
            text(execution.stdout),
            text(execution.stderr),
        ),
        "files": {name: base64.b64encode(data).decode() for name, data in execution.files.items()},
        "cpu_time": round(execution.cpu_s, 6),
        "memory_bytes": execution.memory_bytes,
        "verdict": verdict,
    }


def case_answer(test: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer about a test of a grading, from its record.

    A program that ended well with a wrong output has the status Success.
    """
    verdict, compiled = test["verdict"], record["compile"]
    answer = blank("Failed" if verdict in _FAILED else "Success")
    answer |= {"verdict": verdict, "cpu_time": test["cpu_s"], "memory_bytes": test["memory_bytes"]}
    if verdict == "CE":
        log = str(compiled.get("log") or record["error"])
        return {**answer, "compile_result": command_result("CE", 1, UNTIMED, "", log)}
    if find(record["language"]).compile is not None:
        log = str(compiled.get("log") or "")
        answer["compile_result"] = command_result(None, 0, UNTIMED, "", log)
    code = test["exit_code"]
    if code is None or (verdict in _KILLED and not code):
        code = -(test["signal"] or signal.SIGKILL)
    times = test["wall_s"], test["cpu_s"]
    run = command_result(verdict, code, times, test["output"], test["stderr"])
    return {**answer, "run_result": run}


def blank(status: str) -> dict[str, Any]:
    """Return an answer without results."""
    return {
        "status": status,
        "message": "",
        "compile_result": None,
        "run_result": None,
        "executor_pod_name": None,
        "files": {},
        "cpu_time": None,
        "memory_bytes": None,
        "verdict": None,
    }


def command_result(
    verdict: str | None,
    code: int | None,
    times: Times,
    stdout: str,
    stderr: str,
) -> dict[str, Any]:
    """Return a command's part of an answer."""
    late = verdict == "TLE"
    return {
        "status": "TimeLimitExceeded" if late else "Finished",
        "execution_time": times[0],
        "cpu_time": times[1],
        "return_code": None if late else code,
        "stdout": stdout,
        "stderr": stderr,
    }


def _return_code(execution: Execution) -> int:
    """Return what Python's subprocess reports: a signal as a negative number."""
    if execution.killed_for is not None:
        return -signal.SIGKILL
    return execution.exit_code or -(execution.signal or 0)


def _compile_result(compiled: Compiled) -> dict[str, Any]:
    execution = compiled.execution
    late = execution is not None and execution.killed_for in ("cpu", "wall")
    code = 0
    if not compiled.ok:
        code = 1 if execution is None else _return_code(execution) or 1
    times = UNTIMED
    if execution is not None and not compiled.cached:
        times = execution.wall_s, execution.cpu_s
    return command_result("TLE" if late else None, code, times, "", text(compiled.log))
