"""Reward functions of TRL's form, plain and async."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from eval.input_error import InputError
from eval.rewards.columns import Part, parts_of
from eval.rewards.values import DEFAULT_MODE, MODES, Mode, Reward, reward_of

log = logging.getLogger(__name__)


class Grades(Protocol):
    """Who grades: a `Grader`, or a `Client` of graders elsewhere."""

    def grade(
        self, solutions: Any, problems: Any = None, *, time_limit_s: float | None = None
    ) -> list[dict[str, Any]]: ...

    def grade_async(
        self, solutions: Any, problems: Any = None, *, time_limit_s: float | None = None
    ) -> Awaitable[list[dict[str, Any]]]: ...


class CodeforcesReward:
    """A reward function of TRL's form, and its async twin; see `make_codeforces`."""

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
            raise InputError(f"flags {', '.join(flags)} beside a grader: give them to the grader")
        self.__name__ = name  # trainers name a reward's column by it
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
        """The one given, else the process's own, opened at its first use."""
        if self._grader is not None:
            return self._grader
        from eval.shared_grader import shared

        return shared(self._flags.get("dataset"), **self._flags)

    def __call__(
        self, completions: Sequence[Any], prompts: Any = None, **columns: Any
    ) -> list[Reward]:
        """A reward for each completion; None where there is none to give.

        completions  texts, or lists of chat messages of which the assistant's last counts
        columns      the dataset's, each a list as long: `official_tests` with `time_limit`,
                     `memory_limit`, `generated_checker` …; or `id` of a problem that the
                     grader's dataset has. `language` is honoured, what else there is ignored
        """
        parts = self._parts(completions, columns)
        graded = [
            self.grader.grade(part.solutions, _problems(part), time_limit_s=self.time_limit_s)
            for part in parts
        ]
        return self._rewards(len(completions), parts, graded)

    async def async_call(
        self, completions: Sequence[Any], prompts: Any = None, **columns: Any
    ) -> list[Reward]:
        """The same without blocking the event loop."""
        parts = self._parts(completions, columns)
        grade, most_s = self.grader.grade_async, self.time_limit_s
        graded = [
            await grade(part.solutions, _problems(part), time_limit_s=most_s) for part in parts
        ]
        return self._rewards(len(completions), parts, graded)

    def _parts(self, completions: Sequence[Any], columns: dict[str, Any]) -> list[Part]:
        language = columns.pop("language", None)
        by_id = getattr(self.grader, "knows_problems", True)  # a Client's server may know them
        return parts_of(completions, self.language or language, columns, by_id=by_id)

    def _rewards(
        self, count: int, parts: Sequence[Part], graded: Sequence[Sequence[Mapping[str, Any]]]
    ) -> list[Reward]:
        rewards: list[Reward] = [None] * count
        for part, records in zip(parts, graded, strict=True):
            for place, record in zip(part.places, records, strict=True):
                rewards[place] = reward_of(record, self.mode)
                if rewards[place] is None:
                    why = record["error"] or record["status"]
                    log.warning("no reward for completion %d: %s", place, why)
        return rewards


def _problems(part: Part) -> list[dict[str, Any]] | None:
    return list(part.problems.values()) or None


def make_codeforces(
    mode: Mode = DEFAULT_MODE,
    *,
    language: str | None = None,
    grader: Grades | None = None,
    time_limit_s: float | None = None,
    name: str = "codeforces",
    **flags: Any,
) -> CodeforcesReward:
    """A reward function for TRL's `reward_funcs`.

    language  asked of every completion; else the column `language`, else the fence's tag
    time_limit_s  of a batch, waiting for cores left out; what it leaves ungraded is None
    grader    a Grader or a Client; else one of this process with these flags
              (dataset=…, workers=…, generated_tests_dir=…, sandbox=…)
    """
    return CodeforcesReward(
        mode, language=language, grader=grader, time_limit_s=time_limit_s, name=name, **flags
    )


def make_codeforces_async(mode: Mode = DEFAULT_MODE, **more: Any) -> Callable[..., Any]:
    """The same as a coroutine function, which TRL runs beside other async rewards."""
    reward = make_codeforces(mode, **more)

    async def codeforces_async(
        completions: Sequence[Any], prompts: Any = None, **columns: Any
    ) -> list[Reward]:
        return await reward.async_call(completions, prompts, **columns)

    codeforces_async.__name__ = reward.__name__
    return codeforces_async


def codeforces(
    completions: Sequence[Any],
    prompts: Any = None,
    *,
    mode: Mode = DEFAULT_MODE,
    **columns: Any,
) -> list[Reward]:
    """TRL's form: `reward_funcs=[gradebox.rewards.codeforces]`. See `CodeforcesReward`."""
    return CodeforcesReward(mode)(completions, prompts, **columns)


async def codeforces_async(
    completions: Sequence[Any],
    prompts: Any = None,
    *,
    mode: Mode = DEFAULT_MODE,
    **columns: Any,
) -> list[Reward]:
    """`codeforces` for an event loop."""
    return await CodeforcesReward(mode).async_call(completions, prompts, **columns)
