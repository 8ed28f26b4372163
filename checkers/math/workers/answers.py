"""What the workers of math answers do: judge a pair, say how it is read, or try to read a text."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from gradebox.checkers.math.extract.answer import extract_answer, why_none
from gradebox.checkers.math.first_tier import answers, first_tier, judge_choice
from gradebox.checkers.math.policy import Policy
from gradebox.checkers.math.read.normalise import norm_answer, normalise
from gradebox.checkers.workers import pool
from gradebox.checkers.workers.pool import Outcome
from gradebox.sandbox.errors import SandboxError

MOST_ANSWER = 100_000  # characters that come back
NO_SYMPY = "no sympy"


class Pool(pool.WorkerPool):
    """Workers that judge math answers."""

    module = __name__
    needs = "; they need sympy (pip install gradebox[math])"

    def judge(
        self,
        gold: str,
        response: str,
        policy: Policy,
        timeout_s: float,
        explain: bool = False,
        choices: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Return the verdict on one pair.

        Its readings are the tier, the answer, both texts that were compared, and with `explain`
        how these are read; none when a limit was met. Raises SandboxError when no worker can be
        started.
        """
        request = {"policy": asdict(policy), "explain": explain, "choices": choices or {}}
        return self._asked(request, timeout_s, gold, response)

    def extract(self, response: str, strict: bool, timeout_s: float) -> str:
        """Return the answer in a response in one spelling; "" at a limit."""
        outcome = self._asked({"extract": strict}, timeout_s, response)
        return outcome.readings[0] if outcome.readings else ""

    def _asked(self, request: dict[str, Any], timeout_s: float, *texts: str) -> Outcome:
        blobs = [text.encode("utf-8", "surrogatepass") for text in texts]
        outcome = self.ask(request, timeout_s, blobs)
        if outcome.reason == NO_SYMPY:
            raise SandboxError(f"the workers of math have no sympy{self.needs}")
        return outcome

    def probe(self, kind: str, text: str, timeout_s: float) -> Outcome:
        """Return whether a worker can read `text` as a "matrix" or an "interval"."""
        return self.ask({"probe": kind, "text": text}, timeout_s)


# ---- in the workers ----


def preload() -> None:
    """Load SymPy without what runs text as Python, if it is installed."""
    try:
        import sympy  # noqa: F401
    except ModuleNotFoundError:  # equal texts need none; `judged` says when it is missing
        return
    from gradebox.checkers.math.compare import judge
    from gradebox.checkers.math.workers.no_eval import disable_eval

    judge.preload()
    disable_eval()


def work(request: dict[str, Any], blobs: list[bytes]) -> tuple[bool, str, list[str]]:
    """Return the verdict on a pair, an answer, or for a probe, whether the text can be read."""
    if "probe" in request:
        return probe(request["probe"], request["text"])
    gold, response = (blob.decode("utf-8", "surrogatepass") for blob in (blobs[0], blobs[-1]))
    if "extract" in request:
        answer = extract_answer(response, request["extract"])
        return True, "", [norm_answer(answer)[:MOST_ANSWER]]
    policy, explain = Policy(**request["policy"]), request["explain"]
    if not request["choices"]:
        return judged(gold, response, policy, explain)
    return judge_choice(
        gold,
        request["choices"],
        judge=lambda reference: judged(reference, response, policy, explain),
        same=lambda one, other: judged(one, other, policy, False)[0],
    )


def judged(gold: str, response: str, policy: Policy, explain: bool) -> tuple[bool, str, list[str]]:
    """Return the verdict, its reason, and the readings of `Pool.judge`."""
    equal, why, left, right = first_tier(gold, response, policy)
    answer, tier = right, 1
    if (equal is None or explain) and "sympy" not in sys.modules:
        return False, NO_SYMPY, []
    if equal is None:
        from gradebox.checkers.math.compare.judge import judge

        tier, (equal, why) = 2, judge(left, right, policy)
    elif explain:  # the first tier may have compared whole texts
        left, right = answers(gold, response, policy)
    if not equal:
        why = why_none(response, answer, left) or why
    shown = ["", ""]
    if explain:
        from gradebox.checkers.math.compare.judge import readings

        try:
            shown = [str(text)[:1000] for text in readings(left, right)]
        except ValueError as e:
            shown = [f"not read: {e}"[:1000]] * 2
    return equal, why, [str(tier), *(text[:MOST_ANSWER] for text in (answer, left, right)), *shown]


def probe(kind: str, text: str) -> tuple[bool, str, list[str]]:
    """Return whether a text can be read as a "matrix" or an "interval"."""
    from gradebox.checkers.math.compare import lists, real_sets

    readers = {"matrix": lists.read_matrix, "interval": real_sets.read_interval}
    try:
        readers[kind](text)
    except ValueError as e:
        return False, str(e), []
    return True, "read", []


def clear_caches() -> None:
    normalise.cache_clear()
    if "sympy" in sys.modules:
        from sympy.core.cache import clear_cache

        from gradebox.checkers.math.read.expressions.parser import parse_expression

        clear_cache()
        parse_expression.cache_clear()
