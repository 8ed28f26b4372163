"""Installed modules that do more than define names when a template imports them.

It runs as after a plain start, and nothing of the import is left for other programs.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gradebox.sandbox.box import EmbeddedSandbox, embedded
from gradebox.sandbox.box.isolation import layout
from gradebox.sandbox.model import MIB, Compiled, Execution, Limits, Program
from testing.rows import named_rows
from testing.submissions.hostile.host import children
from tests.sandbox.levels import box_at

pytestmark = [pytest.mark.slow, pytest.mark.levels()]
LIMITS = Limits(cpu_s=5, wall_s=20, memory_bytes=256 * MIB, processes=16)
SHORT = replace(LIMITS, cpu_s=0.3, wall_s=0.2)
MODULES = named_rows(__file__, "modules")
TELL = """
import os, signal
print(os.listdir('/tmp'), os.environ.get('ODD'), signal.getsignal(signal.SIGALRM))
print(sorted(os.listdir('/proc/self/fd')), os.getcwd())
import sys
print([getattr(x, 'SEEN', getattr(x, 'count', 0)) for x in sys.modules.values()])
print(list(globals()), list(sys.modules))
"""
UNFIT = (
    *("prints", "complains", "threads", "opens", "opens_far", "children", "daemons", "writes"),
    "large",
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="gradebox-modules-", dir="/var/tmp"))
    made.chmod(0o755)
    for name, text in {**MODULES, "loops": "while True: pass\n"}.items():
        (made / f"{name}.py").write_text(text)
        (made / f"{name}.py").chmod(0o644)
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module", params=["full", "delegated", "userns"])
def pair(
    request: pytest.FixtureRequest, folder: Path
) -> Iterator[tuple[EmbeddedSandbox, EmbeddedSandbox]]:
    """Sandboxes whose interpreter has these modules: by fork, and by a plain start."""
    with pytest.MonkeyPatch.context() as patch:
        host = embedded.inspect_host()
        patch.setattr(
            embedded, "inspect_host", lambda: replace(host, binds=(*host.binds, str(folder)))
        )
        environment = {**layout.ENVIRONMENT, "PYTHONPATH": str(folder)}
        patch.setattr(layout, "ENVIRONMENT", environment)
        with (
            box_at(request.param) as forks,
            EmbeddedSandbox(1, level=request.param, python_start="exec") as plain,
        ):
            if forks.describe().details["python_start"] != "fork":
                pytest.skip("this interpreter does not start by fork")
            yield forks, plain


def compiled(sandbox: EmbeddedSandbox, source: str) -> Compiled:
    return sandbox.compile(Program("python", {"main.py": source.encode()}))


def interpreters() -> int:
    """Count the templates of this process's boxes, and whatever an import has started."""

    def is_one(pid: int) -> bool:
        try:
            return b"/program/main.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False

    return sum(map(is_one, children(os.getpid())))


def shown(result: Execution) -> tuple[object, ...]:
    return result.exit_code, result.signal, result.killed_for, result.stdout, result.stderr


@pytest.mark.parametrize("name", MODULES)
def test_a_program_runs_as_after_a_plain_start(pair, name):
    source = f"import {name}\n{TELL}"
    forked, plain = (box.run(compiled(box, source), LIMITS) for box in pair)
    assert shown(forked) == shown(plain)
    again = pair[0].run(compiled(pair[0], source), LIMITS)
    assert shown(again) == shown(plain)


# What the others change of their own process is the same at every level.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.levels("userns") if name in UNFIT else ())
        for name in MODULES
    ],
)
def test_nothing_of_an_import_is_left(pair, name):
    forks, _ = pair
    hello = compiled(forks, TELL)
    clean = shown(forks.run(hello, LIMITS))
    before = interpreters()
    for other in ("bisect", "textwrap"):  # each time it is imported again
        forks.run(compiled(forks, f"import {name}, {other}\n"), SHORT)
        assert shown(forks.run(hello, LIMITS)) == clean
    if name in UNFIT:  # a box that was replaced may have one more of its own
        assert interpreters() - before < 3


def test_an_endless_import_ends_with_the_program(pair):
    forks, _ = pair
    for box in pair:
        result = box.run(compiled(box, "import loops\n"), SHORT)
        assert result.killed_for in ("cpu", "wall")
    small = forks.run(compiled(forks, "import bisect\nprint(1)"), LIMITS)
    assert (small.stdout, small.killed_for) == (b"1\n", None)
    assert small.cpu_s < 2  # the import does not go on
