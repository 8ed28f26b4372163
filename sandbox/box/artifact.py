"""What a box runs: an executable shared by descriptor, or files that go into /program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sandbox.box.blob import Executable

PROGRAM = "{program}"  # in a command: the folder of the program's files, wherever the box has it


@dataclass
class Artifact:
    """A compiled program as the embedded box holds it.

    argv        the command; the program's own arguments follow
    executable  run by its descriptor when given
    files       else what lies in /program, by name
    digest      tells one set of files from another
    """

    argv: tuple[str, ...]
    digest: str
    executable: Executable | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)

    def command(self, program: str, args: Sequence[str] = ()) -> list[str]:
        """The command and its arguments, the folder of the program's files filled in."""
        return [*(part.replace(PROGRAM, program) for part in self.argv), *args]

    def close(self) -> None:
        """Lets the executable go; another holder keeps it alive."""
        if self.executable is not None:
            self.executable.close()
