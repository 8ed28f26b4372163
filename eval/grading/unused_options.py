"""Report the flags that were given but have no effect in this run."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from gradebox.eval.grading.flag import typed
from gradebox.eval.grading.options import FLAGS, Options

# Value of `Flag.needs` → why the flag has no effect when the need is not met.
CONDITIONS = {
    "box": "programs run on Piston servers, not in the embedded sandbox",
    "generated tests": "no generated test is chosen; --generated-tests-dir DIR with "
    "--max-generated-tests -1 chooses all",
    "piston": "programs run in the embedded sandbox, not on Piston servers",
    "subsets": "a dataset that is a file has neither splits nor subsets",
}


def unused_options(options: Options, *, boxed: bool) -> list[str]:
    """Return a message for each flag that differs from its default and has no effect.

    boxed  programs run in the embedded sandbox
    """
    met = {
        "box": boxed,
        "generated tests": options.max_generated_tests != 0,
        "piston": not boxed,
        "subsets": not Path(options.dataset).expanduser().is_file(),
    }
    messages = []
    for f in fields(options):
        need, value = FLAGS[f.name].needs, getattr(options, f.name)
        given = (tuple(value) if isinstance(value, list) else value) != f.default
        if need is not None and not met[need] and given:
            messages.append(f"{typed(f.name, value)} has no effect: {CONDITIONS[need]}")
    return messages
