"""Jobe's REST API, which Moodle's CodeRunner uses: one program, one run.

    POST …/runs {"run_spec": {"language_id", "sourcecode", "input", "parameters", "file_list"}}
        ─▶ {"run_id", "outcome", "cmpinfo", "stdout", "stderr"}
    404 when a file of file_list is not here ─ PUT …/files/{md5} {"file_contents"} ─▶ 204, and again

| outcome | the program                                          |
|---------|------------------------------------------------------|
| 15      | ended with 0 and wrote nothing to stderr             |
| 11      | did not compile                                      |
| 12      | ended otherwise, wrote too much, or to stderr        |
| 13, 17  | met its time limit, its memory limit                 |
| 21      | was not judged, as the machine failed: nothing is marked |
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from gradebox.eval.api.dialects.common import BODY, optional, read, within
from gradebox.eval.api.dialects.programs import Asked, Ran, text, verdict_of
from gradebox.eval.common.errors import shown
from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.model import MIB
from gradebox.sandbox.server.layout import decode_base64, plain_name
from gradebox.sandbox.server.request import strings
from gradebox.sandbox.server.runtimes import version_of
from gradebox.sandbox.server.settings import Answer, Routes, ServerRequest, telling

if TYPE_CHECKING:
    from gradebox.eval.api.service import GradeService

ROOT = "/jobe/index.php/restapi"
FILES_BYTES = 64 * MIB  # of support files, which are forgotten when others come
LANGUAGES = {
    "c": "c",
    "java": "java",
    "php": "script php",
    "cpp": "c++17",
    "nodejs": "javascript",
    "python3": "python",
}
CPU_S, MEMORY_MIB, PROCESSES, STREAM_MIB = 5.0, 400.0, 30.0, 2.0  # Jobe's
OUTCOMES = {None: 15, "RE": 12, "OLE": 12, "TLE": 13, "MLE": 17}
NOT_COMPILED, NOT_JUDGED = 11, 21
OPTIONS = ("compileargs", "linkargs", "interpreterargs")


class _Spec(msgspec.Struct):
    language_id: str
    sourcecode: str
    input: str | None = ""
    parameters: dict[str, Any] | list[Any] | None = None  # PHP writes [] for no parameters
    file_list: list[list[Any]] | None = None  # [id, name], and what Jobe ignores


class _Asked(msgspec.Struct):
    run_spec: _Spec


class _File(msgspec.Struct):
    file_contents: str


def routes(service: GradeService) -> Routes:
    """Return the routes of this dialect."""
    programs = service.programs
    installed, ceilings = programs.installed, programs.ceilings
    served = {name: row for name, row in LANGUAGES.items() if row in installed}
    versions = [[name, version_of(installed[row], row)] for name, row in served.items()]
    kept: LruCache[str, bytes] = LruCache(FILES_BYTES, cost=lambda data: len(data) + 4096)

    def run(request: ServerRequest) -> Answer:
        spec = read(_Asked, request.body).run_spec
        files, missing = {}, []
        for entry in spec.file_list or ():
            name, path = read(tuple[str, str], entry[:2], (*BODY, "file_list"))
            data = kept.get(name)
            missing += [path] if data is None else []
            files[plain_name(path, 0)] = data or b""
        asked = _asked(spec, files)
        if missing:
            return 404, f"put the file {shown(missing[0])} first, then send the run again"
        try:
            return 200, _answer(programs.run(asked))
        except SandboxError as error:
            return 200, _result(NOT_JUDGED, stderr=str(error))

    def _asked(spec: _Spec, files: Mapping[str, bytes]) -> Asked:
        given = spec.parameters if isinstance(spec.parameters, dict) else {}
        row = served.get(spec.language_id.lower())
        if row is None:
            raise BadRequest(f"no language {shown(spec.language_id)} here: {', '.join(served)}")
        for name in OPTIONS:
            if given.get(name):
                raise BadRequest(
                    f"{name} is refused: this server chooses the options; leave it out"
                )
        if len(files) > ceilings.files_max:
            raise BadRequest(f"file_list has {len(files)} files; at most {ceilings.files_max}")

        def limit(name: str, usual: float, most: float) -> float:
            value = optional(given, name, float)
            # 0 is no limit; runtimes that reserve much memory have limits that no machine has
            none = value == 0 or (name == "memorylimit" and value is not None and value > most)
            return most if none else within(value, usual, most, name)

        return Asked(
            language=row,
            code=spec.sourcecode,
            stdin=(spec.input or "").encode("utf-8", "surrogatepass"),
            cpu_s=limit("cputime", CPU_S, ceilings.run_cpu_time / 1000),
            memory_bytes=int(
                limit("memorylimit", MEMORY_MIB, ceilings.run_memory_limit / MIB) * MIB
            ),
            files=files,
            args=strings(given.get("runargs"), "runargs", ceilings.args_max),
            processes=int(limit("numprocs", PROCESSES, ceilings.max_process_count)) or 1,
            output_bytes=int(limit("streamsize", STREAM_MIB, ceilings.output_max_size / MIB) * MIB),
        )

    def put(request: ServerRequest) -> Answer:
        try:
            data = decode_base64(read(_File, request.body).file_contents)
        except ValueError as error:
            return 400, f"file_contents: {error}"
        name = hashlib.md5(data, usedforsecurity=False).hexdigest()
        if request.parameters["id"] != name:  # a file of another name would become somebody else's
            return 400, f"the file's id must be the MD5 of its contents, which is {name}"
        if len(data) > FILES_BYTES // 4:
            return 400, f"the file has {len(data)} bytes; at most {FILES_BYTES // 4}"
        kept.put(name, data)
        return 204, None

    def head(request: ServerRequest) -> Answer:
        return (404 if kept.get(request.parameters["id"]) is None else 204), None

    return {
        ("GET", f"{ROOT}/languages"): telling(versions),
        ("POST", f"{ROOT}/runs"): run,
        ("PUT", f"{ROOT}/files/{{id}}"): put,
        ("GET", f"{ROOT}/files/{{id}}"): head,
    }


def jobe_form(error: Exception) -> Answer | None:
    """400 what the client has to change."""
    return (400, str(error)) if isinstance(error, BadRequest) else None


def _answer(ran: Ran) -> dict[str, Any]:
    execution, log = ran.execution, text(ran.rejected or ran.compiled.log)
    if execution is None or ran.rejected:
        return _result(NOT_COMPILED, cmpinfo=log or "it did not compile")
    verdict = verdict_of(execution)
    stderr = text(execution.stderr)
    if verdict == "RE" and not stderr:
        stderr = f"ended with exit code {execution.exit_code}, signal {execution.signal}"
    outcome = OUTCOMES[verdict or ("RE" if stderr else None)]
    return _result(outcome, stdout=text(execution.stdout), stderr=stderr)


def _result(outcome: int, **texts: str) -> dict[str, Any]:
    return {"run_id": None, "outcome": outcome, "cmpinfo": "", "stdout": "", "stderr": "", **texts}
