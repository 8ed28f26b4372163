"""Run the attacks in one box, each followed by the probe, and report broken guarantees.

It uses only the sandbox and the standard library, so that an ordinary user without the test tools
can run it:

    python -m testing.submissions.hostile.harness [--alone] LEVEL…     one JSON object per line

--alone leaves out the two runs in a batch that follow an attack which ended well, and compilers.
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.run_request import BoxRequest
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Compiled, Limits, Program
from testing.submissions.hostile import compiling, host
from testing.submissions.hostile.model import (
    FAR_CPU_S,
    FAR_WALL_S,
    GROUPED,
    LIMITS,
    PROGRAMS,
    Attack,
)
from testing.submissions.hostile.table import ATTACKS

GENEROUS = replace(LIMITS, cpu_s=FAR_CPU_S, wall_s=FAR_WALL_S, output_bytes=1 << 20)


@dataclass(frozen=True)
class Outcome:
    """One attack at one level: its outcome, and a complaint if that breaks a guarantee."""

    level: str
    run: str
    tries: str
    came_out: str
    wrong: str
    seconds: float = 0.0


PYTHON = ("fork",)  # programs of this language, each with a probe of its own
_compiled: dict[str, Compiled] = {}  # static programs run at every level


def use(name: str, program: Compiled) -> None:
    """Run this program for the attacks of a name, instead of compiling it here."""
    _compiled[name] = program


class Programs:
    """The programs of the attacks, compiled once for all levels of a process."""

    def __init__(self, sandbox: EmbeddedSandbox) -> None:
        self._sandbox = sandbox
        self._python: dict[str, Compiled] = {}

    def __getitem__(self, name: str) -> Compiled:
        if name in PYTHON:  # it starts as this level's Python programs do
            if name not in self._python:
                files = {"main.py": (PROGRAMS / f"{name}.py").read_bytes()}
                self._python[name] = self._sandbox.compile(Program("python", files))
            return self._python[name]
        if name not in _compiled:
            files = {
                f"{name}.cpp": (PROGRAMS / f"{name}.cpp").read_bytes(),
                "attack.h": (PROGRAMS / "attack.h").read_bytes(),
            }
            _compiled[name] = self._sandbox.compile(Program("c++17", files))
            assert _compiled[name].ok, _compiled[name].log.decode(errors="replace")
        return _compiled[name]


Seen = tuple[bytes, host.Counts]  # what a probe prints, and the grader's side then


def attack_once(
    sandbox: EmbeddedSandbox,
    programs: Programs,
    attack: Attack,
    bait: host.Bait,
    level: str,
    last: dict[str, Seen],
    batches: bool,
) -> tuple[str, str]:
    """Return the outcome of an attack and a complaint.

    It runs alone and, with `batches` and where it ends well, twice in a batch. The probe runs
    before and after that; `last` holds what each probe saw after the attack before, which is what
    it would see again.
    """
    name = attack.program if attack.program in PYTHON else "probe"
    probe = programs[name]
    clean, before = last[name] if name in last else (probed(sandbox, probe), host.count())
    last.clear()  # after an attack that ends early, or by another probe, all is seen anew
    program, limits = programs[attack.program], attack.limits_at(level)
    stdin, args = b"0" * attack.stdin_bytes, (attack.name, *bait.fill(attack.argument))
    try:
        result = sandbox.run(program, limits, stdin=stdin, args=args, collect=attack.collect)
        results = [result]
        well = result.exit_code == 0 and not result.limits_hit
        if batches and well and not attack.collect:
            request = BoxRequest(program.artifact, limits, [stdin] * 2, args)
            request.forks = request.program.fork is not None
            results += chain.from_iterable(sandbox._runner.until_failure([request]))
    except SandboxError as error:
        return "sandbox error", f"a program made the machine fail: {error}"
    complaints = (attack.complaint(level, result, bait.word) for result in results)
    wrong = next(filter(None, complaints), "")
    after_it, after = probed(sandbox, probe), host.count()
    if not wrong and after_it != clean:
        wrong = "the next run sees a difference: " + difference(clean, after_it)
    if not wrong and after.grew_from(before):
        wrong = f"the grader's side differs: {before} → {after}"
    if not wrong and bait.secret.read_bytes() != bait.word:
        wrong = "the expected output was changed"
    last[name] = after_it, after
    return attack.came_out(results[0]), wrong


def probed(sandbox: EmbeddedSandbox, probe: Compiled) -> bytes:
    return sandbox.run(probe, GENEROUS, stdin=b"x", args=("probe",)).stdout


def difference(one: bytes, two: bytes) -> str:
    """Return the lines that only one of two texts has."""
    lines = set(one.splitlines()) ^ set(two.splitlines())
    return b"; ".join(sorted(lines)).decode(errors="replace")[:400]


@contextmanager
def opened(level: str) -> Iterator[EmbeddedSandbox]:
    """Open a sandbox with one box, so that the probe sees what an attack leaves."""
    with EmbeddedSandbox(1, level=level, allow_unsafe=True) as sandbox:
        yield sandbox


def outcomes(
    level: str, attacks: Sequence[Attack] = ATTACKS, compilers: bool = True, batches: bool = True
) -> Iterator[Outcome]:
    """Yield the outcome of every attack at a level, all in the same box.

    compilers  also of the attacks through the compiler
    batches    an attack that ends well runs twice more, in a batch, at levels with a control group
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gradebox-bait-")))
        folder.chmod(0o755)
        bait = stack.enter_context(host.bait(folder))
        sandbox = stack.enter_context(opened(level))
        programs = Programs(sandbox)
        for name in dict.fromkeys(("probe", *(attack.program for attack in attacks))):
            programs[name]  # compile before anything is counted
        sandbox.run(programs["probe"], Limits())
        last: dict[str, Seen] = {}
        batches &= level in GROUPED
        for attack in attacks:
            started = time.monotonic()
            came_out, wrong = "not promised", ""
            if attack.wanted(level) != "open":
                came_out, wrong = attack_once(sandbox, programs, attack, bait, level, last, batches)
            took = time.monotonic() - started
            yield Outcome(level, attack.run, attack.tries, came_out, wrong, round(took, 3))
        started = time.monotonic()
        for row in compiling.outcomes(sandbox, bait, level) if compilers else ():
            yield Outcome(level, *row, round(time.monotonic() - started, 3))
            started = time.monotonic()


def main(arguments: Sequence[str]) -> int:
    """Print each outcome as JSON. Return 1 when a guarantee is broken."""
    bad = 0
    levels = [name for name in arguments if name != "--alone"]
    batches = len(levels) == len(arguments)
    for level in levels:
        # At level userns a compiler sees what it sees at full, and is limited as at landlock.
        compilers = batches and (level != "userns" or len(levels) == 1)
        try:
            for outcome in outcomes(level, compilers=compilers, batches=batches):
                print(json.dumps(asdict(outcome)), flush=True)
                bad += bool(outcome.wrong)
        except SandboxError as error:
            print(json.dumps({"level": level, "unavailable": str(error)}), flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
