"""Run in the guest as root: bring the machine into each state and run the checks in it.

    python -m tests.vm.guest OUT SCENARIO…

Rows are written to OUT/rows.jsonl, with the scenario's name.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.vm import container

GROUPS = Path("/sys/fs/cgroup")
USER = 4321
CONTROLLERS = "+cpu +memory +pids"


@dataclass(frozen=True)
class Scenario:
    """A state of the machine and the expected level.

    level    the level that must be chosen by default; "": all must be refused
    uid      user id of the grader
    group    control group of the grader; "": the machine's root group
    container  "private" or "host": in a container of runc with that namespace of control groups
    sysctls  settings in /proc/sys
    only     check only the choice, not the figures
    """

    level: str
    uid: int = 0
    group: str = ""
    delegated: bool = False
    container: str = ""
    sysctls: tuple[tuple[str, str], ...] = ()
    only: bool = False


NO_USERNS = (("user/max_user_namespaces", "0"),)
SCENARIOS = {
    "root": Scenario("full"),
    "root beside others of its group": Scenario("full", group="session", only=True),
    "root of a privileged container": Scenario("full", container="private"),
    "root of one with the host's control groups": Scenario("full", container="host", only=True),
    "user with a delegated group": Scenario("delegated", USER, "delegated", delegated=True),
    "user": Scenario("userns", USER, "plain", only=True),
    "user, kernel.unprivileged_userns_clone=0": Scenario(
        "landlock", USER, "plain", sysctls=(("kernel/unprivileged_userns_clone", "0"),), only=True
    ),
    "user, user.max_user_namespaces=0": Scenario(
        "landlock", USER, "plain", sysctls=NO_USERNS, only=True
    ),
    "user, neither user namespaces nor Landlock": Scenario(
        "", USER, "plain", sysctls=NO_USERNS, only=True
    ),
}


def _enter(group: str, delegated: bool, uid: int) -> Callable[[], None]:
    """Return a function for a new process: it enters the group, then becomes the user."""
    folder = GROUPS / group
    folder.mkdir(exist_ok=True)
    if group:  # as systemd does
        (GROUPS / "cgroup.subtree_control").write_text(CONTROLLERS)
    if delegated:
        for path in (folder, folder / "cgroup.procs", folder / "cgroup.subtree_control"):
            os.chown(path, USER, USER)

    def enter() -> None:
        (folder / "cgroup.procs").write_text(str(os.getpid()))
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)

    return enter


def _cache(out: Path, uid: int) -> Path:
    """Copy what was built on the host into a folder of the user."""
    folder = Path(f"/tmp/cache-{uid}")
    if not folder.exists():
        shutil.copytree(out / "cache", folder)
        for path in (folder, *folder.iterdir()):
            path.chmod(0o700)
            os.chown(path, uid, uid)
    return folder


def run(name: str, out: Path, rows: Callable[[dict[str, object]], None]) -> None:
    """Run one scenario and pass its rows on."""
    scenario = SCENARIOS[name]
    before = {}
    for key, value in scenario.sysctls:
        path = Path("/proc/sys") / key
        before[path] = path.read_text()
        path.write_text(value)
    enter = _enter(scenario.group, scenario.delegated, scenario.uid)
    cache = _cache(out, scenario.uid)
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",
        "GRADEBOX_CACHE": str(cache),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": "/mnt/repo/src",
    }
    what = "choice" if scenario.only else "all"
    command = [sys.executable, "-m", "tests.vm.checks", scenario.level, str(cache / "uses"), what]
    neighbour = None
    if scenario.group == "session":
        neighbour = subprocess.Popen(["sleep", "600"], preexec_fn=enter)
    seconds = time.monotonic()
    if scenario.container:
        command = container.start(command, environment, scenario.container == "private")
    with (
        (out / "stderr").open("a") as stderr,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=environment,
            cwd="/mnt/repo",
            preexec_fn=enter,
        ) as running,
    ):
        assert running.stdout is not None
        for line in running.stdout:
            rows({"scenario": name, **json.loads(line)})
    if neighbour is not None:
        neighbour.kill()
        neighbour.wait()
    for path, value in before.items():
        path.write_text(value)
    took = time.monotonic() - seconds
    end = {
        "check": "exit status of the checks",
        "expected": 0,
        "seen": running.returncode,
        "unit": "",
    }
    rows({"scenario": name, **end, "ok": running.returncode == 0, "seconds": round(took)})


def main(out: str, *names: str) -> int:
    """Run the given scenarios."""
    with (Path(out) / "rows.jsonl").open("a") as file:

        def rows(row: dict[str, object]) -> None:
            file.write(json.dumps(row) + "\n")
            file.flush()

        for name in names:
            run(name, Path(out), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
