"""POST /submit of SandboxFusion: one completion for one row, and the routes about data sets.

    {"dataset", "id", "completion", "config": {"dataset_type", "provided_data": row, …}}
        ─▶ {"id", "accepted", "extracted_code", "full_code", "test_code", "tests": [
              {"passed", "exec_info": as of /run_code, "test_info"}], "extracted_type", "extra"}

The row comes with the request, or `dataset` names the server's own data set. There is no data base
of rows here. `custom_extract_logic` is refused: it is code for the server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradebox.eval.api.dialects.bodies import Body
from gradebox.eval.api.dialects.fusion.extraction import Kind
from gradebox.eval.api.dialects.fusion.run_code import is_name
from gradebox.eval.api.dialects.grades import json_text
from gradebox.eval.api.dialects.programs import ProgramRunner
from gradebox.eval.api.grading_calls import GradingCalls
from gradebox.eval.common.errors import shown
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import BadRequest


@dataclass(frozen=True)
class Config:
    """`config` of a request about a data set."""

    dataset_type: str | None
    language: str | None
    locale: str
    is_fewshot: bool
    run_timeout: float | None
    compile_timeout: float | None
    provided_data: Any
    extra: Mapping[str, Any]


@dataclass(frozen=True)
class Submission:
    """What /submit is asked for.

    row  the row that came with the request; empty: `dataset` is the server's own
    """

    dataset: str
    id: int | str
    completion: str
    config: Config
    row: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The id as text, or a name when it is none that a problem may have."""
        text = str(self.id)
        return text if 0 < len(text) <= 200 and text.isprintable() and text.strip() else "row"


@dataclass(frozen=True)
class Result:
    """An EvalResult; `tests` are those that were run."""

    accepted: bool
    code: str
    tests: list[dict[str, Any]]
    kind: Kind
    full_code: str | None = None
    test_code: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self, submission: Submission) -> dict[str, Any]:
        """Return the answer."""
        return {
            "id": submission.id,
            "accepted": self.accepted,
            "extracted_code": self.code,
            "full_code": self.full_code,
            "test_code": self.test_code,
            "tests": self.tests,
            "extracted_type": None if self.kind == "raw" else self.kind,
            "extra": dict(self.extra),
        }


@dataclass(frozen=True)
class Tools:
    """What grades and runs."""

    calls: GradingCalls
    programs: ProgramRunner
    cancelled: Cancellation


Evaluate = Callable[[Submission, Tools], Result]


def read_config(request: Body, programs: ProgramRunner) -> Config:
    """Return the config of a request. Raises Invalid, BadRequest."""
    config = request.inner("config")
    language = config.optional_text("language")
    if language is not None and not is_name(language):
        raise config.invalid("language", "literal_error", "Input should be a known language")
    if config.has("custom_extract_logic"):
        raise BadRequest(
            "custom_extract_logic is code for the server, which runs none from a request; extract "
            "the program in the client, and send it in a Markdown fence"
        )
    ceilings = programs.ceilings
    times = {"run_timeout": ceilings.run_cpu_time, "compile_timeout": ceilings.compile_cpu_time}
    given = {
        name: config.number(name, 0, most / 1000) if config.has(name) else None
        for name, most in times.items()
    }
    return Config(
        dataset_type=config.optional_text("dataset_type"),
        language=language,
        locale=config.optional_text("locale") or "en",
        is_fewshot=config.flag("is_fewshot"),
        provided_data=config.values.get("provided_data"),
        extra=config.inner("extra", {}).values if config.has("extra") else {},
        **given,
    )


def read_submission(body: Any, programs: ProgramRunner) -> Submission:
    """Return the submission of a body. Raises Invalid, BadRequest."""
    request = Body(body)
    identity = request.need("id")
    if isinstance(identity, bool) or not isinstance(identity, (int, str)):
        raise request.invalid("id", "int_type", "Input should be a valid integer or string")
    config = read_config(request, programs)
    row = config.provided_data
    if row is not None and not isinstance(row, dict):
        raise BadRequest("config.provided_data must be the row, as an object")
    return Submission(
        dataset=request.text("dataset"),
        id=identity,
        completion=request.text("completion"),
        config=config,
        row=row or {},
    )


def own_name(dataset: str | None) -> str | None:
    """Return the name under which requests know the server's data set: a path's last part."""
    if dataset is None:
        return None
    path = Path(dataset)
    return path.name.partition(".")[0] if path.exists() else dataset


STDIN_HINT = "Write a whole program{in_language} that reads stdin and writes its answer to stdout."
TESTS_HINT = "Your code must pass these tests:"


def prompt_of(row: Any, dataset_type: str, language: str | None) -> dict[str, Any]:
    """Return {"id", "prompt", "labels"} of a row. Raises BadRequest."""
    if not isinstance(row, dict):
        raise BadRequest(f"a row of provided_data is {shown(row)}: it must be an object")
    if "prompt" in row and "content" not in row:  # HumanEval, MultiPL-E
        labels = {name: value for name, value in row.items() if name != "prompt"}
        return {"id": _id(row), "prompt": _text(row, "prompt"), "labels": labels}
    text = _text(row, "content")
    if dataset_type == "CommonOJDataset":
        text += "\n\n" + STDIN_HINT.format(in_language=f" in {language}" if language else "")
    tests = row.get("test_list")
    if dataset_type == "MBPPDataset" and isinstance(tests, list):
        text += "\n\n".join((f" {TESTS_HINT}", "\n".join(map(str, tests))))
    return {"id": _id(row), "prompt": text, "labels": _labels(row)}


def _id(row: Mapping[str, Any]) -> int | str:
    found = next((row[name] for name in ("id", "task_id", "name") if name in row), "")
    return found if isinstance(found, int) else str(found)


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise BadRequest(f"{name} of a row is {shown(value)}: it must be text")
    return value


def _labels(row: Mapping[str, Any]) -> dict[str, Any]:
    value = row.get("labels") or {}
    value = json_text(value) if isinstance(value, str) else value
    return value if isinstance(value, dict) else {}
