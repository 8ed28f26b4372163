"""What the harness shows of a row besides its prompt, and the program in a response."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Doc = Mapping[str, Any]
FENCE = "```"
_FEW_SHOT = Path(__file__).with_name("mbpp_few_shot.jsonl")


def humaneval_tests(doc: Doc) -> str:
    """Return the tests of a HumanEval row."""
    return f"{doc['test']}\ncheck({doc['entry_point']})"


def mbpp_tests(doc: Doc) -> str:
    """Return the first three tests of an MBPP row; of an example, its answer and the stop."""
    if "is_fewshot" in doc:
        return f"{doc['code']}\n[DONE]"
    return "\n".join(doc["test_list"][:3])


def mbpp_tests_fenced(doc: Doc) -> str:
    """Return the same for prompts with fences."""
    return f"{doc['code']}\n{FENCE}" if "is_fewshot" in doc else mbpp_tests(doc)


def mbpp_first_test(doc: Doc) -> str:
    """Return the only test that the prompt of mbpp_plus_instruct has."""
    return str(doc["test_list"][0])


def mbpp_few_shot() -> list[dict[str, Any]]:
    """Return the rows 2, 3 and 4 of MBPP as examples."""
    lines = _FEW_SHOT.read_text(encoding="utf-8").splitlines()
    return [{**json.loads(line), "is_fewshot": True} for line in lines]


def humaneval_program(doc: Doc, response: str) -> str:
    """Return the program of a response that continues the prompt."""
    return f"{doc['prompt']}{response}"


def humaneval_program_fenced(doc: Doc, response: str) -> str:
    """Return the program of a response that continues the prompt in an open fence."""
    return f"{doc['prompt']}{response.partition(FENCE)[0]}"


def plain_program(doc: Doc, response: str) -> str:
    """Return the response, which is a program."""
    return response


def fenced_program(doc: Doc, response: str) -> str:
    """Return the program of a response in a fence that the prompt has opened, or of its own."""
    before, fence, after = response.partition(FENCE)
    if fence and not before.strip():  # opened again
        return after.partition("\n")[2].partition(FENCE)[0]
    return before
