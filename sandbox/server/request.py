"""Parse and check a request of /api/v2/execute, with Piston's fields and error messages.

    JSON body ─▶ Job (program, data files, limits) ─▶ execute.py

Fields beside Piston's: `stdin_encoding` and `output_encoding` "base64", and `collect`.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gradebox.sandbox import languages
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import MIB, Limits, Program
from gradebox.sandbox.server.layout import (
    ARCHIVE,
    File,
    Placed,
    check_text,
    place,
    read_files,
)
from gradebox.sandbox.server.runtimes import Runtime, find_runtime
from gradebox.sandbox.server.settings import Ceilings, capped

CONFIG, CASE_INPUT, CASE_EXPECTED = "grader_config", "input.txt", "correct_output.txt"


@dataclass(frozen=True)
class Job:
    """One request, ready to run.

    codeforces     it uses the protocol of guipenedo/piston's Codeforces package (codeforces.py)
    main           the user's name of the main file
    compiled_as    its name in a compilation, if another one
    unpacked       its files are unpacked when it runs: they are in folders, or many
    """

    runtime: Runtime
    program: Program
    limits: Limits
    compile_limits: Limits
    ceilings: Ceilings
    stdin: bytes = b""
    args: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    collect: tuple[str, ...] = ()
    base64_output: bool = False
    codeforces: bool = False
    main: str = ""
    compiled_as: str = ""
    unpacked: bool = False


def parse_job(
    body: Any, runtimes: list[Runtime], ceilings: Ceilings, *, talking: bool = False
) -> Job:
    """Return the job of a decoded request. Raises BadRequest with Piston's messages.

    talking  the program is run interactively (connect.py), unless it is the Codeforces package's
    """
    if not isinstance(body, dict):
        raise BadRequest("the request must be a JSON object")
    for name in ("language", "version"):
        if not body.get(name) or not isinstance(body[name], str):
            raise BadRequest(f"{name} is required as a string")
    files = read_files(body.get("files"), ceilings.files_max)
    language, version = body["language"], body["version"]
    names = {f.name for f in files}
    case = CASE_INPUT in names and bool(names & {CONFIG, CASE_EXPECTED})
    runtime = find_runtime(runtimes, language, version, case=case)
    if runtime is None:
        raise BadRequest(f"{language}-{version} runtime is unknown")
    codeforces = case and runtime.codeforces
    if not any(f.utf8 for f in files):
        raise BadRequest("files must include at least one utf8 encoded file")
    limits, compiling = run_limits(body, ceilings), compile_limits(body, ceilings)
    if codeforces:
        placed = _case(runtime, files)
    else:
        placed = place(languages.find(runtime.row), files, talking=talking)
    args = strings(body.get("args"), "args", ceilings.args_max)
    collect = strings(body.get("collect"), "collect", ceilings.files_max)
    return Job(
        runtime=runtime,
        program=placed.program,
        limits=sharing_output(limits, len(collect)),
        compile_limits=compiling,
        ceilings=ceilings,
        stdin=_stdin(body),
        args=(*placed.args, *args),
        files=placed.files,
        collect=collect,
        base64_output=body.get("output_encoding") == "base64",
        codeforces=codeforces,
        main=next((f.name for f in files if f.utf8), ""),
        compiled_as=placed.compiled_as,
        unpacked=ARCHIVE in placed.files,
    )


def _case(runtime: Runtime, files: list[File]) -> Placed:
    """Return a program of the Codeforces package, and all the files of its test (codeforces.py)."""
    main = next(f for f in files if f.utf8)
    alone = replace(main, name=main.name.rpartition("/")[2])
    return replace(place(languages.find(runtime.row), [alone]), files=_contents(files))


def _contents(files: list[File]) -> dict[str, bytes]:
    return {f.name: f.content for f in files}


def _stdin(body: Mapping[str, Any]) -> bytes:
    value = body.get("stdin")
    if value is None:
        return b""
    if not isinstance(value, str):
        raise BadRequest("If specified, stdin must be a string")
    if body.get("stdin_encoding") != "base64":
        return value.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadRequest(f"stdin is not base64: {error}") from error


def strings(value: Any, name: str, most: int) -> tuple[str, ...]:
    """Return a list of at most `most` texts or numbers as texts. Raises BadRequest."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(v, str) or is_number(v) for v in value):
        raise BadRequest(f"If specified, {name} must be an array of strings")
    if len(value) > most:
        raise BadRequest(f"{name} has {len(value)} strings; at most {most}")
    try:
        strings = tuple(v if isinstance(v, str) else f"{v:.17g}" for v in value)  # as in Piston
    except OverflowError:
        raise BadRequest(f"{name} has a number over 1.8e308; give it as a string") from None
    for text in strings:
        check_text(text, name)
    return strings


# ---- limits, with Piston's names and error messages ----


def is_number(value: Any) -> bool:
    """Return whether a JSON value is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _limit(body: Mapping[str, Any], name: str, default: float, ceilings: Ceilings) -> float:
    """Return a limit of a request in Piston's unit; a missing one has the server's default.

    Raises BadRequest, as Piston does, for one that is no number or over the server's.
    """
    value, most = body.get(name), getattr(ceilings, name)
    if not value:
        return default
    if not is_number(value):
        raise BadRequest(f"If specified, {name} must be a number")
    if value < 0 and name.endswith("memory_limit"):
        return default  # Piston's own readme sends -1: it names no limit
    if not value <= most:
        raise BadRequest(f"{name} cannot exceed the configured limit of {most}")
    if value < 0:
        raise BadRequest(f"{name} must be non-negative")
    return float(value)


def run_limits(body: Mapping[str, Any], ceilings: Ceilings) -> Limits:
    """Return the limits of the run. Raises BadRequest."""
    memory = _limit(body, "run_memory_limit", ceilings.run_memory_default, ceilings)
    wanted = Limits(
        cpu_s=_limit(body, "run_cpu_time", ceilings.run_cpu_time_default, ceilings) / 1000,
        wall_s=_limit(body, "run_timeout", ceilings.run_timeout_default, ceilings) / 1000,
        memory_bytes=int(memory),
        output_bytes=ceilings.output_max_size,
        stderr_bytes=ceilings.output_max_size,
    )
    return capped(wanted, ceilings.run_limits())


def compile_limits(body: Mapping[str, Any], ceilings: Ceilings) -> Limits:
    """Return the limits of the compiler. Raises BadRequest."""
    memory = _limit(body, "compile_memory_limit", ceilings.compile_memory_limit // 2, ceilings)
    wanted = Limits(
        cpu_s=_limit(body, "compile_cpu_time", ceilings.compile_cpu_time, ceilings) / 1000,
        wall_s=_limit(body, "compile_timeout", ceilings.compile_timeout, ceilings) / 1000,
        memory_bytes=int(memory),
        output_bytes=256 * MIB,
        file_size_bytes=256 * MIB,
        disk_bytes=512 * MIB,
    )
    return capped(wanted, ceilings.compile_limits())


def sharing_output(limits: Limits, collected: int) -> Limits:
    """Return limits under which collected files together are no larger than the output may be.

    Files with holes cost a program nothing, and an answer their whole size.
    """
    if collected < 2:
        return limits
    return dataclasses.replace(limits, output_bytes=limits.output_bytes // collected)
