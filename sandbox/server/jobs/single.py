"""POST /gradebox/run: a program for gradebox's own client, with the whole evidence."""

from __future__ import annotations

from typing import Any

import msgspec

from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import Program
from gradebox.sandbox.piston.gradebox_server import SingleAnswer, SingleBody
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.jobs.request import sharing_output
from gradebox.sandbox.server.settings import Ceilings, check_limits


def run_single(value: Any, sandbox: Sandbox, ceilings: Ceilings) -> tuple[str, SingleAnswer]:
    """Return the language of a decoded request and its answer. Raises BadRequest."""
    try:
        body = msgspec.convert(value, SingleBody)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise BadRequest(f"the request is wrong: {error}; is the client another version?") from None
    check_limits(body.compile_limits, ceilings.compile_limits())
    for name in ("files", "run_files", "collect", "args"):
        most = ceilings.args_max if name == "args" else ceilings.files_max
        if len(getattr(body, name)) > most:
            raise BadRequest(f"{name} has {len(getattr(body, name))} elements; at most {most}")
    language, limits = find(body.language).name, body.run_limits
    if limits is not None:
        check_limits(limits, ceilings.run_limits())
    program = Program(language, body.files)
    compiled = sandbox.compile(program, body.compile_limits, interpreted=limits is None)
    run = None
    if compiled.ok and limits is not None:
        run = sandbox.run(
            compiled,
            sharing_output(limits, len(body.collect)),
            stdin=body.stdin,
            args=body.args,
            files=body.run_files,
            collect=body.collect,
            alone=body.alone,
        )
    answer = SingleAnswer(
        compiled.ok,
        compiled.log,
        compiled.toolchain,
        compiled.cached,
        compiled.execution,
        run,
    )
    return language, answer
