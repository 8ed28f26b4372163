"""The prompts of rows that come with a request: /get_prompts, /get_prompt_by_id, /list_ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradebox.eval.api.dialects.packed import json_text
from gradebox.eval.common.errors import shown
from gradebox.sandbox.errors import BadRequest

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
