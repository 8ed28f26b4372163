"""Attacks on the compiler: sources that read the host, use up resources, or make a bad program.

The filter allows compilers to fork. What they may read and use is limited like a program's.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.toolchains.compiler import LIMITS as COMPILER
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import MIB, Compiled, Limits, Program
from testing.submissions.hostile import host

LIMITS = replace(COMPILER, cpu_s=0.6, wall_s=6.0, memory_bytes=400 * MIB, file_size_bytes=64 * MIB)
RUN = Limits(cpu_s=1.0, wall_s=3.0)


@dataclass(frozen=True)
class Source:
    """One source; those in sources.jsonl have the fields that are not the default.

    ok  whether the compiler must accept it; None: either, within its limits
    """

    name: str
    tries: str
    text: str
    ok: bool | None = False


SOURCES = (
    *(
        Source(**json.loads(line))
        for line in Path(__file__).with_name("sources.jsonl").read_text("utf-8").splitlines()
    ),
    Source(
        "errors",
        "megabytes of errors",
        "#define E e e e e e e e e e e\n" + "int main(){" + "E; " * 1000 + "}",
    ),
    Source(
        "brackets",
        "a deep parse",
        "int main(){return " + "(" * 20000 + "1" + ")" * 20000 + ";}",
        None,
    ),
)

# A program that compiles and that the kernel refuses to execute is the program's own failure.
LOADER = (
    'const char loader[] __attribute__((section(".interp"), used)) = "/no/such/loader";int main(){}'
)
SPAN = "char a[1L<<46];int main(){return a[7];}"
NOT_EXECUTABLE = (
    ("loader", "a missing loader", LOADER),
    ("span", "64 TB of address space", SPAN),
)


def outcomes(
    sandbox: EmbeddedSandbox, bait: host.Bait, level: str
) -> Iterator[tuple[str, str, str, str]]:
    """Yield (run, tries, outcome, complaint) of each source."""
    for source in SOURCES:
        if level == "none":  # compilers can read what programs can
            yield f"compile {source.name}", source.tries, "not promised", ""
            continue
        before = None
        text = source.text.replace("{secret}", str(bait.secret)).encode()
        try:
            plain = f"int main(){{}} // {source.name}"  # not in the cache: it starts the box
            sandbox.compile(Program("c++17", {"main.cpp": plain.encode()}), LIMITS)
            before = host.count()
            made = sandbox.compile(Program("c++17", {"main.cpp": text}), LIMITS)
        except SandboxError as error:
            yield f"compile {source.name}", source.tries, "sandbox error", str(error)
            continue
        wrong = _complaint(source, made, bait)
        after = host.count()
        if not wrong and replace(after, descriptors=0, folders=0, files=0).grew_from(before):
            wrong = f"the grader's side differs: {before} → {after}"
        yield f"compile {source.name}", source.tries, _word(made), wrong
    for name, tries, text in NOT_EXECUTABLE:
        yield f"compile {name}", tries, *_start(sandbox, text)


def _word(made: Compiled) -> str:
    killed = made.execution.killed_for if made.execution else None
    return killed or ("compiled" if made.ok else "refused")


def _complaint(source: Source, made: Compiled, bait: host.Bait) -> str:
    if bait.word in made.log:
        return "the secret is in the compiler's messages"
    if made.ok and made.artifact.executable and bait.word in _binary(made):
        return "the secret is in the program"
    if source.ok is not None and made.ok is not source.ok:
        return f"{_word(made)}: {made.log[:200]!r}"
    if len(made.log) > LIMITS.stderr_bytes + 200:
        return f"a log of {len(made.log)} bytes"
    return ""


def _binary(made: Compiled) -> bytes:
    executable = made.artifact.executable
    return os.pread(executable.fd, executable.size, 0)


def _start(sandbox: EmbeddedSandbox, text: str) -> tuple[str, str]:
    try:
        made = sandbox.compile(Program("c++17", {"main.cpp": text.encode()}), LIMITS)
        if not made.ok:
            return "refused", ""
        result = sandbox.run(made, RUN)
    except SandboxError as error:
        return "sandbox error", f"a program made the machine fail: {error}"
    return "ends", "" if result.exit_code or result.signal else "it ran"
