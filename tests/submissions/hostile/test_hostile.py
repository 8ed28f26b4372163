"""Every attack at every level that isolates here, as this user and, for root, as nobody.

What level none does not stop is in docs/sandbox.md; testing.submissions.hostile.guarantees has it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.errors import SandboxError
from testing.commands import run_command
from testing.submissions.hostile.harness import Outcome
from testing.submissions.hostile.model import PROGRAMS
from testing.submissions.hostile.table import ATTACKS
from tests.sandbox.levels import own_cache

REPOSITORY = Path(__file__).resolve().parents[3]
LEVELS = ("full", "delegated", "userns", "landlock")
OF_USERS = ("userns", "landlock")
NOBODY, IS_ROOT = 65534, os.geteuid() == 0
pytestmark = [pytest.mark.slow(20), pytest.mark.timeout(1600)]


def not_offered(level: str) -> str:
    """Return why a level is not available here, or nothing."""
    if IS_ROOT and level in ("delegated", "userns"):
        return "of an ordinary user; for root it is full"
    try:
        EmbeddedSandbox(1, level=level).close()
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


@pytest.fixture(scope="module")
def of_nobody(readable_copy: Path) -> subprocess.CompletedProcess[str]:
    """The attacks at the levels that an ordinary user gets, by root as such a user."""
    cache = own_cache(readable_copy / "home")
    for path in (cache, *cache.iterdir()):
        os.chown(path, NOBODY, NOBODY)
    harness = ["-m", "testing.submissions.hostile.harness", "--alone"]
    return run_command(
        [python_for_anyone(), "-B", *harness, *OF_USERS],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd=readable_copy,
        env={"PATH": "/usr/bin:/bin", "HOME": str(cache.parent), "GRADEBOX_CACHE": str(cache)},
        timeout=1500,
    )


@pytest.fixture(scope="module")
def of_this_user() -> subprocess.CompletedProcess[str]:
    """The attacks at the other levels, in a process of their own: the harness counts its resources.

    The weakest first: a program compiled there is held in memory, which every level can execute.
    """
    levels = [name for name in reversed(LEVELS) if not not_offered(name)]
    return run_command(
        [sys.executable, "-m", "testing.submissions.hostile.harness", *levels], timeout=1500
    )


@pytest.mark.parametrize("level", LEVELS)
def test_every_attack_ends_as_promised(level, of_this_user):
    if why := not_offered(level):
        pytest.skip(why)
    rows = read_outcomes(of_this_user, level)
    assert len(rows) >= len(ATTACKS)
    assert not any(row.came_out == "not promised" for row in rows)


@pytest.mark.skipif(not IS_ROOT, reason="only root can become another user")
@pytest.mark.parametrize("level", OF_USERS)
def test_every_attack_ends_as_promised_for_an_ordinary_user(level, of_nobody):
    assert len(read_outcomes(of_nobody, level)) >= len(ATTACKS)


def test_every_attack_of_the_programs_is_in_the_table():
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
