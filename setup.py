"""Build the wheel with the sandbox's compiled parts, so that using it needs no compiler.

    gradebox/sandbox/box/c/bin/launcher-<machine>-<hash of sources>   in a wheel for this machine
    gradebox/sandbox/box/c/bin/template-<machine>-<hash of sources>

They run on any Linux of that architecture, with any libraries and any Python: one is static, the
other is linked with nothing. On Linux, building the wheel needs a C compiler; elsewhere the wheel
has no compiled parts, since the sandbox needs Linux.

GRADEBOX_HOMEPAGE, the address of the repository on GitHub or GitLab, becomes the project's address,
and the README's links and pictures lead to the files of this version's tag there. Without it they
stay relative. A source archive keeps it. All other settings are in pyproject.toml.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

from setuptools import Distribution, find_namespace_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "src"))

from gradebox import __version__  # noqa: E402
from gradebox._aliases import FOLDERS  # noqa: E402
from gradebox.sandbox.box.build import PARTS  # noqa: E402
from gradebox.sandbox.errors import SandboxUnavailable  # noqa: E402

# src/gradebox has links to the packages' folders: with them an editable installation is a plain
# path, which type checkers and editors follow. Where a checkout has none, the folders are named.
HOMES = {f"gradebox.{name}": name for name in FOLDERS}
LINKED = all((ROOT / "src" / "gradebox" / name).is_dir() for name in HOMES.values())
FOLDER = Path("gradebox", "sandbox", "box", "c", "bin")
LINUX = platform.system() == "Linux"
RELATIVE = re.compile(r"(!\[[^\]]*|)\]\((?![a-z]+:|#)([^)\s]+)\)")  # a link or a picture


class BuildWithParts(build_py):
    """Put the compiled parts beside the package's modules. A checkout builds its own."""

    def run(self) -> None:
        super().run()
        if self.editable_mode or not LINUX:
            return
        folder = Path(self.build_lib) / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()  # build/ may have some of older sources
        try:
            for part in PARTS:
                part.build(folder / part.file_name())
        except SandboxUnavailable as error:
            raise SystemExit(
                f"gradebox is not installed: {error}. A wheel of gradebox needs no compiler."
            ) from None


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 and any C library on this architecture."""

    def get_tag(self) -> tuple[str, str, str]:
        machine = platform.machine()
        places = f"manylinux_2_17_{machine}.musllinux_1_1_{machine}" if LINUX else "any"
        return "py3", "none", places


def packages() -> list[str]:
    found = find_namespace_packages(str(ROOT / "src"))
    if LINKED:
        return found
    for package, folder in HOMES.items():
        below = find_namespace_packages(str(ROOT / folder))
        found += [package, *(f"{package}.{name}" for name in below)]
    return found


def homepage() -> str:
    """Return the repository's address: the one given, or in a source archive the one it has."""
    given = os.environ.get("GRADEBOX_HOMEPAGE", "")
    kept = ROOT / "PKG-INFO"
    if given or not kept.exists():
        return given.rstrip("/")
    found = re.search(r"^Project-URL: Homepage, (\S+)$", kept.read_text("utf-8"), re.MULTILINE)
    return found[1] if found else ""


class AtHome(Distribution):
    """The project's metadata, with addresses where GRADEBOX_HOMEPAGE is given."""

    def parse_config_files(self, *args: Any, **more: Any) -> None:
        super().parse_config_files(*args, **more)
        home = homepage()
        if not home:
            return
        if not re.fullmatch(r"https://[\w.-]+(/[\w.~-]+)+", home):
            raise SystemExit(
                f"GRADEBOX_HOMEPAGE {home!r}: give the repository's address, such as "
                "https://github.com/NAME/gradebox, or leave it out"
            )
        at, tag = home + ("/-" if "gitlab" in home else ""), f"v{__version__}"

        def absolute(found: re.Match[str]) -> str:
            return f"{found[1]}]({at}/{'raw' if found[1] else 'blob'}/{tag}/{found[2]})"

        self.metadata.long_description = RELATIVE.sub(absolute, self.metadata.long_description)
        self.metadata.project_urls = {
            "Homepage": home,
            "Documentation": f"{at}/blob/{tag}/docs/README.md",
            "Changelog": f"{at}/blob/{tag}/CHANGELOG.md",
            "Security": f"{at}/blob/{tag}/SECURITY.md",
            "Issues": f"{at}/issues",
        }


setup(
    distclass=AtHome,
    packages=packages(),
    package_dir={"": "src"} if LINKED else {"": "src", **HOMES},
    cmdclass={"build_py": BuildWithParts, "bdist_wheel": PlatformWheel},
)
