"""What the builders find in a source: by its tokens, so that the work is linear whatever it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from gradebox.sandbox.source_tokens import Style, tokens

_OPENING, _CLOSING = "([{", ")]}"
NOWHERE = -1


class Source:
    """The tokens of a text without comments and line ends.

    words   the text of each token
    starts  where each begins
    first   the numbers of those that are the first of their line
    """

    def __init__(self, text: str, style: Style) -> None:
        self.text = text
        self.words: list[str] = []
        self.starts: list[int] = []
        self.first: list[int] = []
        new_line = True
        for kind, word, start in tokens(text, style):
            if kind == "line":
                new_line = True
            elif kind != "comment":
                if new_line:
                    self.first.append(len(self.words))
                    new_line = False
                self.words.append(word)
                self.starts.append(start)

    def word(self, at: int) -> str:
        """Return a token, "" outside."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def has(self, words: Sequence[str], at: int) -> bool:
        """Return whether some tokens are at a place."""
        return self.words[at : at + len(words)] == list(words)

    def every(self, *words: str) -> Iterator[int]:
        """Yield where these tokens are."""
        first = words[0]
        return (at for at, w in enumerate(self.words) if w == first and self.has(words, at))

    def holds(self, *words: str) -> bool:
        """Return whether these tokens are anywhere."""
        return next(self.every(*words), NOWHERE) != NOWHERE

    def between(self, first: int, last: int) -> str:
        """Return the text between two tokens."""
        return self.text[self.starts[first] + len(self.words[first]) : self.starts[last]]

    def replaced(self, changes: dict[int, str]) -> str:
        """Return the text with other texts in the place of some tokens."""
        parts, begin = list[str](), 0
        for at in sorted(changes):
            parts += [self.text[begin : self.starts[at]], changes[at]]
            begin = self.starts[at] + len(self.words[at])
        return "".join((*parts, self.text[begin:]))

    def without_main(self, *heads: str) -> str:
        """Return the text without its function `main`; the numbers of lines stay.

        heads  what it may begin with on its line, up to its parameters; words between spaces
        """
        wanted = [head.split() for head in heads]
        for at in self.first:
            head = next((words for words in wanted if self.has(words, at)), None)
            if head is None:
                continue
            body = self.partner(at + len(head) - 1)
            while body != NOWHERE and self.word(body) not in ("{", ";", ""):
                body += 1
            if (end := self.partner(body)) != NOWHERE:
                return self.replaced(dict.fromkeys(range(at, end + 1), ""))
        return self.text

    @cached_property
    def partners(self) -> dict[int, int]:
        """The other bracket of each that has one."""
        found: dict[int, int] = {}
        opened: list[int] = []
        for at, word in enumerate(self.words):
            if word in _OPENING:
                opened.append(at)
            elif word in _CLOSING and opened:
                if _OPENING.index(self.words[opened[-1]]) != _CLOSING.index(word):
                    break
                found[at] = opened[-1]
                found[opened.pop()] = at
        return found

    def partner(self, at: int) -> int:
        """Return the other bracket of a pair, NOWHERE without one."""
        return self.partners.get(at, NOWHERE)
