"""A request of /api/v2/execute, read and checked: the same fields and refusals as Piston's.

    JSON body ─▶ Job (program, data files, limits) ─▶ sandbox/server/execute.py

Beside Piston's fields: `stdin_encoding` and `output_encoding` "base64", `collect`; and for
the client of this repository (`gradebox`: 1) `limits`, `compile_limits`, `run_files`,
`compile_only`, `alone` (see sandbox/piston/native.py).
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox import languages
from sandbox.model import Limits, Program
from sandbox.server.runtimes import CODEFORCES, Runtime, choose
from sandbox.server.settings import Ceilings

SOURCES = (".cpp", ".cc", ".cxx", ".c", "")
_FROM_URL = str.maketrans("-_", "+/")
CONFIG, CASE_INPUT = "grader_config", "input.txt"


class Refusal(ValueError):
    """The request is refused with HTTP 400 and this message."""


@dataclass(frozen=True)
class Job:
    """One request, ready to run.

    codeforces  it speaks the Codeforces package's protocol (sandbox/server/codeforces.py)
    native      it comes from sandbox.piston: the answer carries the whole evidence
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
    native: bool = False
    codeforces: bool = False


@dataclass(frozen=True)
class _File:
    name: str
    content: bytes
    utf8: bool


def read_job(body: Any, runtimes: list[Runtime], ceilings: Ceilings) -> Job:
    """Reads a request's JSON; Refusal with Piston's words when it can't be run."""
    if not isinstance(body, dict):
        raise Refusal("the request must be a JSON object")
    for name in ("language", "version"):
        if not body.get(name) or not isinstance(body[name], str):
            raise Refusal(f"{name} is required as a string")
    files = _files(body.get("files"), ceilings)
    language, version = body["language"], body["version"]
    runtime, codeforces = _runtime(language, version, files, runtimes)
    if runtime is None:
        raise Refusal(f"{language}-{version} runtime is unknown")
    native = body.get("gradebox") == 1
    if not native and not any(f.utf8 for f in files):
        raise Refusal("files must include at least one utf8 encoded file")
    _check_ceilings(body, ceilings)
    limits = _run_limits(body, ceilings)
    compile_limits = _compile_limits(body, ceilings)
    if native:
        program = Program(runtime.row, {f.name: f.content for f in files})
        data = {f.name: f.content for f in _files(body.get("run_files", []), ceilings)}
        limits = _own_limits(body.get("limits"), ceilings, limits)
        compile_limits = _own_limits(body.get("compile_limits"), ceilings, compile_limits)
        if body.get("compile_only"):
            compile_limits = limits
    else:
        program, data = _program(runtime, files, codeforces)
    return Job(
        runtime=runtime,
        program=program,
        limits=limits,
        compile_limits=compile_limits,
        ceilings=ceilings,
        stdin=_stdin(body),
        args=_strings(body.get("args"), "args"),
        files=data,
        collect=_strings(body.get("collect"), "collect"),
        base64_output=body.get("output_encoding") == "base64",
        compile_only=native and bool(body.get("compile_only")),
        alone=native and bool(body.get("alone")),
        native=native,
        codeforces=codeforces,
    )


def _runtime(
    language: str, version: str, files: list[_File], runtimes: list[Runtime]
) -> tuple[Runtime | None, bool]:
    """The runtime, and whether this is the Codeforces protocol.

    `c++17` names a language here and one of that package: the files tell which is meant.
    """
    names = {f.name for f in files}
    plain = language.removeprefix("cf_")
    speaks = CASE_INPUT in names and (CONFIG in names or "correct_output.txt" in names)
    if plain in CODEFORCES and (speaks or language != plain):
        here = CODEFORCES[plain]
        found = next((r for r in runtimes if r.row == here and r.runtime == "codeforces"), None)
        return found, speaks
    return choose(runtimes, language, version), False


def _files(value: Any, ceilings: Ceilings) -> list[_File]:
    if not isinstance(value, list):
        raise Refusal("files is required as an array")
    if len(value) > ceilings.files_max:
        raise Refusal(f"{len(value)} files; at most {ceilings.files_max}")
    files = []
    for i, item in enumerate(value):
        if not isinstance(item, dict) or not isinstance(item.get("content"), str):
            raise Refusal(f"files[{i}].content is required as a string")
        name = item.get("name") or f"file{i}.code"
        if not isinstance(name, str) or "/" in name or "\0" in name or name in (".", ".."):
            raise Refusal(f"files[{i}].name is {str(name)[:80]!r}; it must be a plain file name")
        _check_text(name, f"files[{i}].name")
        encoding = item.get("encoding", "utf8")
        files.append(_File(name, _decode(item["content"], encoding, i), _is_utf8(encoding)))
    return files


def _is_utf8(encoding: Any) -> bool:
    return encoding not in ("base64", "hex")


def _decode(content: str, encoding: Any, i: int) -> bytes:
    try:
        if encoding == "base64":
            return _base64(content)
        if encoding == "hex":
            return bytes.fromhex(content)
        return content.encode()
    except (binascii.Error, ValueError) as error:
        raise Refusal(f"files[{i}].content is not {encoding}: {error}") from error


def _base64(text: str) -> bytes:
    """Node's reading of it: lines, the alphabet of URLs and no padding are all taken."""
    packed = "".join(text.split()).rstrip("=").translate(_FROM_URL)
    return base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)


