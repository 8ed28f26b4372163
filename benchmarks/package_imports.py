"""Imports of installed packages in the embedded sandbox, by fork and by exec: what differs.

    python benchmarks/package_imports.py FOLDER [--most 300] [--groups 60] [--seed 1] [NAME ...]

FOLDER is one of packages, such as a virtual environment's `site-packages`. Each package is imported
by a program of its own, then seeded random orders of five are. A program prints `sys.modules` in
its order, the names in each module and whether its parent has that very module, and the names of
`__main__`; its exit status and its output must be those of a plain start. A program whose plain
starts differ from each other is counted apart. `in advance`: the imports were made before the fork.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, f"{sys.path[0]}/src")

from gradebox.sandbox.box import EmbeddedSandbox, embedded
from gradebox.sandbox.box.isolation import layout
from gradebox.sandbox.box.python.start import PythonStart
from gradebox.sandbox.box.wire import Reply
from gradebox.sandbox.model import MIB, Limits, Program

LIMITS = Limits(
    cpu_s=60,
    wall_s=60,
    memory_bytes=2048 * MIB,
    processes=64,
    output_bytes=16 * MIB,
    stderr_bytes=1 << 16,
)
SHOW = """
names = list(globals())
def show():
    import json, sys
    modules = dict(sys.modules)
    def parents(name):
        parent, _, last = name.rpartition(".")
        return getattr(modules.get(parent), "__dict__", {}).get(last) is modules[name]
    seen = [[name, parents(name), list(getattr(m, "__dict__", ()))] for name, m in modules.items()]
    print(json.dumps([names, seen, sys.getrecursionlimit(), len(sys.meta_path), sys.path]))
show()
"""
ADDRESS = re.compile(rb"0x[0-9a-f]{8,}")


def packages(folder: Path) -> Iterator[str]:
    """Yield one importable name for each distribution in the folder."""
    for found in importlib.metadata.distributions(path=[str(folder)]):
        roots = {file.parts[0] for file in found.files or () if len(file.parts) <= 2}
        names = {root.removesuffix(".py") for root in roots}
        names = {name for name in names if name.isidentifier() and name[0] != "_"}
        names = {x for x in names if (folder / f"{x}.py").exists() or (folder / x).is_dir()}
        own = re.sub(r"[-.]+", "_", found.metadata["Name"]).lower()
        if names:
            yield min(names, key=lambda name: (name.lower() != own, name))


class Starts:
    """Two sandboxes whose programs may import the packages of a folder."""

    def __init__(self, folder: Path) -> None:
        host = embedded.inspect_host()  # type: ignore[attr-defined]
        embedded.inspect_host = lambda: replace(host, binds=(*host.binds, str(folder)))  # type: ignore[attr-defined]
        layout.ENVIRONMENT = {**layout.ENVIRONMENT, "PYTHONPATH": str(folder)}
        self.by_fork = EmbeddedSandbox(1)
        self.plain = EmbeddedSandbox(1, python_start="exec")
        self.in_advance = False
        as_plain = PythonStart.as_plain

        def keep(start: PythonStart, reply: Reply, program: Any) -> Reply:
            self.in_advance = bool(reply.forked and reply.start_ns)
            return as_plain(start, reply, program)

        PythonStart.as_plain = keep  # type: ignore

    def seen(self, sandbox: EmbeddedSandbox, source: str) -> tuple[object, ...]:
        """Return what a run shows."""
        compiled = sandbox.compile(Program("python", {"main.py": source.encode()}))
        run = sandbox.run(compiled, LIMITS)
        texts = (ADDRESS.sub(b"0x", text) for text in (run.stdout, run.stderr))
        return (run.exit_code, run.signal, run.killed_for, *texts)


def difference(forked: Sequence[Any], plain: Sequence[Any]) -> str:
    """Return in words what a forked run shows otherwise than a plain one."""
    try:
        (names, mine, *rest), (other_names, other, *other_rest) = map(
            json.loads, (forked[3], plain[3])
        )
    except ValueError:
        return f"by fork {forked[:3]} {forked[4][-200:]}, by exec {plain[:3]} {plain[4][-200:]}"
    only = [[row[0] for row in a if row not in b] for a, b in ((mine, other), (other, mine))]
    same_order = [row[0] for row in mine] == [row[0] for row in other]
    texts = f"modules by fork {only[0][:9]}, by exec {only[1][:9]}, in the same order: {same_order}"
    return f"{texts}, __main__ {names == other_names}, the rest {rest == other_rest}"


def compare(starts: Starts, names: Sequence[str]) -> str:
    """Run the imports both ways. Return what the outcome counts as."""
    source = "".join(f"import {name}\n" for name in names) + SHOW
    forked, plain = starts.seen(starts.by_fork, source), starts.seen(starts.plain, source)
    how = "in advance" if starts.in_advance else "in the run"
    if forked == plain:
        return f"the same, imported {how}, exit status {plain[0]}"
    if starts.seen(starts.plain, source) != plain:
        print(f"{' '.join(names)}: plain starts differ from each other", flush=True)
        return "unsteady"
    print(f"{' '.join(names)} ({how}): {difference(forked, plain)}", flush=True)
    return "different"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, help="folder of packages")
    parser.add_argument("--most", type=int, default=300, help="packages (default 300)")
    parser.add_argument("--groups", type=int, default=60, help="orders of five (default 60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*", help="only these, together")
    args = parser.parse_args()
    names = sorted(set(packages(args.folder)))
    rng = random.Random(args.seed)
    names = sorted(rng.sample(names, min(args.most, len(names))))
    starts = Starts(args.folder)
    if args.names:
        print(compare(starts, args.names))
        return 0
    alone = Counter(compare(starts, [name]) for name in names)
    groups = Counter(compare(starts, rng.sample(names, 5)) for _ in range(args.groups))
    for label, counts in ((f"{len(names)} packages", alone), (f"{args.groups} orders", groups)):
        print(f"{label}: {dict(counts.most_common())}")
    return bool(alone["different"] + groups["different"])


if __name__ == "__main__":
    sys.exit(main())
