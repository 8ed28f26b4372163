"""Build the wheel with the sandbox's compiled launcher, so that using it needs no compiler.

    gradebox/sandbox/box/c/bin/launcher-<machine>-<hash of sources>   in a wheel for this machine

The static binary runs on any Linux of that architecture, with any libraries and any Python. Without
a C compiler the wheel is for any machine, and the launcher is built at first use. All other
settings are in pyproject.toml.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gradebox.sandbox.box.build import build_launcher, launcher_name
from gradebox.sandbox.errors import SandboxUnavailable

FOLDER = Path("gradebox", "sandbox", "box", "c", "bin")


class BuildWithLauncher(build_py):
    """Put the launcher beside the package's modules. A checkout builds its own when needed."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / FOLDER / launcher_name()
        target.parent.mkdir(parents=True, exist_ok=True)
        for old in target.parent.glob("launcher-*"):
            old.unlink()  # build/ may have one of older sources
        try:
            build_launcher(target)
        except SandboxUnavailable as error:
            self.warn(f"the wheel has no launcher: {error}")


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 on this architecture: the launcher does not use the interpreter."""

    def get_tag(self) -> tuple[str, str, str]:
        made = Path(self.bdist_dir, FOLDER, launcher_name()).exists()
        return "py3", "none", f"linux_{platform.machine()}" if made else "any"


setup(cmdclass={"build_py": BuildWithLauncher, "bdist_wheel": PlatformWheel})
