"""Every attack at every level that this machine offers, as this user and, for root, as nobody."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import filterfalse
from pathlib import Path

import pytest

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.errors import SandboxError
from testing.submissions.hostile.harness import Outcome
from testing.submissions.hostile.model import PROGRAMS
from testing.submissions.hostile.table import ATTACKS
from tests.sandbox.levels import own_cache

REPOSITORY = Path(__file__).resolve().parents[3]
LEVELS = ("full", "delegated", "userns", "landlock", "none")
NOBODY = 65534
pytestmark = [pytest.mark.slow(100), pytest.mark.timeout(600)]


def not_offered(level: str) -> str:
    """Return why a level is not available here, or nothing."""
    if level == "delegated" and os.geteuid() == 0:
        return "as root this is the level full"
    try:
        EmbeddedSandbox(1, level=level, allow_unsafe=True).close()
    except SandboxError as error:
        return str(error)
    return ""


def complaints(rows: Iterable[Outcome]) -> list[str]:
    return [f"{row.level}: {row.run} ({row.tries}): {row.wrong}" for row in rows if row.wrong]


def read_outcomes(done: subprocess.CompletedProcess[str], level: str = "") -> list[Outcome]:
    """Return the outcomes that the harness printed, at a level or at all.

    Fail when one of them has a complaint.
    """
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    rows = [Outcome(**line) for line in lines if "unavailable" not in line]
    chosen = [row for row in rows if level in ("", row.level)]
    assert complaints(chosen) == [], done.stderr
    assert done.returncode == 0 or complaints(rows), done.stderr
    return chosen


@pytest.fixture(scope="module")
def readable_copy() -> Iterator[Path]:
    """A copy of the sandbox and the attacks that an ordinary user can read."""
    with tempfile.TemporaryDirectory(prefix="gradebox-anyone-") as name:
        root = Path(name)
        ignored = shutil.ignore_patterns("__pycache__")
        for part in ("sandbox", "testing/submissions/hostile"):
            place = "gradebox/sandbox" if part == "sandbox" else part
            shutil.copytree(REPOSITORY / part, root / place, ignore=ignored)
        (root / "home").mkdir()
        os.chown(root / "home", NOBODY, NOBODY)
        for path in (root, *root.rglob("*")):
            path.chmod(0o755)
        yield root


def python_for_anyone() -> str:
    """Return a Python of 3.10 or later that every user may start."""
    for path in (sys.executable, *(f"/usr/bin/python3{v}" for v in ("", ".10", ".11", ".12"))):
        try:
            done = subprocess.run(
                [path, "-c", "import sys; sys.exit(sys.version_info < (3, 10))"],
                user=NOBODY,
                group=NOBODY,
                extra_groups=[],
                cwd="/",
                capture_output=True,
            )
        except OSError:
            continue
        if done.returncode == 0:
            return path
    pytest.skip("no Python of 3.10 or later that an ordinary user may start")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_every_attack_ends_as_promised_for_an_ordinary_user(readable_copy: Path) -> None:
    """Alone: what a batch changes of a level is seen by the tests of all levels."""
    cache = own_cache(readable_copy / "home")
    for path in (cache, *cache.iterdir()):
        os.chown(path, NOBODY, NOBODY)
    harness = ["-m", "testing.submissions.hostile.harness", "--alone"]
    done = subprocess.run(
        [python_for_anyone(), "-B", *harness, *LEVELS[1:]],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd=readable_copy,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(cache.parent), "GRADEBOX_CACHE": str(cache)},
        timeout=500,
    )
    assert len(read_outcomes(done)) > len(ATTACKS)


@pytest.fixture(scope="module")
def all_levels() -> subprocess.CompletedProcess[str]:
    """The attacks at all levels, in a process of their own: the harness counts its resources."""
    # The weakest first: a program compiled there is held in memory, which every level can execute.
    levels = filterfalse(not_offered, reversed(LEVELS))
    return subprocess.run(
        [sys.executable, "-m", "testing.submissions.hostile.harness", *levels],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=500,
    )


@pytest.mark.parametrize("level", LEVELS)
def test_every_attack_ends_as_promised(
    level: str, all_levels: subprocess.CompletedProcess[str]
) -> None:
    if why := not_offered(level):
        pytest.skip(why)
    rows = read_outcomes(all_levels, level)
    assert len(rows) >= len(ATTACKS)
    assert sum(row.came_out == "not promised" for row in rows) == 0 or level == "none"


def test_every_attack_of_the_programs_is_in_the_table() -> None:
    """Every attack in the programs must be run."""
    listed = {attack.run for attack in ATTACKS}
    for path in PROGRAMS.glob("*.cpp"):
        text = path.read_text().partition("static const attack attacks[]")[2].partition("};")[0]
        for part in text.replace("ROW(", "{").split("{")[1:]:
            name = part.strip('"').split('"')[0].split(",")[0].split(")")[0].strip()
            if name:
                assert f"{path.stem} {name}" in listed
    for path in PROGRAMS.glob("*.py"):
        for name in re.findall(r"^def attack_(\w+)", path.read_text(), re.M):
            assert f"{path.stem} {name}" in listed or name == "probe"
