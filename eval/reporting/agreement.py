"""How far a run agrees with the verdicts of the site that submissions come from.

    records ─ read_agreement ─▶ Agreement ─ agreement_lines ─▶ a row for each language and verdict

Verdicts of the site that judge nothing (SKIPPED, TESTING, …) are counted and left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.terminal import cut, pad
from gradebox.eval.results.records import results_path, usable_records
from gradebox.eval.results.statistics.counts import COUNTED_STATUSES

# the site's name of a verdict → ours
VERDICTS = {
    "OK": "AC",
    "WRONG_ANSWER": "WA",
    "PRESENTATION_ERROR": "WA",
    "CHALLENGED": "WA",
    "TIME_LIMIT_EXCEEDED": "TLE",
    "IDLENESS_LIMIT_EXCEEDED": "TLE",
    "MEMORY_LIMIT_EXCEEDED": "MLE",
    "RUNTIME_ERROR": "RE",
    "COMPILATION_ERROR": "CE",
}
COLUMNS = ("AC", "WA", "TLE", "MLE", "RE", "CE")


@dataclass
class Agreement:
    """How often we gave each verdict, by (language, verdict of the site) in the site's words.

    left_out  submissions without a judgement of the site, and those that were not graded
    """

    verdicts: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> dict[str, Any]:
        """Return the table as a JSON object."""
        rows = [
            {"language": language, "site_verdict": verdict, **_shares(verdict, counts)}
            for (language, verdict), counts in sorted(self.verdicts.items())
        ]
        return {"rows": rows, "left_out": dict(self.left_out)}


def read_agreement(name: str) -> Agreement:
    """Read a results folder or records file once.

    Raises InputError when no record has a site's verdict.
    """
    path, found = results_path(name), Agreement()
    for record in usable_records(path):
        origin = record.get("origin") or {}
        verdict = str(origin.get("site_verdict") or "")
        if not verdict:
            continue
        if verdict not in VERDICTS:
            found.left_out["the site has not judged it"] += 1
        elif record["status"] not in COUNTED_STATUSES:
            found.left_out[str(record["status"])] += 1
        else:
            key = (str(origin.get("site_language") or record.get("language")), verdict)
            counts = found.verdicts.setdefault(key, Counter())
            counts[str(record.get("verdict") or "no code")] += 1
    if not found.verdicts:
        raise InputError(
            f"{path}: no record has a verdict of a site; give two runs, or grade rows of "
            "open-r1/codeforces-submissions"
        )
    return found


def _shares(verdict: str, counts: Counter[str]) -> dict[str, Any]:
    total, ours = sum(counts.values()), VERDICTS[verdict]
    passes = counts["AC"] if ours == "AC" else total - counts["AC"]
    return {
        "solutions": total,
        "agree": passes / total,
        "same_verdict": counts[ours] / total,
        "verdicts": dict(sorted(counts.items())),
    }


def agreement_lines(agreement: Agreement, width: int) -> Iterator[str]:
    """Yield the table, at most `width` columns wide; names are cut to what the numbers leave."""
    numbers = f"{'n':>6}{'agree':>7}{'same':>7}"
    numbers += "".join(f"{name:>5}" for name in COLUMNS) + f"{'other':>6}"
    room = max(18, min(60, width - len(numbers) - 1))
    verdict_room = 5 if room < 45 else 28
    language_room = room - verdict_room
    yield f"{pad('language', language_room)}{pad('site', verdict_room)} {numbers}"
    total: dict[str, Counter[str]] = {}
    for (language, verdict), counts in sorted(agreement.verdicts.items()):
        total.setdefault(verdict, Counter()).update(counts)
        name = pad(cut(language, language_room - 1), language_room)
        yield f"{name}{pad(_short(verdict, verdict_room), verdict_room)} {_row(verdict, counts)}"
    for verdict, counts in sorted(total.items()):
        name = pad("all", language_room)
        yield f"{name}{pad(_short(verdict, verdict_room), verdict_room)} {_row(verdict, counts)}"
    yield "agree: it passes, or fails, as on the site; same: with the same verdict"
    for why, count in sorted(agreement.left_out.items()):
        yield f"left out: {count:,}, {cut(why, width - 24)}"


def _short(verdict: str, room: int) -> str:
    return verdict if len(verdict) < room else VERDICTS[verdict]


def _row(verdict: str, counts: Counter[str]) -> str:
    shares = _shares(verdict, counts)
    other = sum(count for name, count in counts.items() if name not in COLUMNS)
    cells = "".join(f"{counts[name] or '':>5}" for name in COLUMNS) + f"{other or '':>6}"
    percent = f"{shares['agree']:>7.1%}{shares['same_verdict']:>7.1%}"
    return f"{shares['solutions']:>6}{percent}{cells}".rstrip()
