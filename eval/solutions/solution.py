"""A solution: one line of a solutions file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Solution:
    """One line of a solutions file.

    code       the program, or None when the response has none
    language   the name as given, which `gradebox.sandbox.languages` resolves
    sample_i   0-based number of this sample within its problem, in file order
    line       1-based line in its file
    error      why the line is invalid, else None
    source     path of the file, "" for rows in memory
    response   the answer without a program in it, which continues a prompt where there is one; and
               an answer with several programs, of which the problem's tests need one
    known      of a submission to a site: `site_verdict` and `site_language`, as the site names them
    """

    problem_id: str
    solution_id: str
    sample_i: int
    line: int
    language: str
    code: str | None
    error: str | None = None
    source: str = ""
    response: str | None = None
    known: Mapping[str, str] = field(default_factory=dict)
