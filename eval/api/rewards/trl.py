"""Reward functions in TRL's form, synchronous and asynchronous."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from gradebox.eval.api.rewards.columns import Batch, batches_of, language_of
from gradebox.eval.api.rewards.values import DEFAULT_MODE, MODES, Mode, Reward, reward_of
from gradebox.eval.common.errors import InputError

log = logging.getLogger(__name__)


class Grades(Protocol):
    """A `Grader`, or a `Client` of graders on other machines."""

    def grade(
        self, solutions: Any, problems: Any = None, *, time_limit_s: float | None = None
    ) -> list[dict[str, Any]]: ...

    def grade_async(
        self, solutions: Any, problems: Any = None, *, time_limit_s: float | None = None
    ) -> Awaitable[list[dict[str, Any]]]: ...


class CodeforcesReward:
    """A reward function for TRL's `reward_funcs`.

    mode          pass_fail, partial or weighted_sum; values.py has the rewards of each
    language      language of every completion; without it the dataset's column `language`
                  counts, and without that the tag of the completion's code fence
    grader        a Grader or a Client; without it a grader of this process with these `flags`
                  (dataset=…, workers=…, generated_tests_dir=…, sandbox=…)
    time_limit_s  of a batch, not counting time in which it waits for cores; completions that are
                  not graded in time have the reward None
    name          under which the trainer logs the reward
    """

    def __init__(
        self,
        mode: Mode = DEFAULT_MODE,
        *,
        language: str | None = None,
        grader: Grades | None = None,
        time_limit_s: float | None = None,
        name: str = "codeforces",
        **flags: Any,
    ) -> None:
        if mode not in MODES:
            raise InputError(f"mode {mode!r}: choose one of {', '.join(MODES)}")
        if grader is not None and flags:
            raise InputError(f"flags {', '.join(flags)} with a grader: give them to the grader")
        self.__name__ = name
        self.mode = mode
        self.language = language
        self.time_limit_s = time_limit_s
        self._grader = grader
        self._flags = {
            "stop_on_first_failure": mode == "pass_fail",
            "max_stored_output": 0,
            **flags,
        }

    @property
    def grader(self) -> Grades:
        """The given grader, else the one that this process shares, opened on first use."""
        if self._grader is not None:
            return self._grader
        from gradebox.eval.api.calls import shared_grader

        return shared_grader(self._flags.get("dataset"), **self._flags)

    def __call__(
        self, completions: Sequence[Any], prompts: Any = None, **columns: Any
    ) -> list[Reward]:
        """Return a reward for each completion; None for one that was not graded.

        completions  texts, or lists of chat messages of which the last by the assistant counts
        columns      columns of the dataset, each as long as `completions`: `official_tests` with
                     `time_limit`, `memory_limit`, `generated_checker` …; or `id` of a problem in
                     the grader's dataset; and `language`. Other columns are ignored.
        """
        batches = self._batches(completions, columns)
        records = [
            self.grader.grade(b.solutions, _problems(b), time_limit_s=self.time_limit_s)
            for b in batches
        ]
        return self._rewards(len(completions), batches, records)

    async def async_call(
        self, completions: Sequence[Any], prompts: Any = None, **columns: Any
    ) -> list[Reward]:
        """Do the same without blocking the event loop."""
        batches = self._batches(completions, columns)
        grade, time_limit_s = self.grader.grade_async, self.time_limit_s
        records = [
            await grade(b.solutions, _problems(b), time_limit_s=time_limit_s) for b in batches
        ]
        return self._rewards(len(completions), batches, records)

    def _batches(self, completions: Sequence[Any], columns: dict[str, Any]) -> list[Batch]:
        language = language_of(columns)
        # A Client cannot tell whether its servers have a dataset.
        by_id = getattr(self.grader, "knows_problems", True)
        return batches_of(completions, self.language or language, columns, by_id=by_id)

    def _rewards(
        self, count: int, batches: Sequence[Batch], records: Sequence[Sequence[Mapping[str, Any]]]
    ) -> list[Reward]:
        rewards: list[Reward] = [None] * count
        for batch, batch_records in zip(batches, records, strict=True):
            for i, record in zip(batch.indices, batch_records, strict=True):
                rewards[i] = reward_of(record, self.mode)
                if rewards[i] is None:
                    why = record["error"] or record["status"]
                    log.warning("no reward for completion %d: %s", i, why)
        return rewards


def _problems(batch: Batch) -> list[dict[str, Any]] | None:
    return list(batch.problems.values()) or None


def make_codeforces(mode: Mode = DEFAULT_MODE, **settings: Any) -> CodeforcesReward:
    """Return a reward function for TRL; the settings are those of `CodeforcesReward`."""
    return CodeforcesReward(mode, **settings)


def make_codeforces_async(mode: Mode = DEFAULT_MODE, **settings: Any) -> Callable[..., Any]:
    """Return a coroutine function, which TRL runs concurrently with other async rewards."""
    reward = make_codeforces(mode, **settings)

    async def codeforces_async(
        completions: Sequence[Any], prompts: Any = None, **columns: Any
    ) -> list[Reward]:
        return await reward.async_call(completions, prompts, **columns)

    codeforces_async.__name__ = reward.__name__
    return codeforces_async


def codeforces(
    completions: Sequence[Any], prompts: Any = None, *, mode: Mode = DEFAULT_MODE, **columns: Any
) -> list[Reward]:
    """Return the rewards of completions: `reward_funcs=[gradebox.rewards.codeforces]`."""
    return CodeforcesReward(mode)(completions, prompts, **columns)


async def codeforces_async(
    completions: Sequence[Any], prompts: Any = None, *, mode: Mode = DEFAULT_MODE, **columns: Any
) -> list[Reward]:
    """Do the same as `codeforces` without blocking the event loop."""
    return await CodeforcesReward(mode).async_call(completions, prompts, **columns)
