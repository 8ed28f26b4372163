"""How many verdicts of the math answer grader agree with the labels of hand-made sets.

    python benchmarks/answer_sets.py                 every set of answer_sets.jsonl.gz
    python benchmarks/answer_sets.py --list          with each answer that is judged wrong
    python benchmarks/answer_sets.py --policy dart --set textbook
    python benchmarks/answer_sets.py --by source real.jsonl.gz

A row is a JSON object on a line of a .jsonl or .jsonl.gz file: `id`, `gold`, `answer` (a bare
answer) or `response` (a whole one), `label` (whether it is right), and `doubtful` where a fair
judge may differ. Rows of answer_sets.jsonl.gz also have `set`, `topic` and `why`. A wrong accept is
a wrong answer that the grader accepts, a wrong reject a right one that it rejects. The sets
public_1 to public_8 answer questions of public data sets, which `dataset` names.
`write_sets` writes such a file; the same rows always give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[1])
sys.path.insert(1, f"{sys.path[0]}/src")

from gradebox.checkers.math.grading import Grade, grade_many  # noqa: E402
from gradebox.checkers.math.policy import POLICIES  # noqa: E402

SETS = Path(__file__).resolve().parent / "answer_sets.jsonl.gz"

Row = dict[str, Any]
Judged = tuple[Row, Grade]


def read_sets(files: list[Path]) -> list[Row]:
    """Return the rows of .jsonl and .jsonl.gz files, in order."""
    rows: list[Row] = []
    for file in files:
        with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8") as lines:
            rows += [json.loads(line) for line in lines if line.strip()]
    return rows


def write_sets(rows: list[Row], file: Path) -> None:
    """Write rows to a .jsonl.gz file without its name and a time in it."""
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    with file.open("wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
        packed.write(lines.encode())


def judge_all(rows: list[Row], policy: str, timeout: float) -> list[Judged]:
    """Return each row with the grade of its answer."""
    pairs = [(row["gold"], row.get("answer") or row.get("response")) for row in rows]
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
    parser.add_argument("files", nargs="*", type=Path, default=[SETS])
    parser.add_argument("--set", help="only the rows of this set")
    parser.add_argument("--by", help="also by the values of this field: set, source, topic")
    parser.add_argument("--list", action="store_true", help="print what is judged wrong")
    parser.add_argument("--policy", choices=sorted(POLICIES), default="strict")
    parser.add_argument("--timeout", type=float, default=5.0, help="CPU seconds a pair")
    args = parser.parse_args()

    rows = [r for r in read_sets(args.files) if not args.set or r.get("set") == args.set]
    judged = judge_all(rows, args.policy, args.timeout)
    for name, key in (("answers", "answer"), ("responses", "response")):
        own = [j for j in judged if key in j[0]]
        print(summary(name, own))
        print(summary(f"{name}, doubtful left out", [j for j in own if not j[0].get("doubtful")]))
    print(summary("all", judged))
    certain = [j for j in judged if not j[0].get("doubtful")]
    print(summary("all, doubtful left out", certain))
    groups: dict[str, list[Judged]] = defaultdict(list)
    for row, grade in certain if args.by else ():
        groups[str(row.get(args.by))].append((row, grade))
    for name, group in sorted(groups.items()):
        print(summary(name, group))
    for row, grade in judged if args.list else ():
        if grade.equal != row["label"]:
            kind = "wrong accept" if grade.equal else "wrong reject"
            doubtful = ", doubtful" if row.get("doubtful") else ""
            why = f": {row['why']} ({row['topic']})" if "why" in row else ""
            print(f"\n{row['id']}: {kind}{doubtful}{why}")
            print(f"  gold    {row['gold']}")
            for key in ("answer", "response"):
                if key in row:
                    print(f"  {key:8}" + row[key].strip().replace("\n", "\n          "))
            print(f"  found   {grade.answer} ({grade.reason})")


if __name__ == "__main__":
    main()
