"""Reward functions in TRL's form, synchronous and asynchronous, and the score of one completion.

completion, ground truth ─ grade ─▶ Score(reward, pass_rate, verdict, error)
    └─ a fault of the machine: NotGraded     an unusable ground truth: InputError
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gradebox.eval.api.batch import ran_out_of_time
from gradebox.eval.api.client import Client
from gradebox.eval.api.rewards.columns import batches_of, columns_of, language_of, plain
from gradebox.eval.api.rewards.values import (
    DEFAULT_MODE,
    FAILED,
    MODES,
    Mode,
    Reward,
    reward_of,
    share_of,
)
from gradebox.eval.common.errors import InputError
from gradebox.sandbox.common.cancellation import asynchronous
from gradebox.sandbox.common.lru_cache import LruCache

log = logging.getLogger(__name__)
CONCURRENCY = 32  # requests at once on each server: trainers ask for one completion in each


class Grades(Protocol):
    """A `Grader`, or a `Client` of graders on other machines."""

    def grade(
        self, solutions: Any, problems: Any = None, *, time_limit_s: float | None = None
    ) -> Sequence[Mapping[str, Any]]: ...


class CodeforcesReward:
    """A reward function for TRL's `reward_funcs`.

    mode          pass_fail, partial or weighted_sum; values.py has the rewards of each
    language      language of every completion; without it the dataset's column `language`
                  counts, and without that the tag of the completion's code fence
    grader        a Grader or a Client; without it, and without `servers`, a grader of this
                  process with these `flags` (dataset=…, workers=…, sandbox=…)
    servers       addresses of `gradebox serve`, with the token GRADEBOX_SERVER_TOKEN if it is set
    patience_s    how long the servers may all fail before completions have the reward None
    time_limit_s  of a batch, not counting time in which it waits for cores; completions that are
                  not graded in time have the reward None
    columns       names of the dataset's columns by ours: {"tests": "ground_truth", "time_limit":
                  "seconds"}. `tests` may have any form of columns.py. Without them the names
                  are our own, or those of a data set that is recognised
    name          under which the trainer logs the reward
    """

    def __init__(
        self,
        mode: Mode = DEFAULT_MODE,
        *,
        language: str | None = None,
        grader: Grades | None = None,
        servers: str | Sequence[str] | None = None,
        patience_s: float = 600.0,
        time_limit_s: float | None = None,
        columns: Mapping[str, str] | None = None,
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
        self._columns = dict(columns or {})
        self._flags = {
            "stop_on_first_failure": mode == "pass_fail",
            "max_stored_output": 0,
            **flags,
        }
        self._grader = grader
        if servers is not None:
            if grader is not None:
                raise InputError("servers and a grader: give one of them")
            urls = (servers,) if isinstance(servers, str) else tuple(servers)
            self._grader = _client(urls, patience_s, self._flags)

    @property
    def grader(self) -> Grades:
        """The given grader, else the one that this process shares, opened on first use."""
        if self._grader is not None:
            return self._grader
        from gradebox.eval.api.calls import shared_grader

        return shared_grader(self._flags.get("dataset"), **self._flags)

    def __call__(
        self,
        completions: Sequence[Any],
        prompts: Any = None,
        *,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[Reward]:
        """Return a reward for each completion; None for one that was not graded.

        completions  texts, or lists of chat messages of which the last by the assistant counts
        log_extra    is called with the column `verdict` and a verdict for each completion
        log_metric   is called with `pass_rate`, of the graded completions, and `faults`, the
                     share of completions that were not graded
        columns      columns of the dataset, each as long as `completions`: `official_tests` with
                     `time_limit`, `memory_limit`, `generated_checker` …; or `id` of a problem in
                     the grader's dataset; and `language`. Other columns are ignored.
        """
        records = self.records(completions, columns)
        return self._rewards(records, log_extra, log_metric)

    async_call = asynchronous(__call__)

    def records(
        self, completions: Sequence[Any], columns: Mapping[str, Any]
    ) -> list[Mapping[str, Any]]:
        """Return a record for each completion, in order."""
        columns = self._renamed(columns)
        language = self.language or language_of(columns)
        # A Client cannot tell whether its servers have a dataset.
        by_id = getattr(self.grader, "knows_problems", True)
        found: dict[int, Mapping[str, Any]] = {}
        for batch in batches_of(completions, language, columns, by_id=by_id):
            problems = list(batch.problems.values()) or None
            graded = self.grader.grade(batch.solutions, problems, time_limit_s=self.time_limit_s)
            found |= zip(batch.indices, graded, strict=True)
        return [found[i] for i in range(len(found))]

    def _renamed(self, columns: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the dataset's columns by our names."""
        if not self._columns:
            return columns
        missing = [name for name in self._columns.values() if name not in columns]
        if missing:
            raise InputError(f"the dataset has no column {missing[0]}: it is named in `columns`")
        given = {ours: plain(columns[theirs]) for ours, theirs in self._columns.items()}
        taken = set(self._columns.values())
        rest = {name: value for name, value in columns.items() if name not in taken}
        tests = given.pop("tests", None)
        if tests is None:
            return {**rest, **given}
        infos = [{name: values[i] for name, values in given.items()} for i in range(len(tests))]
        return columns_of(tests, infos)

    def _rewards(
        self,
        records: Sequence[Mapping[str, Any]],
        log_extra: Callable[[str, list[Any]], None] | None,
        log_metric: Callable[[str, float], None] | None,
    ) -> list[Reward]:
        rewards = [reward_of(record, self.mode) for record in records]
        for i, (reward, record) in enumerate(zip(rewards, records, strict=True)):
            if reward is None:
                log.warning(
                    "no reward for completion %d: %s", i, record["error"] or record["status"]
                )
        if log_extra is not None:
            log_extra("verdict", [verdict_of(record) for record in records])
        if log_metric is not None and records:
            graded = [r for r, reward in zip(records, rewards, strict=True) if reward is not None]
            log_metric("faults", 1 - len(graded) / len(records))
            if graded:
                shares = [share_of(record["details"]) or 0.0 for record in graded]
                log_metric("pass_rate", sum(shares) / len(shares))
        return rewards


