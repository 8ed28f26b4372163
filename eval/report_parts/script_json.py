"""JSON that may stand inside a `<script>` element or a script file, whatever strings it holds."""

from __future__ import annotations

import json
from typing import Any

# Besides `</script>` and `<!--`: U+2028 and U+2029 end a line in old script engines, and a page
# may be read with a wrong charset. Escaping all but plain ASCII leaves nothing to go wrong.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\x7f": "\\u007f"})


def script_json(value: Any) -> str:
    """`value` as JSON of printable ASCII without `<`, `>` and `&`. ValueError for NaN."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.translate(_ESCAPES)
