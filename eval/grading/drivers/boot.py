"""The start of a driver process: run as a script, it imports this gradebox and no other.

The first message on the socket named on the command line is JSON: {"package", "path"}. The
interpreter is started with -I, so that neither the working folder nor PYTHONPATH is searched, and
then uses the module path of the process that started it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys


def main() -> None:
    fd = load()
    from gradebox.eval.grading.drivers.driver import run_driver

    run_driver(fd)


def load() -> int:
    """Make gradebox importable; return the descriptor of the socket."""
    fd = int(sys.argv[1])
    os.set_inheritable(fd, False)
    boot = json.loads(_read(fd, int.from_bytes(_read(fd, 4), "little")))
    # The standard library first: the other folders may be the user's own, with any files.
    sys.path += [folder for folder in boot["path"] if folder not in sys.path]
    _load_package(boot["package"])
    return fd


def _read(fd: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = os.read(fd, size - len(data))
        if not part:
            sys.exit(0)  # the process that started this one has ended
        data += part
    return data


def _load_package(file: str) -> None:
    """Load gradebox from its file, whatever else has that name on the module path."""
    folders = [os.path.dirname(file)]  # noqa: PTH120 - pathlib is slow to import
    spec = importlib.util.spec_from_file_location(
        "gradebox", file, submodule_search_locations=folders
    )
    if spec is None or spec.loader is None:
        raise ImportError(file)
    package = importlib.util.module_from_spec(spec)
    sys.modules["gradebox"] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    main()
