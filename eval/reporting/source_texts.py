"""The program and the response of a solution, as the page shows them.

record ─ line, solution_id ─▶ solutions file ─▶ {program, language, response, cut}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.solutions.lines import SolutionLines


def source_texts(
    lines: SolutionLines, record: Mapping[str, Any], program_chars: int, response_chars: int
) -> dict[str, Any]:
    """Return the texts of a solution, null for one that it does not have.

    program_chars, response_chars  the most that is returned of each

    `cut` names the texts that are longer. A response is null where the line has only the program.
    Raises InputError when the solutions file no longer has the solution.
    """
    line, name = record.get("line"), record.get("solution_id")
    if not isinstance(line, int) or not isinstance(name, str):
        raise InputError("the record has no usable line")
    solution, response = lines.solution(line, name)
    if solution.solution_id not in (name, name.partition("@")[0]):
        raise InputError(f"line {line} of {lines.path} holds another solution now")
    code = solution.code
    texts = {"program": (code, program_chars), "response": (response or None, response_chars)}
    return {
        **{key: text and text[:most] for key, (text, most) in texts.items()},
        "language": str(record.get("language") or solution.language),
        "cut": [key for key, (text, most) in texts.items() if len(text or "") > most],
    }
