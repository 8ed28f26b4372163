"""The figures of a forked run, as a plain start of the same program has them.

A forked run is spared the interpreter's start and its imports, and shares its template's memory:

    CPU time  =  that of the run  +  a plain start's, less that of a forked empty program
                                  +  that of importing its modules  +  that of compiling it
    memory    =  that of a plain start of an empty program  +  what the run's process added to it

The process's peak resident size counts pages that it shares with its template, or has copied from
it, once. Only pages of files differ: a fork does not inherit them, and a plain start has touched
more of them.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from gradebox.sandbox.box.wire import Reply, with_figures


@dataclass(frozen=True)
class Calibration:
    """Runs of an empty program, started both ways.

    plain_ns      least CPU time of a plain start
    plain_memory  its memory, bytes
    forked        the forked run with the least CPU time
    files_without_imports  bytes of file pages in the memory of a template process that imported
                           only what the base template had imported already
    """

    plain_ns: int
    plain_memory: int
    forked: Reply
    files_without_imports: int

    @classmethod
    def of(cls, plain: Sequence[Reply], forked: Sequence[Reply], other: Reply) -> Calibration:
        """Return what several runs of each kind show.

        other  a forked run of a further template, which imported only what the base template had
        """
        return cls(
            min(reply.cpu_ns for reply in plain),
            int(statistics.median(reply.memory for reply in plain)),
            min(forked, key=lambda reply: reply.cpu_ns),
            other.template_file,
        )


def as_plain(reply: Reply, base: Calibration, *, grouped: bool, compile_ns: int) -> Reply:
    """Return the reply to a forked run with the figures of a plain start.

    grouped  memory is that of a control group; otherwise the resident size of the process
    """
    spared = max(0, base.plain_ns - base.forked.cpu_ns) + reply.start_ns + compile_ns
    empty = base.forked
    files_of_empty = max(0, empty.rss - empty.template_anon)
    # What it added to its template's memory may be files of the interpreter and of its modules,
    # which nobody looked at, or memory of its own.
    added = max(0, min(reply.rss - reply.template_anon, reply.template_file))
    files = max(reply.file, added if reply.start_ns else (files_of_empty + added) // 2)
    if grouped:
        own = base.plain_memory - empty.template_anon + reply.rss - files
        memory = max(own, reply.memory)
    else:
        files_of_plain = empty.template_file
        if reply.start_ns:  # its template has touched files of its own to import modules
            files_of_plain += max(0, reply.template_file - base.files_without_imports)
        rest = base.plain_memory - (empty.rss - files_of_empty) - empty.template_file
        files_of_plain += max(0, files - reply.template_file)
        memory = reply.rss - files + files_of_plain + rest
    return with_figures(reply, reply.cpu_ns + spared, memory)
