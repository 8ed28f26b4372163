"""Parse and check a request of /api/v2/execute, with Piston's fields and error messages.

    JSON body ─▶ Job (program, data files, limits) ─▶ sandbox/server/execute.py

Fields beside Piston's: `stdin_encoding` and `output_encoding` "base64", and `collect`. Requests
of gradebox's own client (`gradebox`: 1) may also have `limits`, `compile_limits`, `run_files`,
`compile_only` and `alone` (sandbox/piston/gradebox_server.py).
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gradebox.sandbox import languages
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import MIB, Limits, Program
from gradebox.sandbox.server.runtimes import Runtime, find_runtime
from gradebox.sandbox.server.settings import Ceilings, capped, check_limits

SOURCE_SUFFIXES = (".cpp", ".cc", ".cxx", ".c", "")
_FROM_URL = str.maketrans("-_", "+/")
CONFIG, CASE_INPUT, CASE_EXPECTED = "grader_config", "input.txt", "correct_output.txt"


@dataclass(frozen=True)
class Job:
    """One request, ready to run.

    codeforces     it uses the protocol of guipenedo/piston's Codeforces package (codeforces.py)
    from_gradebox  gradebox's own client sent it: the answer has the whole evidence
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
    compile_only: bool = False
    alone: bool = False
    from_gradebox: bool = False
    codeforces: bool = False


@dataclass(frozen=True)
class _File:
    name: str
    content: bytes
    utf8: bool


def parse_job(body: Any, runtimes: list[Runtime], ceilings: Ceilings) -> Job:
    """Return the job of a decoded request. Raises BadRequest with Piston's messages."""
    if not isinstance(body, dict):
        raise BadRequest("the request must be a JSON object")
    for name in ("language", "version"):
        if not body.get(name) or not isinstance(body[name], str):
            raise BadRequest(f"{name} is required as a string")
    files = _files(body.get("files"), ceilings)
    language, version = body["language"], body["version"]
    names = {f.name for f in files}
    case = CASE_INPUT in names and bool(names & {CONFIG, CASE_EXPECTED})
    runtime = find_runtime(runtimes, language, version, case=case)
    if runtime is None:
        raise BadRequest(f"{language}-{version} runtime is unknown")
    codeforces = case and runtime.codeforces
    from_gradebox = body.get("gradebox") == 1
    if not from_gradebox and not any(f.utf8 for f in files):
        raise BadRequest("files must include at least one utf8 encoded file")
    _check_ceilings(body, ceilings)
    limits = _run_limits(body, ceilings)
    compile_limits = _compile_limits(body, ceilings)
    if from_gradebox:
        program = Program(runtime.row, {f.name: f.content for f in files})
        data = {f.name: f.content for f in _files(body.get("run_files", []), ceilings)}
        most, compile_most = ceilings.run_limits(), ceilings.compile_limits()
        given, compile_given = body.get("limits"), body.get("compile_limits")
        if body.get("compile_only"):  # then `limits` are the compiler's
            given, compile_given = None, given
        limits = _gradebox_limits(given, most, limits)
        compile_limits = _gradebox_limits(compile_given, compile_most, compile_limits)
    else:
        program, data = _program(runtime, files, codeforces)
    return Job(
        runtime=runtime,
        program=program,
        limits=limits,
        compile_limits=compile_limits,
        ceilings=ceilings,
        stdin=_stdin(body),
        args=_strings(body.get("args"), "args", ceilings.args_max),
        files=data,
        collect=_strings(body.get("collect"), "collect", ceilings.files_max),
        base64_output=body.get("output_encoding") == "base64",
        compile_only=from_gradebox and bool(body.get("compile_only")),
        alone=from_gradebox and bool(body.get("alone")),
        from_gradebox=from_gradebox,
        codeforces=codeforces,
    )


def _files(value: Any, ceilings: Ceilings) -> list[_File]:
    if not isinstance(value, list):
        raise BadRequest("files is required as an array")
    if len(value) > ceilings.files_max:
        raise BadRequest(f"the request has {len(value)} files; at most {ceilings.files_max}")
    files = []
    for i, item in enumerate(value):
        if not isinstance(item, dict) or not isinstance(item.get("content"), str):
            raise BadRequest(f"files[{i}].content is required as a string")
        name = item.get("name") or f"file{i}.code"
        if not isinstance(name, str) or "/" in name or "\0" in name or name in (".", ".."):
            raise BadRequest(f"files[{i}].name is {str(name)[:80]!r}; it must be a plain file name")
        _check_text(name, f"files[{i}].name")
        encoding = item.get("encoding", "utf8")
        content = _decode(item["content"], encoding, i)
        files.append(_File(name, content, encoding not in ("base64", "hex")))
    return files


def _decode(content: str, encoding: Any, i: int) -> bytes:
    try:
        if encoding == "base64":
            return _base64(content)
        if encoding == "hex":
            return bytes.fromhex(content)
        return content.encode()
    except (binascii.Error, ValueError) as error:
        raise BadRequest(f"files[{i}].content is not {encoding}: {error}") from error


def _base64(text: str) -> bytes:
    """Decode base64 as Node does: line breaks, the URL alphabet and no padding are allowed."""
    with contextlib.suppress(binascii.Error):
        return _strict_base64(text)  # without the copies below
    packed = "".join(text.split()).rstrip("=").translate(_FROM_URL)
    return base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)


def _strict_base64(text: str) -> bytes:
    """Decode base64 in pieces, so that other threads run in between. Raises binascii.Error."""
    size = 4 << 20
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    if any("=" in piece for piece in pieces[:-1]):
        raise binascii.Error("there is padding before the end")
    return b"".join(base64.b64decode(piece, validate=True) for piece in pieces)


