"""The initial file system of a virtual machine: busybox, kernel modules, a script.

initramfs ──▶ mounts the host's root (read-only, 9p) ──▶ switches to it (a chroot would not allow
                                                        user namespaces)
"""

import lzma
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

WANTED = ("virtio_pci", "virtio_mmio", "9pnet_virtio", "9p", "virtio_rng")
INIT = """#!/bin/busybox sh
B=/bin/busybox
$B mount -t proc proc /proc
$B mount -t sysfs sysfs /sys
$B mount -t devtmpfs dev /dev
for m in $($B cat /modules/order); do $B insmod /modules/$m || echo "insmod $m failed"; done
O=trans=virtio,version=9p2000.L,msize=524288
share() { $B mount -t 9p -o $O,$3 "$1" "$2" || echo "no $1"; }
share root /new ro,cache=loose
for d in proc sys dev; do $B mount --move /$d /new/$d; done
$B mount -t tmpfs -o mode=1777 tmp /new/tmp
$B mount -t tmpfs tmp /new/run
$B mount -t tmpfs tmp /new/mnt
$B mkdir /new/mnt/repo /new/mnt/out /dev/shm 2>/dev/null
$B mkdir -p /new/dev/shm && $B mount -t tmpfs -o mode=1777 shm /new/dev/shm
share repo /new/mnt/repo ro,cache=loose
share out /new/mnt/out rw,cache=none
$B mount -t cgroup2 -o nsdelegate cgroup2 /new/sys/fs/cgroup
$B ip link set lo up
exec $B switch_root /new /bin/sh -c '
  /bin/sh /mnt/out/command
  echo "guest: exit $?"
  sync
  echo o > /proc/sysrq-trigger
  sleep 60'
"""


def _entry(name: str, mode: int, data: bytes, number: int) -> bytes:
    """Return one member of a cpio archive in the kernel's format (newc)."""
    path = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + path
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def archive(members: Iterable[tuple[str, int, bytes]]) -> bytes:
    """Return a cpio archive of (name, mode with file type, contents)."""
    out = [_entry(name, mode, data, i) for i, (name, mode, data) in enumerate(members, 1)]
    return b"".join(out) + _entry("TRAILER!!!", 0, b"", 0)


def _modules(kernel: Path) -> dict[str, Path]:
    found = {}
    for path in kernel.rglob("*.ko*"):
        found[path.name.split(".")[0].replace("-", "_")] = path
    return found


def module_bytes(path: Path) -> bytes:
    """Return a module as the kernel loads it."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def load_order(kernel: Path, wanted: Iterable[str] = WANTED) -> Iterator[tuple[str, bytes]]:
    """Yield modules and their dependencies, each after its dependencies.

    A name without a file is built into the kernel.
    """
    files = _modules(kernel)
    done: set[str] = set()

    def visit(name: str) -> Iterator[tuple[str, bytes]]:
        if name in done or name not in files:
            return
        done.add(name)
        data = module_bytes(files[name])
        needs = re.search(rb"\0depends=([^\0]*)\0", data)
        for other in needs[1].decode().split(",") if needs else ():
            yield from visit(other.replace("-", "_"))
        yield name, data

    for name in wanted:
        yield from visit(name)


def initramfs(busybox: Path, kernel: Path) -> bytes:
    """Return the archive for a kernel package; `busybox` is a static binary."""
    folder, file, run = 0o040755, 0o100644, 0o100755
    members = [(name, folder, b"") for name in ("bin", "dev", "proc", "sys", "new", "modules")]
    members += [("bin/busybox", run, busybox.read_bytes()), ("init", run, INIT.encode())]
    modules = list(load_order(kernel))
    order = "".join(f"{name}.ko\n" for name, _ in modules)
    members.append(("modules/order", file, order.encode()))
    members += [(f"modules/{name}.ko", file, data) for name, data in modules]
    return archive(members)
