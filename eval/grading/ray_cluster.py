"""A run on a Ray cluster: each solution is a task, and a lost node's tasks run elsewhere.

    Scheduler ─ RayCluster.grade, a thread for each solution ─▶ Ray ─▶ record ─▶ the planner
    worker: SolutionRun, options ─▶ record, or the text of an error

The command keeps the records, keys and order, as in a local run. Tasks that are running when it
is stopped have no record; the next start grades them. A worker keeps its session open and reads
tests and checkers itself, from the dataset's path or name: only the solution and the facts about
its problem are sent to it.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError, Interrupted
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.scheduler import Scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import JobContext, SolutionJob
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.results.record import SolutionRecord
from gradebox.sandbox.common.cpus import usable_cores
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Description


def grade_one(run: SolutionRun, options: dict[str, Any], folder: str) -> SolutionRecord | str:
    """Return a solution's record, or the text of an InputError, which ends the run.

    options  the fields of `Options`
    folder   that relative paths are in

    Called by Ray; later calls in this process reuse the open session.
    """
    try:
        return _grade(run, _session(options, folder))
    except InputError as error:
        return f"node {socket.gethostname()}: {error}"


_sessions: dict[str, GradingSession] = {}
_opening = threading.Lock()


def _session(options: dict[str, Any], folder: str) -> GradingSession:
    key = repr((sorted(options.items(), key=str), folder))
    with _opening:
        if key not in _sessions:
            if Path(folder).is_dir():
                os.chdir(folder)
            # Each task runs one program at a time, on any free core of the node.
            _sessions[key] = GradingSession(replace(Options(**options), workers=usable_cores()))
        return _sessions[key]


def _grade(run: SolutionRun, session: GradingSession) -> SolutionRecord:
    """Return the record; raise InputError when this node would judge differently."""
    _check_same(run, session)
    found: list[SolutionRecord] = []
    context = session.job_context(session.case_settings(), lambda _, record: found.append(record))
    Scheduler(1).run([SolutionJob(run, context)])
    return found[0]


def _check_same(run: SolutionRun, session: GradingSession) -> None:
    """Raise InputError unless sandbox, tests and checker are those that the record states."""
    own = session.context.sandbox_fields(run.language)
    differing = [k for k in own if own[k] != run.sandbox.get(k)]
    if differing:
        name = differing[0]
        raise InputError(
            f"its {name} for {run.language} is {own[name]!r}, the command's "
            f"{run.sandbox.get(name)!r}; give all nodes the same image"
        )
    test_set = session.resources.info(run.problem)
    if (test_set.tests, test_set.checker) != (run.test_set.tests, run.test_set.checker):
        raise InputError(
            f"its tests or checker of {run.problem.id} are not the command's; give all "
            "nodes the same dataset and generated tests"
        )


TASKS_PER_CORE = 2  # submitted tasks for each core, so that no core waits for the command
MAX_RETRIES = 10  # how often a solution is resubmitted after its node was lost
POLL_S = 1.0
CONNECT_TIMEOUT_S = 10.0
COUNT_CORES_EVERY_S = 5.0


class RayCluster:
    """A Ray cluster, see `Scheduler`. Connects at once; raises InputError when there is none."""

    def __init__(self, options: Options, description: Description) -> None:
        self._ray = _connect(options.ray_address)
        self._task = self._ray.remote(num_cpus=1, max_retries=MAX_RETRIES)(grade_one)
        self._options = self._ray.put(options.for_worker(description.backend))
        self._stopping = False
        self._counted_at = time.monotonic()
        self.most_at_once = self._room()

    def _room(self) -> int:
        """Return how many tasks the cluster should have, which may grow during the run."""
        return TASKS_PER_CORE * max(1, int(self._ray.cluster_resources().get("CPU", 1))) + 1

    def poll(self, scheduler: Scheduler) -> None:
        """Give more tasks to a cluster that has grown."""
        self._stopping = scheduler.stopping
        if time.monotonic() - self._counted_at > COUNT_CORES_EVERY_S:
            self._counted_at = time.monotonic()
            scheduler.widen(self._room())

    def end(self) -> None:
        """Do nothing: Ray ends with the process."""

    def grade(
        self, run: SolutionRun, context: JobContext, resources: ProblemResources
    ) -> SolutionRecord:
        """See `GradeWhole`. A node's InputError ends the run."""
        errors = import_module("ray.exceptions")
        reference = self._task.remote(run, self._options, str(Path.cwd()))
        while not self._ray.wait([reference], timeout=POLL_S)[0]:
            if self._stopping:
                self._ray.cancel(reference, force=False)
                raise Interrupted
        try:
            result: SolutionRecord | str = self._ray.get(reference)
        except errors.RayTaskError:
            raise
        except errors.RayError as error:
            why = f"the cluster lost it {MAX_RETRIES + 1} times: {type(error).__name__}"
            raise SandboxError(why) from None
        if isinstance(result, str):
            raise InputError(result)
        return result


def _connect(address: str | None) -> Any:
    """Return Ray, connected to the address, else to this node's cluster, else to a new one."""
    try:
        ray = import_module("ray")
    except ModuleNotFoundError:
        raise InputError("--executor ray: ray is missing; pip install 'gradebox[ray]'") from None
    if ray.is_initialized():
        return ray
    _check_port_is_open(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise _no_cluster(address, " ".join(str(error).split())[:200]) from None
    return ray


def _check_port_is_open(address: str | None) -> None:
    """Raise InputError for a closed port; ray.init would wait for minutes."""
    host, _, port = (address or "").rpartition("://")[2].rpartition(":")
    if not host or not port.isdecimal():
        return  # "auto" or no address
    try:
        socket.create_connection((host, int(port)), CONNECT_TIMEOUT_S).close()
    except (OSError, OverflowError, ValueError) as error:
        raise _no_cluster(address, str(error)) from None


def _no_cluster(address: str | None, why: str) -> InputError:
    return InputError(
        f"--ray-address {address or 'none'}: no Ray cluster there ({why}); start one with "
        "ray start --head, or leave --ray-address out"
    )
