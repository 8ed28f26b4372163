"""Parse and check a request of /api/v2/execute, with Piston's fields and error messages.

    JSON body ─▶ Job (program, data files, limits) ─▶ execute.py

Fields beside Piston's: `stdin_encoding` and `output_encoding` "base64", `collect`, and `gradebox`
of gradebox's own client (sandbox/piston/gradebox_server.py).
"""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gradebox.sandbox import languages
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import Limits, Program
from gradebox.sandbox.server.jobs.files import File, read_files, strict_base64
from gradebox.sandbox.server.jobs.layout import ARCHIVE, Placed, place
from gradebox.sandbox.server.jobs.limits import (
    check_ceilings,
    check_text,
    compile_limits,
    gradebox_limits,
    is_number,
    run_limits,
    sharing_output,
)
from gradebox.sandbox.server.jobs.runtimes import Runtime, find_runtime
from gradebox.sandbox.server.settings import Ceilings

CONFIG, CASE_INPUT, CASE_EXPECTED = "grader_config", "input.txt", "correct_output.txt"


@dataclass(frozen=True)
class Job:
    """One request, ready to run.

    codeforces     it uses the protocol of guipenedo/piston's Codeforces package (codeforces.py)
    evidence       gradebox's own client sent it: the answer has the whole evidence
    compile_only   it is not run
    alone          see Sandbox.run
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
    evidence: bool = False
    compile_only: bool = False
    alone: bool = False
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
    own = body.get("gradebox")
    if own is not None and not isinstance(own, dict):
        raise BadRequest("gradebox must be an object: is the client of another version?")
    if own is None and not any(f.utf8 for f in files):
        raise BadRequest("files must include at least one utf8 encoded file")
    check_ceilings(body, ceilings)
    limits, compiling = run_limits(body, ceilings), compile_limits(body, ceilings)
    if own is not None:
        most = ceilings.compile_limits()
        compiling = gradebox_limits(own.get("compile_limits"), most, compiling)
        limits = gradebox_limits(own.get("run_limits"), ceilings.run_limits(), limits)
        placed = _apart(runtime, files, own.get("run_files"))
    elif codeforces:
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
        evidence=own is not None,
        compile_only=own is not None and own.get("run_limits") is None,
        alone=own is not None and own.get("alone") is True,
        codeforces=codeforces,
        main=next((f.name for f in files if f.utf8), ""),
        compiled_as=placed.compiled_as,
        unpacked=ARCHIVE in placed.files,
    )


def _apart(runtime: Runtime, files: list[File], run_files: Any) -> Placed:
    """Return a program whose last `run_files` files belong to its run."""
    if type(run_files) is not int or not 0 <= run_files < len(files):
        raise BadRequest(f"run_files is {str(run_files)[:40]}: fewer than the {len(files)} files")
    at = len(files) - run_files
    return Placed(Program(runtime.row, _contents(files[:at])), files=_contents(files[at:]))


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
        return strict_base64(value)
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
