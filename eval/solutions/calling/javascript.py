"""JavaScript: the program, and behind it what makes the calls.

A result is JSON with null for undefined, and texts for numbers that JSON does not have. Objects of
classes that `deepEqual` tells from plain ones have no result.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from gradebox.checkers.values.literals import RESULTS
from gradebox.eval.solutions.calling.calls import Call, Parts, Source
from gradebox.sandbox.source_tokens import Style

STYLE: Style = "javascript"
_CALLS = """
;(calls => {
  const kind = value => Object.prototype.toString.call(value).slice(8, -1);
  const plain = (key, value) => {
    if (value === undefined) return null;
    if (typeof value === 'bigint' || (typeof value === 'number' && !isFinite(value)))
      return String(value);
    if (!['Null', 'Object', 'Array', 'Number', 'String', 'Boolean'].includes(kind(value)))
      throw new TypeError('the result has a value of type ' + kind(value));
    return value;
  };
  const results = calls.map(call => JSON.stringify(call(), plain) + '\\n');
  const data = Buffer.from(RESULTS + results.join(''));
  for (let at = 0; at < data.length;) at += require('fs').writeSync(1, data, at);
})([
LINES]);
"""


def defines(source: Source, entry: str) -> bool:
    """Return whether a source has the function, or at its top a variable of its name."""
    if source.holds("function", entry) or source.holds("function", "*", entry):
        return True
    return any(
        source.word(at) in ("const", "let", "var") and source.has((entry, "="), at + 1)
        for at in source.first
        if source.starts[at] == 0 or source.text[source.starts[at] - 1] == "\n"
    )


def files(parts: Parts, calls: Sequence[Call]) -> dict[str, str]:
    """Return the source of a program that writes the results of its calls."""
    program = parts.code if parts.whole else f"{parts.prompt}{parts.code}"
    lines = "".join(f"  () => {parts.entry}({call.arguments}),\n" for call in calls)
    made = _CALLS.replace("RESULTS", json.dumps(RESULTS)).replace("LINES", lines)
    return {"main.js": program + made}
