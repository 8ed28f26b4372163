"""Verify problem packages with `gradebox verify` and with problemtools' verifyproblem, in turn.

    python benchmarks/packages.py FOLDER… [--verifyproblem PATH] [--most SECONDS] [--packages N]

FOLDER has packages in Kattis' format. Of each, both tools grade the submissions, one tool after the
other, and a line says how long each took, and which verdicts differ where both graded. Both find
the time limits, and run Python and Java with the same programs: verifyproblem's table asks for
PyPy and Java 21, so that it gets one for this machine. A package counts where both end in time.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERIFY = (sys.executable, str(ROOT / "eval" / "verify.py"), "--json")
PYTHON = Path(sys.executable).resolve()
LANGUAGES = f"""
python3:
    name: Python 3
    compile: '{PYTHON} -m py_compile {{files}}'
    run: '{PYTHON} "{{mainfile}}"'
java:
    compile: 'javac -encoding UTF-8 -sourcepath {{path}} -d {{path}} {{files}}'
"""
# a line of verifyproblem: "  accepted/sum.py (Python 3) OK: AC [CPU: 0.02s @ testcase secret/1]"
LINE = re.compile(r"^\W*(?:ERROR |WARNING )?(\S+) \([^)]*\)[^:]*: .*?\b(AC|WA|TLE|RTE|CE|PAC)\b")
GOT = re.compile(r"^\W*(?:ERROR |WARNING )?(\S+) \([^)]*\) got (AC|WA|TLE|RTE|CE|PAC)\b")
ALIKE = {"RE": "RTE", "MLE": "RTE", "OLE": "WA"}


def run(words: list[str], most_s: float) -> tuple[float, str]:
    """Run a command; return its wall time in seconds, inf when it was ended, and its output."""
    began = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        output, _ = process.communicate(timeout=most_s)
    except subprocess.TimeoutExpired:
        process.terminate()
        output, _ = process.communicate()
        return float("inf"), output
    return time.monotonic() - began, output


def verdicts(ours: str, theirs: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the verdicts of both tools by submission, of those that each has graded."""
    rows = [json.loads(line) for line in ours.splitlines() if line.startswith("{")]
    graded = [row for row in rows if row["found"] != "not run"]
    found = {row["submission"]: _verdict(*row["found"].split()) for row in graded}
    matches = [m for line in theirs.splitlines() if (m := GOT.match(line) or LINE.match(line))]
    return found, {m[1]: m[2] for m in matches}


def _verdict(verdict: str, points: str = "0", *_: str) -> str:
    """Return verifyproblem's verdict of ours, such as `WA 50 of 100`, which it accepts with 50."""
    return "AC" if float(points) > 0 else ALIKE.get(verdict, verdict)


def main() -> None:
    """Print a line for each package, and the sums."""
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("folders", nargs="+", type=Path)
    p.add_argument("--verifyproblem", default="verifyproblem")
    p.add_argument("--most", type=float, default=600.0, help="seconds for a package and a tool")
    p.add_argument("--packages", type=int, default=1000, help="at most so many")
    args = p.parse_args()
    theirs_path = shutil.which(args.verifyproblem)
    if theirs_path is None:
        p.error(f"{args.verifyproblem} is no program: pip install problemtools, give its path")
    folder = Path(tempfile.mkdtemp())
    (folder / "problemtools").mkdir()
    (folder / "problemtools" / "languages.yaml").write_text(LANGUAGES)
    os.environ["XDG_CONFIG_HOME"] = str(folder)
    marked = (path for f in args.folders for path in sorted(f.rglob("problem.yaml")))
    packages = [path for path in marked if (path.parent / "submissions").is_dir()]
    total, ratios = [0.0, 0.0], []
    both = same = only_ours = only_theirs = 0
    for marker in packages[: args.packages]:
        package = marker.parent
        theirs_s, theirs = run([theirs_path, "-p", "submissions", "-l", "info", "--",
                                str(package)], args.most)  # fmt: skip
        states = re.search(r"^\s*time_limit\s*:", marker.read_text(errors="replace"), re.MULTILINE)
        limit = [] if states else ["--time-limit", "auto"]  # verifyproblem reads no .timelimit
        ours_s, ours = run([*VERIFY, *limit, str(package)], args.most)
        mine, other = verdicts(ours, theirs)
        shared = sorted(mine.keys() & other.keys())
        differ = [f"{n} {mine[n]}/{other[n]}" for n in shared if mine[n] != other[n]]
        both, same = both + len(shared), same + len(shared) - len(differ)
        only_ours += len(mine) - len(shared)
        only_theirs += len(other) - len(shared)
        ended = max(ours_s, theirs_s) < float("inf")
        if ended:
            total[0], total[1] = total[0] + ours_s, total[1] + theirs_s
            ratios.append(ours_s / theirs_s)
        ratio = f"{ratios[-1]:.2f}" if ended else "left out"
        print(f"{package.name:28} {ours_s:6.1f} s / {theirs_s:6.1f} s = {ratio}  "
              f"{len(mine)} and {len(other)} graded  {' '.join(differ)}", flush=True)  # fmt: skip
    shutil.rmtree(folder)
    half = sum(ratio <= 0.5 for ratio in ratios)
    print(f"{len(ratios)} packages: {total[0]:.1f} s / {total[1]:.1f} s = "
          f"{total[0] / max(total[1], 1e-9):.2f}, median "
          f"{statistics.median(ratios or [0]):.2f}, {half} of them 0.50 or less; {same} of {both} "
          f"verdicts the same; graded here alone {only_ours}, there alone {only_theirs}; load "
          f"{os.getloadavg()[0]:.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
