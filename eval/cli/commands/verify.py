"""Grade the submissions of problem packages: `python eval/verify.py PACKAGE…`.

Exit status: 0 all are as their authors expect; 1 one is not; 2 bad input, or a package that is
unusable; 3 infrastructure errors.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gradebox.eval.cli.command import REQUIRED, natural_int, parser_of, run_command
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.streams import print_line
from gradebox.eval.common.terminal import cut, escape, pad
from gradebox.eval.grading.known.audit import AuditFinding, audit
from gradebox.eval.grading.known.verification import (
    NOT_RUN,
    TimeLimit,
    Verification,
    VerifiedSubmission,
)
from gradebox.eval.problems.packages import NO_LIMIT
from gradebox.eval.problems.packages.submissions import covers
from gradebox.sandbox.common.exit_status import ExitStatus

if TYPE_CHECKING:
    from gradebox.eval.grading.session import GradingSession


def _time_limit(text: str) -> float | str:
    with suppress(ValueError):
        if 0 < float(text) <= 3600:
            return float(text)
    if text != "auto":
        raise argparse.ArgumentTypeError(f"{text}: give auto, or seconds up to 3600")
    return text


def glob(text: str) -> str:
    """Return a glob, which `covers` can use. Raises ValueError."""
    covers(text, "")
    return text


parser = parser_of(
    "Grade the submissions that problem packages have, and compare with the verdicts that their "
    "authors expect. docs/packages.md describes the formats.",
    ("packages PACKAGE+", str, REQUIRED, "folder or zip, a folder of them, or a data set with "
     "known solutions"),
    ("--time-limit S", _time_limit, None, "auto: by the package's rule from its accepted "
     "submissions, also where it states a limit; seconds: for every problem; left out: the "
     "package's own, or auto"),
    ("--time-limit-from GLOB+", glob, (), "submissions that decide the limit, such as "
     "'accepted/*.cpp'; implies --time-limit auto"),
    ("--submissions FILE", Path, None, "more submissions: lines of a solutions file with `expect`, "
     "or rows of open-r1/codeforces-submissions"),
    ("--audit FILE", Path, None, "write the faults of tests and checkers as JSON lines; also asks "
     "each checker about empty, cut and other outputs"),
    ("--problems ID,ID", str, None, "only these problems"),
    ("--json", bool, False, "print one JSON object a line instead of the table"),
    ("--workers N", natural_int, 0, "programs running at once; 0: one for each physical core"),
    ("--testlib PATH", str, None, "path of testlib.h, for packages that lack it"),
    ("--allow-unsafe-sandbox", bool, False, "run programs even without isolation"),
    epilog="exit status: 0 all as expected; 1 some differ; 2 bad input; 3 infrastructure errors; "
    "130 interrupted",
)  # fmt: skip


def verify(args: argparse.Namespace) -> int:
    """Grade, print the table and return the exit status."""
    from gradebox.eval.cli.progress import Progress
    from gradebox.eval.common.signals import Stopper
    from gradebox.eval.grading.options import Options
    from gradebox.eval.grading.planner import ProgressCounts
    from gradebox.eval.grading.session import GradingSession

    missing = [name for name in args.packages if not Path(name).exists()]
    if missing and (len(args.packages) > 1 or not args.submissions):
        raise InputError(f"{missing[0]} does not exist: give a package's folder or zip")
    options = Options(
        solutions_path=(),
        dataset=",".join(args.packages),
        problems=args.problems.split(",") if args.problems else None,
        workers=args.workers,
        testlib=args.testlib,
        sandbox="local",
        allow_unsafe_sandbox=args.allow_unsafe_sandbox,
    )
    with Stopper() as stopper, GradingSession(options) as session:
        _ = session.sandbox
        stopper.arm()
        verification = Verification(
            session,
            stopper,
            time_limit=args.time_limit,
            measured_by=args.time_limit_from,
            submissions=args.submissions,
        )
        if not verification.total:
            raise InputError(
                next(_faults(session), "there are no submissions: put some into the packages, or "
                     "give --submissions")
            )  # fmt: skip
        counts = ProgressCounts()
        progress = Progress(counts, verification.total)

        def done(outcome: VerifiedSubmission) -> None:
            status = {True: "passed", False: "failed", None: "invalid"}[outcome.as_expected]
            counts.add_solution(status, outcome.found.split()[0])

        try:
            outcomes = verification.run(done, counts.add_case, progress.tick)
        finally:
            progress.close()
        if args.audit is not None:
            _write_audit(args.audit, audit(session, stopper, outcomes))
        messages = list(_faults(session))
    objects = (json.dumps(asdict(outcome)) for outcome in outcomes)
    for line in objects if args.json else _table(outcomes, verification.limits):
        print(line)
    for message in messages:
        print_line(f"error: {escape(message)}", sys.stderr)
    return ExitStatus.INTERRUPTED if stopper.event.is_set() else _status(outcomes, messages)


def _faults(session: GradingSession) -> Iterator[str]:
    """Yield the notes of a session that are not on limits, which are found here."""
    yield from (line for line in session.notes() if NO_LIMIT not in line)


def _write_audit(path: Path, findings: Iterator[AuditFinding]) -> None:
    kinds: Counter[str] = Counter()
    try:
        with path.open("w", encoding="utf-8") as file:
            for finding in findings:
                kinds[finding.kind] += 1
                file.write(json.dumps(asdict(finding)) + "\n")
    except OSError as error:
        raise InputError(f"--audit {path} can't be written: {error.strerror}") from None
    words = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())) or "nothing found"
    print_line(f"audit: {words}; {path}", sys.stderr)


def _status(outcomes: Sequence[VerifiedSubmission], messages: Sequence[str]) -> int:
    if any(outcome.found == "ER" for outcome in outcomes):
        return ExitStatus.INFRASTRUCTURE
    if messages:
        return ExitStatus.BAD_INPUT
    differs = any(outcome.as_expected is False for outcome in outcomes)
    return ExitStatus.NEGATIVE if differs else ExitStatus.OK


def _table(outcomes: Sequence[VerifiedSubmission], limits: dict[str, TimeLimit]) -> Iterator[str]:
    """Yield the table: a line for each submission, `!` before one that is not as expected."""
    width = max(80, min(160, shutil.get_terminal_size((100, 24)).columns))
    room = max((len(o.submission) for o in outcomes), default=0)
    room = max(20, min(room, width - 58))
    for name in dict.fromkeys(outcome.problem_id for outcome in outcomes):
        yield ""
        yield f"{escape(name)}: {_limit_words(limits.get(name))}"
        yield (
            f"  {pad('submission', room)} {pad('expected', 10)} {pad('found', 12)} "
            f"{'slowest':>8} {'of limit':>8}  test"
        )
        for outcome in (o for o in outcomes if o.problem_id == name):
            yield _row(outcome, room, width)
    count = {value: sum(o.as_expected is value for o in outcomes) for value in (True, False, None)}
    yield ""
    yield (
        f"{len(outcomes)} submissions: {count[True]} as expected, {count[False]} not, "
        f"{count[None]} not graded"
    )


def _row(outcome: VerifiedSubmission, room: int, width: int) -> str:
    mark = {True: " ", False: "!", None: "-"}[outcome.as_expected]
    time = share = ""
    if (seconds := outcome.slowest_s) is not None:
        time, share = f"{seconds:.2f} s", f"{seconds / outcome.time_limit_s:.2f}"
    why = [outcome.test, outcome.note if outcome.as_expected is not True else ""]
    start = (
        f"{mark} {pad(outcome.submission, room)} {pad(outcome.expected, 10)} "
        f"{pad(outcome.found.removeprefix(NOT_RUN), 12)} {time:>8} {share:>8}  "
    )
    return (start + cut(": ".join(filter(None, why)), max(12, width - len(start)))).rstrip()


def _limit_words(limit: TimeLimit | None) -> str:
    if limit is None:
        return "nothing was graded"
    words = [f"time limit {limit.chosen_s:g} s"]
    if limit.slowest is not None:
        seconds, name = limit.slowest
        words.append(f"this machine needs {limit.needed_s:g} s ({escape(name)}: {seconds:.2f} s)")
    if limit.fastest is not None:
        seconds, name = limit.fastest
        safe = "" if limit.safe else ", which is nearer to it than the rule allows"
        words.append(f"must exceed it: {escape(name)}, {seconds:.2f} s or more{safe}")
    return "; ".join(words)


main = partial(run_command, parser, verify)
