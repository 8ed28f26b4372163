"""Debian packages, fetched and unpacked without installation and without root.

apt has a separate folder for each suite and architecture, so that kernels of other releases and
Python for other architectures are available besides the host's packages. The mirror is the host's.

<cache>/<suite>-<arch>/
├── apt/                lists, settings, an empty status
└── <package>/          its files, with their paths below /
"""

import re
import shutil
import subprocess
from pathlib import Path

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class NotHere(Exception):
    """A requirement is missing; the message says what to install."""


class Suite:
    """One release of Debian for one architecture."""

    def __init__(self, cache: Path, suite: str, arch: str) -> None:
        self.folder = cache / f"{suite}-{arch}"
        self._apt = self.folder / "apt"
        self._suite, self._arch = suite, arch
        self._fresh = False

    def _options(self) -> list[str]:
        settings = {
            "Dir::State": self._apt,
            "Dir::State::lists": self._apt / "lists",
            "Dir::State::status": self._apt / "status",
            "Dir::Cache": self._apt / "cache",
            "Dir::Etc::sourcelist": self._apt / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
            "APT::Architecture": self._arch,
            "APT::Sandbox::User": "root",
        }
        return [f"-o{name}={value}" for name, value in settings.items()]

    def _call(self, *command: str) -> str:
        done = subprocess.run(
            [command[0], *self._options(), *command[1:]],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
        )
        if done.returncode:
            raise NotHere(f"{' '.join(command)}: {done.stderr.strip()[-400:]}")
        return done.stdout

    def _update(self) -> None:
        if self._fresh:
            return
        for name in ("lists/partial", "cache/archives/partial"):
            (self._apt / name).mkdir(parents=True, exist_ok=True)
        (self._apt / "status").touch()
        source = f"deb [arch={self._arch} signed-by={KEYRING}] {mirror()} {self._suite} main\n"
        (self._apt / "sources.list").write_text(source)
        self._call("apt-get", "-q", "update")
        self._fresh = True

    def needs(self, package: str, pattern: str = "") -> list[str]:
        """Return the direct dependencies of a package whose names match."""
        self._update()
        text = self._call("apt-cache", "depends", "--no-recommends", package)
        names = re.findall(r"^[ |]*Depends: (\S+)$", text, re.MULTILINE)
        return [name for name in names if re.search(pattern, name)]

    def unpacked(self, *packages: str) -> list[Path]:
        """Return the folders of packages; fetch missing ones."""
        missing = [name for name in packages if not (self.folder / name).is_dir()]
        if missing:
            self._update()
            debs = self.folder / "debs"
            shutil.rmtree(debs, ignore_errors=True)
            debs.mkdir(parents=True)
            for name in missing:
                self._call("apt-get", "-q", "download", name)
                for deb in self.folder.glob("*.deb"):
                    part = self.folder / f"{name}.part"
                    shutil.rmtree(part, ignore_errors=True)
                    subprocess.run(["dpkg-deb", "-x", deb, part], check=True)
                    part.rename(self.folder / name)
                    deb.unlink()
            debs.rmdir()
        return [self.folder / name for name in packages]

    def kernel(self, meta: str) -> Path:
        """Return the folder of the kernel that a name such as linux-image-amd64 depends on."""
        stamp = self.folder / f"{meta}.is"
        if not stamp.exists():
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.write_text(self.needs(meta, r"^linux-image-[0-9]")[0])
        return self.unpacked(stamp.read_text())[0]


def mirror() -> str:
    """Return the host's mirror of Debian's main archive."""
    if not KEYRING.exists() or not shutil.which("apt-get"):
        raise NotHere(f"{KEYRING} or apt-get is missing: this needs a Debian host")
    done = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)"],
        capture_output=True,
        text=True,
        check=True,
    )
    for line in done.stdout.splitlines():
        if re.search(r"/debian/?$", line.strip()):
            return line.strip()
    raise NotHere("apt's sources have no mirror of Debian (…/debian): add one")