def verdict_of(record: Mapping[str, Any]) -> str:
    """Return a record's verdict; "no_code" without a program, the status of an ungraded one."""
    if record["status"] in ("passed", "failed"):
        return str(record["verdict"] or "no_code")
    return str(record["status"])


_clients: LruCache[str, Client] = LruCache(8)


def _client(urls: tuple[str, ...], patience_s: float, flags: Mapping[str, Any]) -> Client:
    """Return the process's client of some servers: its calls share the places on them."""
    token = os.environ.get("GRADEBOX_SERVER_TOKEN") or None
    given = {"token": token, "patience_s": patience_s, **flags}
    key = repr((urls, sorted(given.items())))
    return _clients.find(key, lambda: Client(urls, concurrency=CONCURRENCY, **given))


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


codeforces_async = asynchronous(codeforces)


TIME_LIMIT_S = 300.0


class NotGraded(RuntimeError):
    """The machine failed, not the program. It was retried: leave the sample out."""


@dataclass(frozen=True)
class Score:
    """What became of one completion.

    reward     by the table of values.py
    pass_rate  share of the tests passed; those behind a first failure may not have been run
    verdict    AC, WA, TLE, …; "no_code" without a program
    error      why, for people; "" when there is nothing to say
    """

    reward: float
    pass_rate: float
    verdict: str
    error: str = ""


def score_one(
    completion: Any, truth: Any, info: Mapping[str, Any] | None, settings: Mapping[str, Any]
) -> Score:
    """Return the score of a completion.

    truth     a problem in any form of columns.py
    info      further columns (`time_limit`, `language`, …)
    settings  of CodeforcesReward. A program that uses up `time_limit_s`, which is 300 without
              it, has failed

    Raises NotGraded for a fault of the machine, InputError for an unusable ground truth.
    """
    reward = CodeforcesReward(**{"time_limit_s": TIME_LIMIT_S, **settings})
    (record,) = reward.records([completion], columns_of([truth], [info]))
    return score_of(record, reward.mode)


score_one_async = asynchronous(score_one)


def score_of(record: Mapping[str, Any], mode: Mode) -> Score:
    """Return the score of the record of a completion that was graded by itself."""
    error = str(record["error"] or "")
    if ran_out_of_time(record):
        return Score(FAILED, 0.0, "TLE", error)
    reward = reward_of(record, mode)
    if reward is not None:
        share = share_of(record["details"])
        return Score(reward, share or 0.0, verdict_of(record), error)
    why = error or f"the problem has the status {record['status']}"
    if record["status"] in ("no_tests", "invalid", "unsupported"):
        raise InputError(f"the ground truth gives no reward: {why}")
    raise NotGraded(f"not graded, which is not the program's fault: {why}")
