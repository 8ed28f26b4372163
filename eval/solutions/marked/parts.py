"""The parts of a marked program, and the texts that the languages' builders share."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gradebox.sandbox.errors import BadRequest

CANDIDATE = "gradebox_candidate"


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

    def parameters(self) -> tuple[str, list[str]]:
        """Return the text between the parentheses of the signature, and its parameters."""
        _, _, rest = self.signature.partition(self.entry)
        text = rest[rest.find("(") + 1 : closing(rest, rest.find("("))]
        return text, [part.strip() for part in split_at_commas(text)]


def closing(text: str, opening: int) -> int:
    """Return the position of the parenthesis that closes the one at `opening`, -1 without it."""
    depth = 0
    quote = ""
    at = opening
    while at < len(text):
        c = text[at]
        if quote:
            if c == "\\":
                at += 1
            elif c == quote:
                quote = ""
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return -1


def split_at_commas(text: str) -> list[str]:
    """Return the parts of a list of parameters; commas within brackets do not part it."""
    parts, depth, start = [], 0, 0
    for at, c in enumerate(text):
        depth += (c in "([{<") - (c in ")]}>")
        if c == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part for part in parts if part.strip()]


# comments, strings and characters, in which braces do not count; `'a` alone is Rust's
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\[^\n]+?|[^'\\\n])'|[{}]", re.DOTALL
)


def without_function(code: str, head: str) -> str:
    """Return code with a function emptied of its lines; the numbers of other lines stay.

    head  pattern of its beginning, up to its parameters
    """
    found = re.search(head, code, re.MULTILINE)
    if found is None:
        return code
    depth = 0
    for token in _TOKEN.finditer(code, found.end()):
        depth += (token[0] == "{") - (token[0] == "}")
        if depth == 0 and token[0] == "}":
            lines = code.count("\n", found.start(), token.end())
            return code[: found.start()] + "\n" * lines + code[token.end() :]
    return code
