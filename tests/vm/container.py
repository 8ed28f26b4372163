"""A privileged container as Docker makes it, by the same runtime (runc).

All capabilities, no filter, a writable control group: the options of `docker run --privileged`.
The container has the guest's root as its own, and processes, mounts and a host name of its own.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

CAPABILITIES = """
    chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap linux_immutable
    net_bind_service net_broadcast net_admin net_raw ipc_lock ipc_owner sys_module sys_rawio
    sys_chroot sys_ptrace sys_pacct sys_admin sys_boot sys_nice sys_resource sys_time
    sys_tty_config mknod lease audit_write audit_control setfcap mac_override mac_admin syslog
    wake_alarm block_suspend audit_read perfmon bpf checkpoint_restore
"""  # by their number in Linux
RUNC = "/usr/sbin/runc"  # of the host, whose root is the guest's
FOLDER = Path("/run/container")
NAMESPACES = ("mount", "pid", "ipc", "uts", "network")
MOUNTS = (  # place, kind, source, options: Docker's own, then the folders of the checks
    ("/proc", "proc", "proc", "nosuid,noexec,nodev"),
    ("/dev", "tmpfs", "tmpfs", "nosuid,strictatime,mode=755,size=65536k"),
    ("/dev/pts", "devpts", "devpts", "nosuid,noexec,newinstance,ptmxmode=0666,mode=0620,gid=5"),
    ("/sys", "sysfs", "sysfs", "nosuid,noexec,nodev"),
    ("/sys/fs/cgroup", "cgroup", "cgroup", "nosuid,noexec,nodev,relatime"),
    ("/dev/mqueue", "mqueue", "mqueue", "nosuid,noexec,nodev"),
    ("/dev/shm", "tmpfs", "shm", "nosuid,noexec,nodev,mode=1777,size=65536k"),
    ("/tmp", "bind", "/tmp", "rbind"),
    ("/mnt", "tmpfs", "tmpfs", ""),
    ("/mnt/repo", "bind", "/mnt/repo", "rbind,ro"),
)


def start(command: list[str], environment: dict[str, str], private: bool) -> list[str]:
    """Return the command that runs another one in a new container."""
    root = FOLDER / "root"
    root.mkdir(parents=True, exist_ok=True)
    if not root.is_mount():
        subprocess.run(["mount", "--bind", "/", root], check=True)
    text = json.dumps(settings(command, environment, private))
    (FOLDER / "config.json").write_text(text)
    return [RUNC, "run", "--bundle", str(FOLDER), "container"]


def held_capabilities() -> list[str]:
    """Return the names of the capabilities of this process."""
    status = Path("/proc/self/status").read_text()
    held = int(status.partition("CapEff:")[2].split()[0], 16)
    return [f"CAP_{name.upper()}" for n, name in enumerate(CAPABILITIES.split()) if held >> n & 1]


def settings(command: list[str], environment: dict[str, str], private: bool) -> dict[str, Any]:
    """Return the container's config.json.

    private  its namespace of control groups is its own, else the host's
    """
    rights = held_capabilities()
    return {
        "ociVersion": "1.0.2",
        "hostname": "container",
        "root": {"path": str(FOLDER / "root")},
        "process": {
            "args": command,
            "env": [f"{name}={value}" for name, value in environment.items()],
            "cwd": "/mnt/repo",
            "user": {"uid": 0, "gid": 0},
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), rights),
        },
        "mounts": [
            {
                "destination": place,
                "type": kind,
                "source": source,
                "options": [word for word in options.split(",") if word],
            }
            for place, kind, source, options in MOUNTS
        ],
        "linux": {
            "cgroupsPath": "/docker/container",
            "resources": {"devices": [{"allow": True, "access": "rwm"}]},
            "namespaces": [
                {"type": name} for name in (*NAMESPACES, *(["cgroup"] if private else []))
            ],
        },
    }
