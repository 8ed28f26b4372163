"""Every unit of this node: a server for each local model, started only when it has to answer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from eval.benchmarks.models import Target
from eval.benchmarks.outputs import Counts
from eval.benchmarks.run import Settings, UnitRun
from eval.benchmarks.work import Unit
from eval.sampling.vllm import VllmServer


@dataclass(frozen=True)
class VllmOptions:
    """How a server for a local model is started."""

    arguments: tuple[str, ...] = ()
    start_timeout_s: float = 1800.0


def sweep(
    units: Sequence[Unit],
    settings: Settings,
    vllm: VllmOptions,
    on_done: Callable[[UnitRun, Counts], None],
) -> None:
    """Runs every unit, model by model; each is reported when it is done.

    All files are read before anything is asked: bad input costs no calls and no model's start.
    """
    runs = [UnitRun(unit, settings) for unit in units]
    for target, of_target in groupby(runs, key=lambda run: run.unit.target):
        _sweep_model(target, list(of_target), settings, vllm, on_done)


def _sweep_model(
    target: Target,
    runs: list[UnitRun],
    settings: Settings,
    vllm: VllmOptions,
    on_done: Callable[[UnitRun, Counts], None],
) -> None:
    lacking = sum(run.lacking() for run in runs)
    with _served(target, lacking, settings, vllm) as url:
        for run in runs:
            on_done(run, run.finish(url))


@contextlib.contextmanager
def _served(target: Target, lacking: int, settings: Settings, vllm: VllmOptions) -> Iterator[str]:
    """The address to ask, "" when nothing is lacking."""
    if target.path is None or not lacking:
        yield target.url if lacking else ""
        return
    log_path = settings.output_dir.joinpath(*target.dirs, "vllm.log")
    server = VllmServer(
        target.path,
        name=target.name,
        log_path=log_path,
        arguments=vllm.arguments,
        start_timeout_s=vllm.start_timeout_s,
    )
    with server:
        yield server.url
