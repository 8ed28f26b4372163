"""Boot a virtual machine and run a command in it as root.

The guest sees the host's files read-only: the root at /, the repository at /mnt/repo. It can write
to /mnt/out, a folder made for this boot.
"""

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.vm.image import initramfs
from tests.vm.packages import NotHere, Suite

# Hosts of nested machines refuse to set this bit (MSR 0x10a).
HOST_CPU = {"x86_64": "host,arch-capabilities=off", "aarch64": "host"}
REPO = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Arch:
    """How a machine of one architecture is booted."""

    debian: str
    qemu: str
    package: str
    machine: tuple[str, ...]
    console: str
    cpu: str  # for emulation


ARCHES = {
    "x86_64": Arch("amd64", "qemu-system-x86_64", "qemu-system-x86", ("q35",), "ttyS0", "max"),
    "aarch64": Arch(
        "arm64", "qemu-system-aarch64", "qemu-system-arm", ("virt",), "ttyAMA0", "cortex-a72"
    ),
}


def cache_folder() -> Path:
    """Return the folder of packages: GRADEBOX_VM_CACHE, else ~/.cache/gradebox-vm."""
    named = os.environ.get("GRADEBOX_VM_CACHE")
    folder = Path(named) if named else Path("~/.cache/gradebox-vm").expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def accelerated(machine: str) -> bool:
    """Return whether to run the machine with KVM.

    A KVM without hardware support (kvm_pvm, under another hypervisor) needs special guests;
    Debian's kernels hang in it. GRADEBOX_VM_ACCEL (kvm or tcg) overrides the choice.
    """
    named = os.environ.get("GRADEBOX_VM_ACCEL")
    if named:
        return named == "kvm" and machine == platform.machine()
    if machine != platform.machine() or not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    modules = ("kvm_intel", "kvm_amd") if machine == "x86_64" else ("kvm",)
    return any(Path("/sys/module", name).is_dir() for name in modules)


@dataclass(frozen=True)
class Boot:
    """One machine to boot.

    suite, kernel   a release of Debian, the name of the kernel package in it
    command         shell command to run in the guest
    root            root folder of the guest; "/": the host's root
    """

    machine: str
    suite: str
    kernel: str
    command: str
    append: str = ""
    root: Path = Path("/")
    memory_mib: int = 3072
    cpus: int = 2
    patience_s: float = 900.0


def run(boot: Boot, out: Path) -> str:
    """Boot a machine and wait for its end. Return the console's text; results are in `out`.

    Raises NotHere when qemu or a package is missing.
    """
    arch = ARCHES[boot.machine]
    qemu = shutil.which(arch.qemu)
    if not qemu:
        raise NotHere(f"{arch.qemu} is missing: apt-get install {arch.package}")
    suite = Suite(cache_folder(), boot.suite, arch.debian)
    kernel = suite.kernel(boot.kernel)
    busybox = suite.unpacked("busybox-static")[0]
    binary = next(p for p in (busybox / "bin/busybox", busybox / "usr/bin/busybox") if p.exists())
    image = out.parent / f"{out.name}.initramfs"
    image.write_bytes(initramfs(binary, kernel))
    (out / "command").write_text(boot.command)
    kvm = accelerated(boot.machine)
    command = [qemu, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    command += ["-machine", ",".join((*arch.machine, "accel=" + ("kvm" if kvm else "tcg")))]
    if not kvm:  # The clock counts instructions: CPU time is exact whatever the host is doing.
        # Linux does not start on several cores emulated like this.
        command += ["-icount", "shift=1,sleep=off"]
    command += [
        "-cpu",
        HOST_CPU[boot.machine] if kvm else arch.cpu,
        "-smp",
        str(boot.cpus if kvm else 1),
    ]
    command += ["-m", str(boot.memory_mib), "-serial", "stdio", "-monitor", "none", "-nic", "none"]
    command += ["-kernel", str(next((kernel / "boot").glob("vmlinuz-*"))), "-initrd", str(image)]
    command += ["-append", f"console={arch.console} panic=-1 quiet cgroup_no_v1=all {boot.append}"]
    command += ["-device", "virtio-rng-pci"]
    shares = (("root", boot.root, True), ("repo", REPO, True), ("out", out, False))
    for tag, path, readonly in shares:
        options = f"local,id={tag},path={path},security_model=none,multidevs=remap"
        command += ["-fsdev", options + (",readonly=on" if readonly else "")]
        command += ["-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=boot.patience_s,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode(errors="replace")
        return f"{text}\nqemu: still running after {boot.patience_s:.0f} s, ended\n"
    finally:
        image.unlink(missing_ok=True)
    return done.stdout + done.stderr
