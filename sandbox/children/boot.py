"""The start of a child process: run as a script, it imports its parent's gradebox and no other.

    boot.py DESCRIPTOR {"package": file, "path": [folder], "main": "module:function", "args": […]}

It is started without the `site` module, so that neither the working folder nor PYTHONPATH is
searched, and then uses the module path of its parent.
"""

import sys

if not sys.flags.isolated:
    del sys.path[0]  # this file's folder

import importlib.util
import json
import os
import socket


def main() -> None:
    fd, given = int(sys.argv[1]), json.loads(sys.argv[2])
    os.set_inheritable(fd, False)
    # The standard library first: the other folders may be the user's own, with any files.
    sys.path += [folder for folder in given["path"] if folder not in sys.path]
    _load_package(given["package"])
    from gradebox.sandbox.children.channel import Channel

    module, _, name = given["main"].partition(":")
    function = getattr(importlib.import_module(module), name)
    function(Channel(socket.socket(fileno=fd)), *given["args"])


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
