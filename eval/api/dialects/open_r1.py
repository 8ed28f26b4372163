"""open-r1's routers of E2B and of MorphCloud sandboxes: POST /execute_batch.

    {"scripts", "languages", "timeout", "request_timeout"} ─▶ one of these for each script:
        {"execution": {"results": [{"text"}], "logs", "error", …}, "text", "exception_str"}

The first field is for RoutedSandbox, the others for RoutedMorphSandbox. A Python script runs as a
notebook's cell: its text is the value of the last expression, or else its stdout. `timeout` is CPU
seconds. A script that met a limit has no execution, and an empty text, which MorphProvider counts
as 0: with null it would count the whole batch as 0.
"""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gradebox.eval.api.dialects.common import BODY, invalid, read
from gradebox.eval.api.dialects.programs import Asked, Ran, text, verdict_of
from gradebox.sandbox.errors import UnknownLanguage
from gradebox.sandbox.languages import find
from gradebox.sandbox.server.settings import Answer, Routes, ServerRequest

if TYPE_CHECKING:
    from gradebox.eval.api.service import GradeService

SCRIPTS_MOST = 1024
CELL = Path(__file__).with_name("cell.py").read_text("utf-8")
LIMITS = {"TLE": "time", "MLE": "memory", "OLE": "output"}


class _Asked(msgspec.Struct):
    scripts: list[str]
    languages: list[str]
    timeout: float


class _Cell(msgspec.Struct):
    text: str | None
    error: dict[str, str] | None


def routes(service: GradeService) -> Routes:
    """Return the routes of this dialect."""
    programs = service.programs
    most_s = programs.ceilings.run_cpu_time / 1000

    def execute_batch(request: ServerRequest) -> Answer:
        asked = read(_Asked, request.body)
        if len(asked.scripts) != len(asked.languages):
            message = f"has {len(asked.languages)} elements for {len(asked.scripts)} scripts"
            raise invalid((*BODY, "languages"), message)
        if len(asked.scripts) > SCRIPTS_MOST:
            message = (
                f"has {len(asked.scripts)} elements; at most {SCRIPTS_MOST}: send more batches"
            )
            raise invalid((*BODY, "scripts"), message)
        if not asked.timeout > 0:  # also for NaN
            raise invalid((*BODY, "timeout"), "must be over 0", asked.timeout)
        seconds = min(asked.timeout, most_s)
        # all scripts together write as much as a program may
        most_bytes = programs.ceilings.output_max_size // max(1, len(asked.scripts))

        def one(script: str, language: str) -> dict[str, Any]:
            return (
                {} if request.cancelled.is_cancelled else run(script, language, seconds, most_bytes)
            )

        with ThreadPoolExecutor(programs.sandbox.slots) as pool:
            try:
                return 200, list(pool.map(one, asked.scripts, asked.languages))
            finally:
                pool.shutdown(cancel_futures=True)

    def run(script: str, language: str, seconds: float, most_bytes: int) -> dict[str, Any]:
        try:
            row = find(language)
        except UnknownLanguage as error:
            return _failed(str(error))
        if row.name not in programs.installed:
            return _failed(f"{language} is not installed on the server: {row.install}")
        answer_file = f"cell-{secrets.token_hex(8)}" if row.name == "python" else ""
        given = f"{answer_file}\n{script}".encode("utf-8", "surrogatepass")
        asked = Asked(
            language=row.name,
            code=CELL if answer_file else script,
            cpu_s=seconds,
            stdin=given if answer_file else b"",
            collect=(answer_file,) if answer_file else (),
            output_bytes=most_bytes,
        )
        return _answer(programs.run(asked), answer_file)

    return {("POST", "/execute_batch"): execute_batch}


def _answer(ran: Ran, answer_file: str) -> dict[str, Any]:
    execution = ran.execution
    if execution is None:
        return _failed(f"it does not compile: {text(ran.compiled.log)}")
    verdict = verdict_of(execution)
    if verdict in LIMITS:
        return _failed(f"it exceeded its {LIMITS[verdict]} limit")
    stdout, stderr = text(execution.stdout), text(execution.stderr)
    ended = f"ended with exit code {execution.exit_code}, signal {execution.signal}"
    error = {"name": "Ended", "value": ended, "traceback": stderr}
    cell = _Cell(None, error if verdict or answer_file else None)
    if answer_file in execution.files and verdict is None:
        try:  # written by a program, which need not be our own
            cell = msgspec.json.decode(execution.files[answer_file], type=_Cell)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return _failed("what it wrote is not the answer of a cell")
    results = [] if cell.text is None else [{"text": cell.text, "is_main_result": True}]
    logs = {"stdout": [stdout] * bool(stdout), "stderr": [stderr] * bool(stderr)}
    shown = {"results": results, "logs": logs, "error": cell.error, "execution_count": 1}
    why = cell.error and f"{cell.error.get('name')}: {cell.error.get('value')}"
    return {"execution": shown, "text": cell.text or stdout, "exception_str": why}


def _failed(why: str) -> dict[str, Any]:
    return {"execution": None, "text": "", "exception_str": why}
