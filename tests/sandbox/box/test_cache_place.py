"""The place of the user's cache folder changes nothing for programs, and is not shown to them."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradebox.checkers.check import Check
from gradebox.checkers.programs import ProgramChecker
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.sandbox.box.build import PARTS, binary, cache_folder
from gradebox.sandbox.model import Program
from tests.sandbox.levels import box_at

# Looks for the name in the third file wherever a path may be shown; lists what it can list.
LOOKS = """
import os, sys
name = open(sys.argv[2]).read()
texts = [repr(dict(os.environ)), repr(sys.argv), repr(sys.path), os.getcwd()]
for file in ("mountinfo", "maps", "cmdline", "environ"):
    try:
        texts.append(open("/proc/self/" + file).read())
    except OSError:
        pass
seen = []
for folder in ("/", "/tmp", "/dev/shm", "/var/tmp", ".", ".."):
    try:
        seen.append(sorted(os.listdir(folder)))
    except OSError as error:
        seen.append(error.strerror)
print(int(not any(name in text for text in [*texts, repr(seen)])), seen)
"""


@pytest.fixture
def below_tmp() -> Iterator[Path]:
    """A cache folder below /tmp, with what is compiled once."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="cache-") as folder:
        for part in PARTS:
            shutil.copy2(binary(part), folder)
        yield Path(folder)


def looked(level: str, name: str) -> list[Check]:
    program = Program("python", {"checker.py": LOOKS.encode()})
    with box_at(level) as box:
        checker = ProgramChecker(box, PROTOCOLS["python"], program)
        return [checker.check(b"", b"x", name.encode()) for _ in range(3)]


@pytest.mark.slow
@pytest.mark.levels("landlock")
@pytest.mark.parametrize("level", ["full", "delegated", "userns", "landlock"])
def test_a_cache_below_tmp_changes_nothing_for_python_checkers(
    level: str, below_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = looked(level, below_tmp.name)
    monkeypatch.setenv("GRADEBOX_CACHE", str(below_tmp))
    assert cache_folder() == below_tmp
    found = looked(level, below_tmp.name)
    assert [check.outcome for check in found] == ["accepted"] * 3, found
    assert found == usual
