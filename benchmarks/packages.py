"""Verify problem packages with `gradebox verify` and with problemtools' verifyproblem, in turn.

    python benchmarks/packages.py FOLDER… [--verifyproblem PATH] [--most SECONDS]

FOLDER has packages in Kattis' format. Of each, both tools grade the submissions, one tool after the
other, and a line says how long each took, and which verdicts differ where both graded.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERIFY = (sys.executable, str(ROOT / "eval" / "verify.py"), "--json")
# a line of verifyproblem: "  accepted/sum.py (Python 3) OK: AC [CPU: 0.02s @ testcase secret/1]"
LINE = re.compile(r"^\W*(?:ERROR |WARNING )?(\S+) \([^)]*\)[^:]*: .*?\b(AC|WA|TLE|RTE|CE|PAC)\b")
ALIKE = {"RE": "RTE", "MLE": "RTE", "OLE": "WA"}


def run(words: list[str], most_s: float) -> tuple[float, str]:
    """Run a command; return its wall time in seconds and its output."""
    began = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        output, _ = process.communicate(timeout=most_s)
    except subprocess.TimeoutExpired:
        process.terminate()
        output, _ = process.communicate()
    return time.monotonic() - began, output


def verdicts(ours: str, theirs: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the verdicts of both tools by submission, of those that each has graded."""
    rows = [json.loads(line) for line in ours.splitlines() if line.startswith("{")]
    graded = [row for row in rows if row["found"] != "not run"]
    found = {row["submission"]: row["found"].split()[0] for row in graded}
    matches = filter(None, map(LINE.match, theirs.splitlines()))
    return {n: ALIKE.get(v, v) for n, v in found.items()}, {m[1]: m[2] for m in matches}


def main() -> None:
    """Print a line for each package, and the sums."""
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("folders", nargs="+", type=Path)
    p.add_argument("--verifyproblem", default="verifyproblem")
    p.add_argument("--most", type=float, default=600.0, help="seconds for a package")
    args = p.parse_args()
    marked = (path.parent for f in args.folders for path in sorted(f.rglob("problem.yaml")))
    packages = [folder for folder in marked if (folder / "submissions").is_dir()]
    total = [0.0, 0.0]
    both = same = 0
    for package in packages:
        theirs_s, theirs = run([args.verifyproblem, "-p", "submissions", "-l", "info", "--",
                                str(package)], args.most)  # fmt: skip
        ours_s, ours = run([*VERIFY, str(package)], args.most)
        mine, other = verdicts(ours, theirs)
        shared = sorted(mine.keys() & other.keys())
        differ = [f"{n} {mine[n]}/{other[n]}" for n in shared if mine[n] != other[n]]
        total[0], total[1] = total[0] + ours_s, total[1] + theirs_s
        both, same = both + len(shared), same + len(shared) - len(differ)
        print(f"{package.name:28} {ours_s:6.1f} s / {theirs_s:6.1f} s = {ours_s / theirs_s:.2f}  "
              f"{len(mine)} and {len(other)} graded  {' '.join(differ)}", flush=True)  # fmt: skip
    print(f"{len(packages)} packages: {total[0]:.1f} s / {total[1]:.1f} s = "
          f"{total[0] / max(total[1], 1e-9):.2f}; {same} of {both} verdicts the same; load "
          f"{os.getloadavg()[0]:.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