def _check_text(text: str, name: str) -> None:
    """Half a surrogate pair is JSON, and can't be written down in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Refusal(f"{name} is not text: {error}") from error


def _program(
    runtime: Runtime, files: list[_File], codeforces: bool
) -> tuple[Program, dict[str, bytes]]:
    """Source files and data files, told apart as Piston does: utf8 is source."""
    row = languages.find(runtime.row)
    if codeforces:
        data = {f.name: f.content for f in files[1:]}
        return Program(row.name, {row.source: files[0].content}), data
    code = [f for f in files if f.utf8]
    data = {f.name: f.content for f in files if f is not code[0]}
    if row.compile is None:
        return Program(row.name, {f.name: f.content for f in code}), data
    suffixes = {f.name: "." + f.name.rpartition(".")[2] if "." in f.name else "" for f in code}
    units = [f.name for f in code[1:] if suffixes[f.name] in SOURCES]
    if not units:
        return Program(row.name, {row.source: code[0].content, **_rest(code, row.source)}), data
    # Piston hands every source to the compiler at once: one file that includes them all
    names = {f.name: _unit_name(f.name, row.source, i) for i, f in enumerate(code)}
    included = [names[n] for n in (code[0].name, *units)]
    joined = "".join(f'#include "{n}"\n' for n in included).encode()
    sources = {names[f.name]: f.content for f in code}
    return Program(row.name, {"gbx-all" + row.source[4:]: joined, **sources}), data


def _unit_name(name: str, main: str, place: int) -> str:
    """Its own name, unless that is the joined file's or can't stand in an #include.

    A sandbox calls the first file `main` whatever its name: main.cpp would include itself.
    """
    taken = name == main or name.startswith("gbx-")
    return f"gbx-{place}-{main}" if taken or set(name) & set('"\\\r\n') else name


def _rest(code: list[_File], main: str) -> dict[str, bytes]:
    return {f.name: f.content for f in code[1:] if f.name != main}


def _stdin(body: Mapping[str, Any]) -> bytes:
    value = body.get("stdin")
    if value is None:
        return b""
    if not isinstance(value, str):
        raise Refusal("If specified, stdin must be a string")
    if body.get("stdin_encoding") != "base64":
        return value.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refusal(f"stdin is not base64: {error}") from error


def _strings(value: Any, name: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise Refusal(f"If specified, {name} must be an array of strings")
    for text in value:
        _check_text(text, name)
    return tuple(value)


def _check_ceilings(body: Mapping[str, Any], ceilings: Ceilings) -> None:
    for constraint in ("memory_limit", "timeout", "cpu_time"):
        for stage in ("compile", "run"):
            name = f"{stage}_{constraint}"
            value, most = body.get(name), getattr(ceilings, name)
            if not value:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise Refusal(f"If specified, {name} must be a number")
            if not value <= most:
                raise Refusal(f"{name} cannot exceed the configured limit of {most}")
            if value < 0:
                raise Refusal(f"{name} must be non-negative")


def _run_limits(body: Mapping[str, Any], ceilings: Ceilings) -> Limits:
    return Limits(
        cpu_s=(body.get("run_cpu_time") or ceilings.run_cpu_time_default) / 1000,
        wall_s=(body.get("run_timeout") or ceilings.run_timeout_default) / 1000,
        memory_bytes=int(body.get("run_memory_limit") or ceilings.run_memory_default),
        output_bytes=ceilings.output_max_size,
        stderr_bytes=min(1 << 20, ceilings.output_max_size),
    )


def _compile_limits(body: Mapping[str, Any], ceilings: Ceilings) -> Limits:
    return Limits(
        cpu_s=(body.get("compile_cpu_time") or ceilings.compile_cpu_time) / 1000,
        wall_s=(body.get("compile_timeout") or ceilings.compile_timeout) / 1000,
        memory_bytes=int(body.get("compile_memory_limit") or ceilings.compile_memory_limit // 2),
        output_bytes=256 << 20,
        file_size_bytes=256 << 20,
        disk_bytes=512 << 20,
    )


def _own_limits(value: Any, ceilings: Ceilings, otherwise: Limits) -> Limits:
    """Our own client's limits, field by field, within the ceilings."""
    if value is None:
        return otherwise
    kinds = {f.name: f.type for f in dataclasses.fields(Limits)}
    if not isinstance(value, dict) or not set(value) <= set(kinds):
        raise Refusal(f"limits must be an object with fields of {sorted(kinds)}")
    for name, number in value.items():
        wrong = isinstance(number, bool) or not isinstance(number, (int, float))
        if wrong or not 0 <= number < 1e300:  # false for NaN, and exact for any integer
            raise Refusal(f"limit {name} is {str(number)[:40]}; it must be a non-negative number")
        if kinds[name] == "int" and number != int(number):
            raise Refusal(f"limit {name} is {number}; it must be a whole number")
    limits = dataclasses.replace(otherwise, **value)
    most = {
        "cpu_s": ceilings.run_cpu_time / 1000,
        "wall_s": ceilings.run_timeout / 1000,
        "memory_bytes": ceilings.run_memory_limit,
    }
    for name, ceiling in most.items():
        if getattr(limits, name) > ceiling:
            raise Refusal(
                f"limit {name} of {getattr(limits, name)} cannot exceed the configured limit "
                f"of {ceiling}"
            )
    return limits
