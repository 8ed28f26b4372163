"""POST /run_code of SandboxFusion: one program, one run.

`run_timeout` and `compile_timeout` are CPU seconds here (programs.py has the wall limit), and
`memory_limit_MB` holds for all memory of a program. What their server takes and this one refuses:
paths that lead out of the working folder, `fetch_files` in folders, limits over the
server's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradebox.eval.api.dialects.bodies import Body, Invalid, Place
from gradebox.eval.api.dialects.fusion.results import fault_answer, run_answer
from gradebox.eval.api.dialects.programs import Asked, ProgramRunner
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import BadRequest, SandboxError, UnknownLanguage
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import MIB
from gradebox.sandbox.server.jobs.layout import check_folders, plain_name, strict_base64
from gradebox.sandbox.server.plugins import Route

NAMES: Mapping[str, str | None] = {
    "python": "python",
    "cpp": "c++17",
    "nodejs": "javascript",
    "go": "go",
    "java": "java",
    "csharp": "c#",
    "rust": "rust",
    "ruby": "ruby",
    **dict.fromkeys(
        (
            *("go_test", "php", "bash", "typescript", "sql", "cuda", "lua", "R", "perl", "D_ut"),
            *("scala", "julia", "pytest", "junit", "kotlin_script", "jest", "verilog"),
            *("python_gpu", "lean", "swift", "racket"),
            *("python2", "gtest", "react"),
        )
    ),
}
COMPILED = ("cpp", "go", "java")  # theirs: the languages with 10 s instead of 20 s a test


def is_name(name: str) -> bool:
    """Return whether a request may name this language: theirs, and those of our table."""
    if name in NAMES:
        return True
    try:
        find(name)
    except UnknownLanguage:
        return False
    return True


def row_of(name: str) -> str | None:
    """Return our name of a language, None for one that cannot run here at all."""
    return NAMES[name] if name in NAMES else find(name).name


def why_not_served(name: str, installed: Mapping[str, str]) -> str | None:
    """Return why no program of a language can run on this server; None when it can."""
    row = row_of(name)
    if row in installed:
        return None
    served = ", ".join(n for n, own in NAMES.items() if own in installed)
    if row is None:
        return f"the language {name} is not served; this server runs {served}"
    return (
        f"the language {name} is not installed on the server's machine ({find(row).install}); it "
        f"runs {served}"
    )


TIMEOUT_S = 10.0
MEMORY_BYTES = 1024 * MIB  # of a program whose request names no limit
COLLECT_MOST = 32
IGNORED = "IGNORE_THIS_FILE"


def run_code(programs: ProgramRunner) -> Route:
    """Return the route."""

    def answer(body: Any, cancelled: Cancellation) -> tuple[int, Any]:
        request = Body(body)
        language = language_of(request, "language")
        asked = _asked(request, language, programs)
        return 200, run_asked(programs, language, asked)

    return answer


def run_asked(programs: ProgramRunner, language: str, asked: Asked) -> dict[str, Any]:
    """Run a program and return the answer; a fault of the machine is one too."""
    unserved = why_not_served(language, programs.installed)
    if unserved:
        return fault_answer(unserved)
    try:
        return run_answer(programs.run(asked))
    except SandboxError as error:
        return fault_answer(f"the sandbox failed: {error}")


def language_of(request: Body, name: str) -> str:
    """Return a language that requests may name. Raises Invalid."""
    value = request.text(name)
    if not is_name(value):
        known = ", ".join(map(repr, NAMES))
        raise request.invalid(name, "literal_error", f"Input should be {known}")
    return value


def _asked(request: Body, language: str, programs: ProgramRunner) -> Asked:
    ceilings, files = programs.ceilings, request.inner("files", {})
    return Asked(
        language=row_of(language) or "",
        code=request.text("code"),
        stdin=(request.optional_text("stdin") or "").encode("utf-8", "surrogatepass"),
        cpu_s=request.number("run_timeout", TIMEOUT_S, ceilings.run_cpu_time / 1000),
        compile_cpu_s=request.number(
            "compile_timeout", TIMEOUT_S, ceilings.compile_cpu_time / 1000
        ),
        memory_bytes=_memory(request, ceilings.run_memory_limit),
        files=read_files(files.values, ceilings.files_max, files.where),
        collect=_collect(request),
    )


def _memory(request: Body, most: int) -> int:
    """Return the memory limit in bytes; -1 and 0 name none, as there."""
    value = request.values.get("memory_limit_MB", -1)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and -1 <= value <= 0:
        return min(MEMORY_BYTES, most)
    return int(request.number("memory_limit_MB", 0, most / MIB) * MIB)


def read_files(given: Mapping[str, Any], most: int, where: Place = ("files",)) -> dict[str, bytes]:
    """Return files, contents in base64 by path, null for none. Raises Invalid."""
    if len(given) > most:
        raise Invalid(where, "too_long", f"Dictionary should have at most {most} items")
    files = {}
    for path, content in given.items():
        if content is None or IGNORED in path:
            continue
        place = (*where, path[:80])
        name = _path(path, place)
        if not isinstance(content, str):
            raise Invalid(place, "string_type", "Input should be a valid string", content)
        try:
            files[name] = decode(content)
        except ValueError as error:
            raise Invalid(place, "value_error", f"the content is not base64: {error}") from None
    try:
        check_folders(set(files))
    except BadRequest as error:
        raise Invalid(where, "value_error", str(error)) from None
    return files


def decode(content: str) -> bytes:
    """Decode base64, which may have line breaks. Raises ValueError."""
    try:
        return strict_base64(content)
    except ValueError:
        return strict_base64("".join(content.split()))


def _collect(request: Body) -> tuple[str, ...]:
    given = request.texts("fetch_files", ())
    if len(given) > COLLECT_MOST:
        message = f"List should have at most {COLLECT_MOST} items"
        raise request.invalid("fetch_files", "too_long", message)
    names = []
    for number, path in enumerate(given):
        where = (*request.where, "fetch_files", number)
        names.append(_path(path, where))
        if "/" in names[-1]:
            message = "only files of the working folder itself are fetched, none in folders"
            raise Invalid(where, "value_error", message, path)
    return tuple(dict.fromkeys(names))


def _path(path: str, where: tuple[str | int, ...]) -> str:
    """Return a path in the working folder in its plainest spelling. Raises Invalid."""
    try:
        return plain_name(path, 0)
    except BadRequest as error:
        message = str(error).partition(" ")[2]
        raise Invalid(where, "value_error", f"the path {message}", path) from None
