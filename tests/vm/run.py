"""Boot each machine of the table, run the checks in it and write the results into the docs.

    python -m tests.vm.run [NAME…] [--no-record]

Needs a Debian host with qemu and apt, but no root. Kernels come from Debian's packages and are
cached in ~/.cache/gradebox-vm (GRADEBOX_VM_CACHE). Exit status: 0 all checks passed, 1 a check
failed, 2 something is missing; the message says what to install.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gradebox.sandbox.box import build
from testing.submissions.hostile.model import PROGRAMS
from tests.vm import container, record
from tests.vm.guest import SCENARIOS
from tests.vm.machine import ARCHES, REPO, Boot, accelerated, cache_folder, run
from tests.vm.packages import NotHere, Suite

USES = REPO / "tests/sandbox/programs/uses.cpp"
# The packages of another architecture that the checks need: Python and a shell.
PACKAGES = (
    "libc6",
    "libgcc-s1",
    "zlib1g",
    "libexpat1",
    "libssl3",
    "libffi8",
    "libbz2-1.0",
    "liblzma5",
    "libuuid1",
    "python3.11-minimal",
    "libpython3.11-minimal",
    "libpython3.11-stdlib",
    "dash",
    "busybox-static",
)
CROSS = {"aarch64": "aarch64-linux-gnu-"}


@dataclass(frozen=True)
class Machine:
    """One machine: its kernel, how it starts, its scenarios."""

    name: str
    kind: str
    suite: str
    kernel: str
    scenarios: tuple[str, ...]
    append: str = ""
    own_root: bool = False
    patience_s: float = 2400.0


REFUSED = "user, neither user namespaces nor Landlock"
MACHINES = (
    Machine(
        "Linux 6.1",
        "x86_64",
        "bookworm",
        "linux-image-amd64",
        tuple(name for name in SCENARIOS if name != REFUSED),
    ),
    Machine(
        "Linux 6.12",
        "x86_64",
        "trixie",
        "linux-image-amd64",
        tuple(name for name in SCENARIOS if name != REFUSED),
    ),
    Machine(
        "Linux 6.1 without Landlock",
        "x86_64",
        "bookworm",
        "linux-image-amd64",
        (REFUSED,),
        append="lsm=capability,yama",
    ),
    Machine(
        "Linux 6.1 on aarch64",
        "aarch64",
        "bookworm",
        "linux-image-arm64",
        ("root", "user with a delegated group", "user, user.max_user_namespaces=0"),
        own_root=True,
        patience_s=3600.0,
    ),
)


def _compiler(machine: Machine, tool: str) -> str:
    own = os.uname().machine == machine.kind
    name = tool if own else CROSS.get(machine.kind, "") + tool
    if not shutil.which(name):
        arch = machine.kind.replace("_", "-")
        package = tool if own else f"{tool}-{arch}-linux-gnu libc6-dev-arm64-cross"
        raise NotHere(f"{name} is missing: apt-get install {package}")
    return name


def _built(machine: Machine, folder: Path) -> None:
    """Build the launcher, the program that uses known amounts and the attacks for a machine."""
    folder.mkdir(mode=0o700)
    for part in build.PARTS:
        part.build(folder / part.file_name(machine.kind), _compiler(machine, "gcc"))
    for source in (USES, *PROGRAMS.glob("*.cpp")):
        command = [_compiler(machine, "g++"), "-O2", "-static", "-pthread", str(source)]
        subprocess.run([*command, "-o", str(folder / source.stem)], check=True)


def _check_runc(machine: Machine) -> None:
    wanted = any(SCENARIOS[name].container for name in machine.scenarios)
    if wanted and not Path(container.RUNC).exists():
        raise NotHere(f"{container.RUNC} is missing: apt-get install runc")


def _root(machine: Machine) -> Path:
    """Return the host's root, or one made of unpacked packages for another architecture."""
    if not machine.own_root:
        return Path("/")
    suite = Suite(cache_folder(), machine.suite, ARCHES[machine.kind].debian)
    root = suite.folder / "root"
    if not root.exists():
        part = suite.folder / "root.part"
        shutil.rmtree(part, ignore_errors=True)
        # As in Debian, /lib and /bin are links: some packages still use those paths.
        for name in ("bin", "lib", "sbin"):
            (part / "usr" / name).mkdir(parents=True)
            (part / name).symlink_to(f"usr/{name}")
        for name in ("dev", "proc", "sys", "tmp", "run", "mnt", "etc"):
            (part / name).mkdir()
        for package in suite.unpacked(*PACKAGES):
            _merge(package, part)
        for name, target in (("python3", "python3.11"), ("sh", "dash"), ("sync", "busybox")):
            link = part / "usr/bin" / name
            if not link.exists():
                link.symlink_to(target)
        (part / "usr/bin/sleep").symlink_to("busybox")
        part.rename(root)
    return root


