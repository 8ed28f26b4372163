"""SandboxFusion's server: /run_code, /submit and the routes about data sets."""

from __future__ import annotations

from gradebox.eval.api.dialects.common import read
from gradebox.eval.api.dialects.fusion.datasets import CLASSES, NAMED, of_the_server
from gradebox.eval.api.dialects.fusion.run_code import run_code
from gradebox.eval.api.dialects.fusion.submit import (
    Config,
    Evaluate,
    OfDataset,
    Submission,
    Tools,
    own_name,
)
from gradebox.eval.api.dialects.programs import ProgramRunner
from gradebox.eval.api.grading_calls import GradingCalls
from gradebox.eval.common.errors import shown
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.server.settings import Answer, Route, Routes, ServerRequest, telling

NO_ROWS = "there is no data base of rows here: prompts and metrics are the client's own"
NOT_SERVED = {
    "/run_jupyter": "programs are whole and end here; send the cells as one program to /run_code",
    **dict.fromkeys(
        ("/get_prompts", "/get_prompt_by_id", "/get_metrics", "/get_metrics_function"), NO_ROWS
    ),
}


def routes(calls: GradingCalls, programs: ProgramRunner) -> Routes:
    """Return the routes of this dialect."""
    own = own_name(calls.dataset)

    def submit(request: ServerRequest) -> Answer:
        submission = read(Submission, request.body)
        submission.config.check(programs.ceilings)
        evaluate: Evaluate = of_the_server
        if submission.row or submission.dataset != own:
            evaluate = CLASSES[_class(submission.dataset, submission.config, bool(submission.row))]
        return 200, evaluate(submission, Tools(calls, programs, request.cancelled))

    def list_ids(request: ServerRequest) -> Answer:
        if own is None or read(OfDataset, request.body).dataset != own:
            raise BadRequest(f"{NO_ROWS}; the server's own are those of --dataset")
        return 200, calls.problem_ids()

    def refusing(why: str) -> Route:
        return lambda _request: (501, {"detail": why})

    return {
        ("GET", "/v1/ping"): telling("pong"),
        ("GET", "/list_datasets"): telling([own] if own else []),
        ("POST", "/run_code"): run_code(programs),
        ("POST", "/submit"): submit,
        ("POST", "/list_ids"): list_ids,
        **{("POST", path): refusing(why) for path, why in NOT_SERVED.items()},
    }


def _class(dataset: str, config: Config, has_rows: bool) -> str:
    """Return the class of a data set's rows. Raises BadRequest."""
    named = next((kind for start, kind in NAMED.items() if dataset.startswith(start)), None)
    found = named or config.dataset_type
    if found is None:
        raise BadRequest(
            f"no data set {shown(dataset)} here: give config.dataset_type and the row as "
            "config.provided_data, or start the server with --dataset"
        )
    if found not in CLASSES:
        raise BadRequest(f"no class {shown(found)} here: there are {', '.join(CLASSES)}")
    if not has_rows:
        raise BadRequest(
            f"the server has no rows of {shown(dataset)}: give the row as config.provided_data"
        )
    return found
