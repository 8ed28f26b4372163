"""Builds the wheel: the sandbox's launcher is compiled now, so that using it needs no compiler.

    sandbox/box/bin/launcher-<machine>-<hash of its sources>     in a wheel for this machine

The binary is static and runs on any Linux of that machine, whatever its libraries and its
Python. Without a C compiler the wheel is one for any machine, and the launcher is built at
first use, which says what to install. Everything else stands in pyproject.toml.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).resolve().parent))

from sandbox.box.build import build_launcher, launcher_name
from sandbox.errors import SandboxUnavailable

FOLDER = Path("sandbox", "box", "bin")


class BuildWithLauncher(build_py):
    """Puts the launcher beside the package's modules; a checkout builds its own when needed."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / FOLDER / launcher_name()
        target.parent.mkdir(parents=True, exist_ok=True)
        for old in target.parent.glob("launcher-*"):
            old.unlink()  # of sources that have changed since: build/ is kept between builds
        try:
            build_launcher(target)
        except SandboxUnavailable as error:
            self.warn(f"the wheel carries no launcher: {error}")


class PlatformWheel(bdist_wheel):
    """Any Python 3, this machine: nothing in it depends on the interpreter."""

    def get_tag(self) -> tuple[str, str, str]:
        made = Path(self.bdist_dir, FOLDER, launcher_name()).exists()
        return "py3", "none", f"linux_{platform.machine()}" if made else "any"


setup(cmdclass={"build_py": BuildWithLauncher, "bdist_wheel": PlatformWheel})
