"""SandboxFusion's server: /run_code (run_code.py), /submit, and the routes about data sets.

    {"dataset", "id", "completion", "config": {"dataset_type", "provided_data": row, …}}
        ─▶ {"id", "accepted", "extracted_code", "full_code", "test_code", "tests": [
              {"passed", "exec_info": as of /run_code, "test_info"}], "extracted_type", "extra"}

The row comes with the request, or `dataset` names the server's own data set. There is no data base
of rows here. `custom_extract_logic` is refused: it is code for the server.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gradebox.eval.api.dialects.common import read, within
from gradebox.eval.api.dialects.fusion.datasets import CLASSES, NAMED, of_the_server
from gradebox.eval.api.dialects.fusion.extraction import Block
from gradebox.eval.api.dialects.fusion.run_code import check_language, run_code
from gradebox.eval.common.errors import shown
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.server.settings import (
    Answer,
    Ceilings,
    Route,
    Routes,
    ServerRequest,
    telling,
)

if TYPE_CHECKING:
    from gradebox.eval.api.service import GradeService

NO_ROWS = "there is no data base of rows here: prompts and metrics are the client's own"
NOT_SERVED = {
    "/run_jupyter": "programs are whole and end here; send the cells as one program to /run_code",
    **dict.fromkeys(
        ("/get_prompts", "/get_prompt_by_id", "/get_metrics", "/get_metrics_function"), NO_ROWS
    ),
}


class Config(msgspec.Struct):
    """`config` of a request about a data set."""

    dataset_type: str | None = None
    language: str | None = None
    is_fewshot: Any = False
    run_timeout: float | None = None
    compile_timeout: float | None = None
    provided_data: Any = None
    extra: dict[str, Any] | None = None
    custom_extract_logic: Any = None

    def check(self, ceilings: Ceilings) -> None:
        """Raise BadRequest for what this server does not take."""
        if self.language is not None:
            check_language(self.language, "config", "language")
        if self.custom_extract_logic is not None:
            raise BadRequest(
                "custom_extract_logic is code for the server, which runs none from a request; "
                "extract the program in the client, and send it in a Markdown fence"
            )
        for name in ("run_timeout", "compile_timeout"):
            most_s = getattr(ceilings, name.replace("timeout", "cpu_time")) / 1000
            within(getattr(self, name), most_s, most_s, "config", name)

    def wants(self, name: str) -> bool:
        """Return whether a field of `extra` is true in the sense of Python."""
        return bool((self.extra or {}).get(name))


class OfDataset(msgspec.Struct):
    """A request about a data set."""

    dataset: str
    config: Config


class Submission(OfDataset):
    """What /submit is asked for."""

    id: int | str
    completion: str

    @property
    def row(self) -> dict[str, Any]:
        """The row that came with the request; empty: `dataset` is the server's own."""
        row = self.config.provided_data
        if row is not None and not isinstance(row, dict):
            raise BadRequest("config.provided_data must be the row, as an object")
        return row or {}

    @property
    def name(self) -> str:
        """The id as text, or a name when it is none that a problem may have."""
        text = str(self.id)
        return text if 0 < len(text) <= 200 and text.isprintable() and text.strip() else "row"

    def result(
        self,
        block: Block,
        accepted: bool,
        tests: list[dict[str, Any]],
        full_code: str | None = None,
        test_code: str | None = None,
    ) -> dict[str, Any]:
        """Return an EvalResult; `tests` are those that were run."""
        return {
            "id": self.id,
            "accepted": accepted,
            "extracted_code": block.code,
            "full_code": full_code,
            "test_code": test_code,
            "tests": tests,
            "extracted_type": None if block.kind == "raw" else block.kind,
            "extra": {},
        }


@dataclass(frozen=True)
class Tools:
    """What grades and runs."""

    service: GradeService
    cancelled: Cancellation


Evaluate = Callable[[Submission, Tools], dict[str, Any]]


def routes(service: GradeService) -> Routes:
    """Return the routes of this dialect."""
    programs = service.programs
    own = _own_name(service.dataset)

    def submit(request: ServerRequest) -> Answer:
        submission = read(Submission, request.body)
        submission.config.check(programs.ceilings)
        evaluate: Evaluate = of_the_server
        if submission.row or submission.dataset != own:
            evaluate = CLASSES[_class(submission.dataset, submission.config, bool(submission.row))]
        return 200, evaluate(submission, Tools(service, request.cancelled))

    def list_ids(request: ServerRequest) -> Answer:
        if own is None or read(OfDataset, request.body).dataset != own:
            raise BadRequest(f"{NO_ROWS}; the server's own are those of --dataset")
        return 200, service.problem_ids()

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


def _own_name(dataset: str | None) -> str | None:
    """Return the name under which requests know the server's data set: a path's last part."""
    if dataset is None:
        return None
    path = Path(dataset)
    return path.name.partition(".")[0] if path.exists() else dataset
