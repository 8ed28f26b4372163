"""What a Ray worker process does: grades one solution a task, and keeps what it opened.

    subject, setup ─▶ Done(record, verdicts of its cases)      or Done(error)

Tests and checkers are read here, from the dataset's path or name; only the solution and
what is known of its problem travel.
"""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from eval.generated_tests import open_generated_tests
from eval.grade_case import Bench
from eval.grade_solution import SolutionJob, Subject, Workshop
from eval.input_error import InputError
from eval.materials import Materials, open_sandbox_of
from eval.model import CaseVerdict, SolutionRecord
from eval.options import Options, default_workers
from eval.plan import Terms
from eval.problems import open_problems
from eval.scheduler import Scheduler
from sandbox.errors import SandboxError


@dataclass(frozen=True)
class Setup:
    """What a worker opens: the options' fields, and the folder relative paths are in."""

    options: dict[str, Any]
    folder: str

    @property
    def name(self) -> str:
        return repr((sorted(self.options.items(), key=str), self.folder))


@dataclass
class Done:
    """What came of it; `error` is an InputError's line, and ends the run."""

    record: SolutionRecord | None = None
    cases: list[CaseVerdict] = field(default_factory=list)
    error: str = ""


def setup_of(options: Options, backend: str) -> Setup:
    """The options as they are sent: the sandbox already chosen, nothing of this process."""
    values = {f.name: getattr(options, f.name) for f in fields(Options)}
    values |= {
        "solutions_path": (),
        "time_limit_scale": dict(options.time_limit_scale),
        "sandbox": "local" if backend == "box" else "piston",
        "executor": "local",
        "ray_address": None,
    }
    return Setup(values, str(Path.cwd()))


def grade_one(subject: Subject, setup: Setup) -> Done:
    """Grades one solution. Called by Ray; a second call in this process finds all open."""
    try:
        return _station(setup).grade(subject)
    except InputError as error:
        return Done(error=f"node {socket.gethostname()}: {error}")


class Station:
    """What one worker process has open."""

    def __init__(self, setup: Setup) -> None:
        if Path(setup.folder).is_dir():
            os.chdir(setup.folder)
        # Each task runs one program at a time, on whichever core of the node is free.
        self.options = replace(Options(**setup.options), workers=default_workers())
        problems = open_problems(
            self.options.dataset,
            split=self.options.dataset_split,
            subsets=tuple(self.options.dataset_subsets),
        )
        generated = open_generated_tests(self.options)
        sandbox = open_sandbox_of(self.options, [])
        try:
            description = sandbox.describe()
        except SandboxError as e:
            raise InputError(f"the sandbox can't be used: {e}") from None
        self.materials = Materials(self.options, [], problems, generated, sandbox, description)
        self.terms = Terms(description, self.options.time_limit_scale, self.options.record_flags())

    def grade(self, subject: Subject) -> Done:
        """The solution's record; InputError when this node would judge otherwise."""
        self._check(subject)
        done = Done()
        options, shelf = self.options, self.materials.shelf
        bench = Bench(
            self.materials.sandbox,
            compare=options.compare,  # type: ignore[arg-type]
            stored_bytes=options.max_stored_output,
            repeat=options.repeat,
        )

        def take(_: Subject, record: SolutionRecord) -> None:
            done.record = record

        shop = Workshop(bench, shelf, take, done.cases.append, options.stop_on_first_failure)
        Scheduler(1, stop_on_failure=options.stop_on_first_failure).run(
            [SolutionJob(subject, shop)]
        )
        return done

    def _check(self, subject: Subject) -> None:
        """A record says what it was made with: here must be what the driver said."""
        mine = self.terms.sandbox(subject.language)
        if mine != subject.sandbox:
            differ = [k for k in mine if mine[k] != subject.sandbox.get(k)]
            raise InputError(
                f"its {differ[0]} for {subject.language} is {mine[differ[0]]!r}, the driver's "
                f"{subject.sandbox.get(differ[0])!r}; give all nodes the same image"
            )
        facts = self.materials.shelf.facts(subject.problem)
        if (facts.tests, facts.checker) != (subject.facts.tests, subject.facts.checker):
            raise InputError(
                f"its tests or checker of {subject.problem.id} are not the driver's; give all "
                "nodes the same dataset and generated tests"
            )


_stations: dict[str, Station] = {}
_opening = threading.Lock()


def _station(setup: Setup) -> Station:
    with _opening:
        found = _stations.get(setup.name)
        if found is None:
            found = _stations[setup.name] = Station(setup)
        return found