def _check_text(text: str, name: str) -> None:
    """Refuse half a surrogate pair, which JSON allows and UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadRequest(f"{name} is not text: {error}") from error


def _program(
    runtime: Runtime, files: list[_File], codeforces: bool
) -> tuple[Program, dict[str, bytes]]:
    """Return the program and its data files; as in Piston, utf8 files are sources."""
    row = languages.find(runtime.row)
    if codeforces:
        data = {f.name: f.content for f in files[1:]}
        return Program(row.name, {row.source: files[0].content}), data
    code = [f for f in files if f.utf8]
    main = code[0]
    data = {f.name: f.content for f in files if f is not main}
    if row.compile is None:
        return Program(row.name, {f.name: f.content for f in code}), data
    units = [f.name for f in code[1:] if _suffix(f.name) in SOURCE_SUFFIXES]
    if not units:
        others = {f.name: f.content for f in code[1:] if f.name != row.source}
        return Program(row.name, {row.source: main.content, **others}), data
    # Piston passes every source to the compiler. Here one file includes them all.
    names = {f.name: _included_name(f.name, row.source, i) for i, f in enumerate(code)}
    included = "".join(f'#include "{names[n]}"\n' for n in (main.name, *units))
    sources = {names[f.name]: f.content for f in code}
    return Program(row.name, {"gbx-all" + row.source[4:]: included.encode(), **sources}), data


def _suffix(name: str) -> str:
    return "." + name.rpartition(".")[2] if "." in name else ""


def _included_name(name: str, main: str, place: int) -> str:
    """Return the name of an included source: its own, unless that would not work.

    A sandbox names the first file `main`, so an included main.cpp would include itself; quotes
    and line breaks cannot be in an #include.
    """
    unusable = name == main or name.startswith("gbx-") or set(name) & set('"\\\r\n')
    return f"gbx-{place}-{main}" if unusable else name


def _stdin(body: Mapping[str, Any]) -> bytes:
    value = body.get("stdin")
    if value is None:
        return b""
    if not isinstance(value, str):
        raise BadRequest("If specified, stdin must be a string")
    if body.get("stdin_encoding") != "base64":
        return value.encode("utf-8", "surrogatepass")
    try:
        return _strict_base64(value)
    except (binascii.Error, ValueError) as error:
        raise BadRequest(f"stdin is not base64: {error}") from error


def _strings(value: Any, name: str, most: int) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise BadRequest(f"If specified, {name} must be an array of strings")
    if len(value) > most:
        raise BadRequest(f"{name} has {len(value)} strings; at most {most}")
    for text in value:
        _check_text(text, name)
    return tuple(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_ceilings(body: Mapping[str, Any], ceilings: Ceilings) -> None:
    for constraint in ("memory_limit", "timeout", "cpu_time"):
        for stage in ("compile", "run"):
            name = f"{stage}_{constraint}"
            value, most = body.get(name), getattr(ceilings, name)
            if not value:
                continue
            if not _is_number(value):
                raise BadRequest(f"If specified, {name} must be a number")
            if value < 0 and constraint == "memory_limit":
                continue  # Piston's own readme sends -1: it names no limit
            if not value <= most:
                raise BadRequest(f"{name} cannot exceed the configured limit of {most}")
            if value < 0:
                raise BadRequest(f"{name} must be non-negative")


def _memory(body: Mapping[str, Any], stage: str, default: int) -> int:
    """Return the memory limit of a stage in bytes; a negative one counts as missing."""
    value = body.get(f"{stage}_memory_limit") or 0
    return int(value) if value > 0 else default


def _run_limits(body: Mapping[str, Any], ceilings: Ceilings) -> Limits:
    wanted = Limits(
        cpu_s=(body.get("run_cpu_time") or ceilings.run_cpu_time_default) / 1000,
        wall_s=(body.get("run_timeout") or ceilings.run_timeout_default) / 1000,
        memory_bytes=_memory(body, "run", ceilings.run_memory_default),
        output_bytes=ceilings.output_max_size,
        stderr_bytes=MIB,
    )
    return capped(wanted, ceilings.run_limits())


def _compile_limits(body: Mapping[str, Any], ceilings: Ceilings) -> Limits:
    wanted = Limits(
        cpu_s=(body.get("compile_cpu_time") or ceilings.compile_cpu_time) / 1000,
        wall_s=(body.get("compile_timeout") or ceilings.compile_timeout) / 1000,
        memory_bytes=_memory(body, "compile", ceilings.compile_memory_limit // 2),
        output_bytes=256 * MIB,
        file_size_bytes=256 * MIB,
        disk_bytes=512 * MIB,
    )
    return capped(wanted, ceilings.compile_limits())


def _gradebox_limits(value: Any, most: Limits, default: Limits) -> Limits:
    """Return the limits of gradebox's own client; a field that is missing has its default.

    most  the ceiling of each limit
    """
    if value is None:
        return default
    types = {f.name: f.type for f in dataclasses.fields(Limits)}
    if not isinstance(value, dict) or not set(value) <= set(types):
        raise BadRequest(f"limits must be an object with fields of {sorted(types)}")
    for name, number in value.items():
        if not _is_number(number) or not 0 <= number < 1e300:  # false for NaN, exact for integers
            raise BadRequest(
                f"limit {name} is {str(number)[:40]}; it must be a non-negative number"
            )
        if types[name] == "int" and number != int(number):
            raise BadRequest(f"limit {name} is {number}; it must be a whole number")
    limits = dataclasses.replace(default, **value)
    check_limits(limits, most)
    return limits
