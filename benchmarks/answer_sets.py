"""How many verdicts of the math answer grader agree with the labels of hand-made sets.

    python benchmarks/answer_sets.py                 every set of benchmarks/answer_sets
    python benchmarks/answer_sets.py --list          with each answer that is judged wrong
    python benchmarks/answer_sets.py --policy dart benchmarks/answer_sets/textbook.jsonl

A line of a set is a JSON object: `id`, `gold`, `answer` (a bare answer) or `response` (a whole
one), `label` (whether it is right), `topic`, `why`, and `doubtful` where a fair judge may differ. A
wrong accept is a wrong answer that the grader accepts, a wrong reject a right one that it rejects.
The sets public_1 to public_8 answer questions of public data sets, which `dataset` names.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[1])
sys.path.insert(1, f"{sys.path[0]}/src")

from gradebox.checkers.math.grading import Grade, grade_many  # noqa: E402
from gradebox.checkers.math.policy import POLICIES  # noqa: E402

SETS = Path(__file__).resolve().parent / "answer_sets"

Judged = tuple[dict[str, Any], Grade]


def read_sets(files: list[Path]) -> list[dict[str, Any]]:
    """Return the rows of the files, in order."""
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [json.loads(line) for line in lines if line.strip()]


def judge_all(rows: list[dict[str, Any]], policy: str, timeout: float) -> list[Judged]:
    """Return each row with the grade of its answer."""
    pairs = [(row["gold"], row.get("answer", row.get("response"))) for row in rows]
    grades = grade_many(pairs, policy=policy, timeout=timeout)
    return list(zip(rows, grades, strict=True))


def summary(name: str, judged: list[Judged]) -> str:
    """Return the share of right verdicts and the errors in both directions, on one line."""
    if not judged:
        return f"{name:32}     0 items"
    right_answers = sum(row["label"] for row, _ in judged)
    accepted = sum(grade.equal and not row["label"] for row, grade in judged)
    rejected = sum(not grade.equal and row["label"] for row, grade in judged)
    share = 1 - (accepted + rejected) / len(judged)
    return (
        f"{name:32} {len(judged):5} items  right {share:.4f}  "
        f"wrong accepts {accepted:3} of {len(judged) - right_answers:4}  "
        f"wrong rejects {rejected:3} of {right_answers:4}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, default=sorted(SETS.glob("*.jsonl")))
    parser.add_argument("--list", action="store_true", help="print what is judged wrong")
    parser.add_argument("--policy", choices=sorted(POLICIES), default="strict")
    parser.add_argument("--timeout", type=float, default=5.0, help="CPU seconds a pair")
    args = parser.parse_args()

    judged = judge_all(read_sets(args.files), args.policy, args.timeout)
    for name, key in (("answers", "answer"), ("responses", "response")):
        kind = [j for j in judged if key in j[0]]
        print(summary(name, kind))
        print(summary(f"{name}, doubtful left out", [j for j in kind if not j[0].get("doubtful")]))
    print(summary("all", judged))
    print(summary("all, doubtful left out", [j for j in judged if not j[0].get("doubtful")]))
    for row, grade in judged if args.list else ():
        if grade.equal != row["label"]:
            kind = "wrong accept" if grade.equal else "wrong reject"
            doubtful = ", doubtful" if row.get("doubtful") else ""
            print(f"\n{row['id']}: {kind}{doubtful}: {row['why']} ({row['topic']})")
            print(f"  gold    {row['gold']}")
            for key in ("answer", "response"):
                if key in row:
                    print(f"  {key:8}" + row[key].strip().replace("\n", "\n          "))
            print(f"  found   {grade.answer} ({grade.reason})")


if __name__ == "__main__":
    main()
