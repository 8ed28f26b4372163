"""SandboxFusion's server: /run_code, /submit and the routes about data sets."""

from __future__ import annotations

from collections.abc import Mapping

from gradebox.eval.api.dialects.fusion.run_code import run_code
from gradebox.eval.api.dialects.programs import Programs
from gradebox.eval.api.grading_calls import GradingCalls
from gradebox.sandbox.server.plugins import Route

NO_JUPYTER = (
    "this server runs no notebooks: its programs are whole and end; send the cells as one "
    "program to /run_code"
)


def routes(calls: GradingCalls, programs: Programs) -> Mapping[tuple[str, str], Route]:
    """Return the routes of this dialect."""
    return {
        ("GET", "/v1/ping"): lambda _body, _cancelled: (200, "pong"),
        ("POST", "/run_code"): run_code(programs),
        ("POST", "/run_jupyter"): lambda _body, _cancelled: (501, {"detail": NO_JUPYTER}),
    }
