"""The parts of a program that makes the calls of tests."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gradebox.sandbox.errors import BadRequest


@dataclass(frozen=True)
class Parts:
    """What a program is made of.

    language  of the tests, by its name in the table
    prompt    comments and declarations, and the first line of the function
    entry     the name of the function
    tests     their text; it may begin with the brace that closes the function
    stop      texts at which a completion of the prompt ends
    code      the answer
    whole     the answer has the function's definition, rather than the rest of it
    """

    language: str
    prompt: str
    entry: str
    tests: str
    stop: tuple[str, ...] = ()
    code: str = ""
    whole: bool = False

    def answered(self, code: str, whole: bool) -> Parts:
        """Return the parts with an answer; one that continues the prompt is cut where it ends."""
        if not whole:
            found = [at for stop in self.stop if stop and (at := code.find(stop)) >= 0]
            code = code[: min(found, default=len(code))]
        return replace(self, code=code, whole=whole)

    @property
    def preamble(self) -> str:
        """The prompt without the first line of the function, the last line that it has."""
        return self.prompt.rstrip().rpartition("\n")[0]

    @property
    def signature(self) -> str:
        """The first line of the function without the brace that opens it. Raises BadRequest."""
        line = self.prompt.rstrip().rpartition("\n")[2].strip()
        if self.entry not in line or not line.endswith("{"):
            raise BadRequest(f"the prompt does not end in the first line of {self.entry}")
        return line.removesuffix("{").rstrip()

    @property
    def own_tests(self) -> str:
        """The tests without the brace that closes the function of the prompt."""
        return self.tests.lstrip().removeprefix("}")
