"""Build the wheel with the sandbox's compiled parts, so that using it needs no compiler.

    gradebox/sandbox/box/c/bin/launcher-<machine>-<hash of sources>   in a wheel for this machine
    gradebox/sandbox/box/c/bin/template-<machine>-<hash of sources>

They run on any Linux of that architecture, with any libraries and any Python. Without a C compiler
the wheel is for any machine, and they are built at first use. All other settings are in
pyproject.toml.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gradebox.sandbox.box.build import LAUNCHER, PARTS
from gradebox.sandbox.errors import SandboxUnavailable

FOLDER = Path("gradebox", "sandbox", "box", "c", "bin")


class BuildWithParts(build_py):
    """Put the compiled parts beside the package's modules. A checkout builds its own."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        folder = Path(self.build_lib) / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()  # build/ may have some of older sources
        try:
            for part in PARTS:
                part.build(folder / part.file_name())
        except SandboxUnavailable as error:
            self.warn(f"the wheel has no launcher: {error}")


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 on this architecture: the launcher does not use the interpreter."""

    def get_tag(self) -> tuple[str, str, str]:
        made = Path(self.bdist_dir, FOLDER, LAUNCHER.file_name()).exists()
        return "py3", "none", f"linux_{platform.machine()}" if made else "any"


setup(cmdclass={"build_py": BuildWithParts, "bdist_wheel": PlatformWheel})
