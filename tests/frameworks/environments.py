"""The environments in which other frameworks' packages are tested; `make test-frameworks`.

    python -m tests.frameworks.environments [NAME …]    make or check them, all by default
    FRAMEWORKS_DIR=FOLDER                                where they are; default: .frameworks

A test of a framework is a file tests/frameworks/test_NAME.py, or a row of test_pastes.py, its
environment a row of ENVIRONMENTS. The packages are never installed beside our own: their
requirements differ.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import requires
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("FRAMEWORKS_DIR") or ROOT / ".frameworks")
OUR_NEEDS = [need for need in requires("gradebox") or () if "extra ==" not in need]
_VERSIONS = """
import importlib.metadata, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        found[name] = None
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Environment:
    """What a framework's tests need.

    packages       pinned, name==version; the first is the framework
    least, below   the versions of Python that it runs on
    light          installs in under a minute: for CI
    bare           packages that are installed without what they require
    grades         gradebox is imported in it, with what it needs; else it talks to a server
    """

    packages: tuple[str, ...]
    least: tuple[int, int] = (3, 10)
    below: tuple[int, int] = (4, 0)
    light: bool = False
    bare: tuple[str, ...] = ()
    grades: bool = False


# Versions as of 2026-11-22.
ENVIRONMENTS = {
    "fusion": Environment(("sandbox-fusion==0.3.7",), light=True),
    "judge0": Environment(("judge0==0.0.8",), light=True),
    "inspect": Environment(("inspect-ai==0.3.285",), least=(3, 11), grades=True),
    "lmeval": Environment(("lm-eval==0.4.13",), grades=True),
    "verl": Environment(("verl==0.9.1",), below=(3, 13), grades=True),
    "trl": Environment(("trl==1.16.0", "torch==2.15.0"), least=(3, 11), grades=True),
    "verifiers": Environment(("verifiers==0.4.0",), least=(3, 11), grades=True),
    "lighteval": Environment(("lighteval==0.13.0",), grades=True),
    "dspy": Environment(("dspy==3.4.1",), grades=True),
    "smolagents": Environment(("smolagents==1.26.0",), light=True, grades=True),
    "skyrl": Environment(("skyrl-gym==0.4.0",), light=True, grades=True),
    # with what these two require, they would need a GPU to be installed
    "areal": Environment(("colorlog==6.12.0",), bare=("areal==1.0.4",), light=True, grades=True),
    "openrlhf": Environment(
        ("aiohttp==3.14.5", "requests==2.34.2"),
        bare=("openrlhf==0.11.2",),
        light=True,
        grades=True,
    ),
}


def python_of(name: str) -> Path:
    """Return the interpreter of an environment, which may not exist."""
    return FOLDER / name / "bin" / "python"


def why_missing(name: str) -> str | None:
    """Return why an environment cannot be used, None when it can."""
    environment = ENVIRONMENTS[name]
    wanted = dict(p.split("==") for p in (*environment.packages, *environment.bare))
    python = python_of(name)
    if not python.exists():
        return f"{python.parent.parent} does not exist: make test-frameworks makes it"
    done = subprocess.run(
        [python, "-c", _VERSIONS, *wanted], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        return f"{python} does not run: {done.stderr[-200:]}"
    found = json.loads(done.stdout)
    wrong = [f"{p} is {found[p]}, not {v}" for p, v in wanted.items() if found[p] != v]
    return "; ".join(wrong) or None


def make(name: str) -> str | None:
    """Make an environment unless it is there; return why that failed."""
    if why_missing(name) is None:
        return None
    environment = ENVIRONMENTS[name]
    version = sys.version_info[:2]
    if not environment.least <= version < environment.below:
        return f"{environment.packages[0]} does not run on Python {version[0]}.{version[1]}"
    folder = FOLDER / name
    pip = [str(python_of(name)), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [*pip, *environment.packages, *(OUR_NEEDS if environment.grades else ())],
        *([*pip, "--no-deps", package] for package in environment.bare),
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
        if done.returncode:
            return f"{' '.join(command)}: {done.stderr.strip()[-300:]}"
    return why_missing(name)


def main(names: Sequence[str]) -> int:
    """Make environments and print what became of each; the tests of those that fail are skipped."""
    if names == ["--light"]:
        names = [name for name, environment in ENVIRONMENTS.items() if environment.light]
    for name in names or ENVIRONMENTS:
        why = make(name)
        print(f"{name:12} {', '.join(ENVIRONMENTS[name].packages):40} {why or 'ready'}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
