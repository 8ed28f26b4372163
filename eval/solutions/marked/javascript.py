"""JavaScript: the program is a module, which is loaded by the first call of the tests.

    main.js      the mark and the tests
    solution.js  the program; it exports its function

Before the program is loaded, the tests have their `assert`, which is frozen, and the secret is a
constant that no other module can name; it is bytes, since texts are in snapshots of the heap.
"""

from __future__ import annotations

import re

from gradebox.eval.solutions.marked.parts import Parts
from gradebox.sandbox.errors import BadRequest

DEFINES = r"\bfunction\s*\*?\s*{entry}\b|^(?:const|let|var)\s+{entry}\s*="

_MARK = """\
const gradebox = (() => {
  const fs = require('node:fs');
  const secret = new Uint8Array(65), write = fs.writeSync, load = require;
  secret[0] = 10;
  const length = fs.readSync(0, secret, 1, 64) + 1;
  Object.freeze(require('node:assert').strict);
  Object.freeze(require('node:assert'));
  return {
    load: () => load('./solution.js'),
    passed: () => { write(1, secret, 0, length); },
  };
})();
"""


def files(parts: Parts) -> dict[str, str]:
    """Return the sources of a program. Raises BadRequest for tests without a candidate."""
    candidate = rf"((?:let|const|var)\s+candidate\s*=\s*){re.escape(parts.entry)}\s*;"
    tests, found = re.subn(candidate, r"\1gradebox.load();", parts.own_tests)
    if not found:
        raise BadRequest(f"the tests of {parts.entry} do not have a candidate")
    program = parts.code if parts.whole else f"{parts.prompt}{parts.code}"
    return {
        "main.js": f"{_MARK}{tests.rstrip()}\ngradebox.passed();\n",
        "solution.js": f"{program}\n;module.exports = {parts.entry};\n",
    }
