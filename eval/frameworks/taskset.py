"""Programs as a taskset of verifiers 0.4: `gradebox.verifiers`.

data set ─▶ tasks (prompt, id of the problem) ─ a model's last reply ─▶ reward, pass_rate

The tests are no part of a task: they stay with the grader, so no trace has them. A fault of the
machine raises in scoring, which verifiers records as an error and leaves out of training.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from gradebox.eval.api.calls import shared_grader
from gradebox.eval.api.rewards import Mode
from gradebox.eval.api.rewards.trl import score_one_async
from gradebox.eval.models.answers.code_prompts import prompts


class ProgramTaskConfig(vf.TaskConfig):
    """How programs are graded.

    dataset       as for --dataset; the taskset sets it
    mode          pass_fail, partial or weighted_sum (docs/rewards.md)
    servers       addresses of servers that grade; they have the data set (`--dataset`)
    patience_s    for how long servers that are full or do not answer are asked again
    time_limit_s  for all tests of one completion together
    """

    dataset: str = ""
    mode: Mode = "pass_fail"
    servers: tuple[str, ...] = ()
    patience_s: float = 600.0
    time_limit_s: float = 300.0


class ProgramsConfig(vf.TasksetConfig):
    """Which problems.

    dataset      a .jsonl or .parquet file, a folder, or a name on the hub
    language     of programs, for rows that leave it open
    prompt_file  a template as of `gradebox sample`; None: that command's own
    """

    dataset: str = "openai/openai_humaneval"
    split: str = "test"
    language: str = "python"
    prompt_file: str | None = None
    task: ProgramTaskConfig = ProgramTaskConfig()


class ProgramData(vf.TaskData):
    """A problem: its prompt, its id in the data set, the language of programs."""

    problem: str
    language: str


class ProgramTask(vf.Task[ProgramData, vf.State, ProgramTaskConfig]):
    """Write a program; graded by all tests of its problem."""

    @property
    def key(self) -> str:
        """Return the problem's id."""
        return str(self.data.problem)

    @vf.reward(weight=1.0)
    async def tests_passed(self, trace: Any) -> float:
        """Return the reward of the last reply.

        Raises NotGraded for a fault of the machine, InputError for an unusable problem.
        """
        info = {"language": self.data.language}
        score = await score_one_async(trace.last_reply, self.data.problem, info, self._settings())
        trace.record_metric("pass_rate", score.pass_rate)
        trace.info["gradebox"] = {"verdict": score.verdict, "error": score.error}
        return score.reward

    async def validate(self, runtime: Any = None) -> bool | None:
        """Return whether all right solutions of the data set pass; None when it has none."""
        if self.config.servers:
            return None
        grader = shared_grader(self.config.dataset)
        known = grader.known_solutions(self.data.problem)
        records = await grader.grade_async(known)
        return all(record["status"] == "passed" for record in records) if known else None

    def _settings(self) -> dict[str, Any]:
        config = self.config
        settings: dict[str, Any] = {"mode": config.mode, "time_limit_s": config.time_limit_s}
        if config.servers:
            return {**settings, "servers": list(config.servers), "patience_s": config.patience_s}
        return {**settings, "dataset": config.dataset}


class Programs(vf.Taskset[ProgramTask, ProgramsConfig]):
    """The problems of a data set that gradebox reads."""

    def load(self) -> Iterator[ProgramTask]:
        """Yield a task for each problem. Raises InputError when the data set can't be read."""
        config = self.config
        grading = config.task.model_copy(update={"dataset": config.dataset})
        for name, language, prompt in prompts(
            config.dataset, config.split, config.language, config.prompt_file
        ):
            data = ProgramData(id=name, name=name, prompt=prompt, problem=name, language=language)
            yield ProgramTask(data, grading)