def _merge(package: Path, root: Path) -> None:
    """Copy a package's files into a root whose /bin, /lib and /sbin are links."""
    for path in sorted(package.rglob("*")):
        to = root / path.relative_to(package)
        if path.is_dir() and not path.is_symlink():
            to.mkdir(parents=True, exist_ok=True)
        elif not to.exists() and not to.is_symlink():
            shutil.copy2(path, to, follow_symlinks=False)


def boot(machine: Machine, patience_s: float) -> list[dict[str, object]]:
    """Boot a machine and return the rows of its checks, with one for an early end."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gradebox-vm-") as folder:
        out = Path(folder) / "out"
        out.mkdir()
        _check_runc(machine)
        _built(machine, out / "cache")
        names = shlex.join(machine.scenarios)
        command = (
            "cd /mnt/repo; read k < /proc/sys/kernel/osrelease; echo $k > /mnt/out/kernel; "
            f"/usr/bin/python3 -m tests.vm.guest /mnt/out {names}"
        )
        console = run(
            Boot(
                machine.kind,
                machine.suite,
                machine.kernel,
                command,
                append=machine.append,
                root=_root(machine),
                patience_s=patience_s,
            ),
            out,
        )
        path, kernel = out / "rows.jsonl", out / "kernel"
        rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        release = kernel.read_text().strip() if kernel.exists() else "did not start"
        errors = (out / "stderr").read_text() if (out / "stderr").exists() else ""
    if "guest: exit 0" not in console:
        print(console[-2000:], errors[-2000:], file=sys.stderr)
        end = {
            "check": "exit status of the guest",
            "expected": 0,
            "seen": "not reached",
            "unit": "",
        }
        rows.append({"scenario": "", **end, "ok": False})
    elif any(not row["ok"] for row in rows):
        print(errors[-2000:], file=sys.stderr)
    about = {"machine": machine.name, "kernel": release, "kvm": accelerated(machine.kind)}
    print(f"{machine.name}: {len(rows)} checks in {time.monotonic() - started:.0f} s")
    return [{**about, **row} for row in rows]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    names = [machine.name for machine in MACHINES]
    parser = argparse.ArgumentParser(prog="tests.vm.run", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(names)}; default: all")
    parser.add_argument(
        "--no-record", action="store_true", help="do not write results into the docs"
    )
    parser.add_argument("--patience", type=float, help="time limit for a machine, in seconds")
    given = parser.parse_args(argv)
    unknown = [name for name in given.names if name not in names]
    if unknown:
        print(f"no machine {unknown[0]!r}; known: {', '.join(names)}", file=sys.stderr)
        return 2
    bad = 0
    for machine in MACHINES:
        if given.names and machine.name not in given.names:
            continue
        try:
            rows = boot(machine, given.patience or machine.patience_s)
        except NotHere as missing:
            print(f"{machine.name}: {missing}", file=sys.stderr)
            return 2
        for row in rows:
            if not row["ok"]:
                bad += 1
                print("  {scenario}: {check}: expected {expected}, seen {seen}".format(**row))
        if not given.no_record:
            record.keep(machine.name, rows)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
