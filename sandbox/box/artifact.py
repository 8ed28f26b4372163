"""What a box runs: an executable shared by descriptor, or files that go into /program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sandbox.box.blob import Executable
from sandbox.languages import fill, memory_places
from sandbox.model import MIB

PROGRAM = "{program}"  # in a command: the folder of the program's files, wherever the box has it


@dataclass
class Artifact:
    """A compiled program as the embedded box holds it.

    argv        the command; the program's own arguments follow
    executable  run by its descriptor when given
    files       else what lies in /program, by name
    digest      tells one set of files from another
    processes   processes and threads its runtime needs beside the program's own
    """

    argv: tuple[str, ...]
    digest: str
    executable: Executable | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    processes: int = 0

    def command(
        self, program: str, args: Sequence[str] = (), memory_bytes: int = 256 * MIB
    ) -> list[str]:
        """The command and its arguments; the folder of the program's files and the run's
        memory limit are filled in."""
        places = {PROGRAM: program, **memory_places(memory_bytes)}
        return [*(fill(part, places) for part in self.argv), *args]

    @property
    def size(self) -> int:
        """Bytes it holds in memory."""
        own = self.executable.size if self.executable else 0
        return own + sum(len(data) for data in self.files.values())

    def close(self) -> None:
        """Lets the executable go; another holder keeps it alive."""
        if self.executable is not None:
            self.executable.close()
