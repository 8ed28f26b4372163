"""Problem packages of judges as rows: Kattis and ICPC, DOMjudge, Polygon, DMOJ.

    a folder, a zip, a folder of them ─ find_packages ─▶ PackageRows ─ row(n) ─▶ a row of our own

A module for each format reads a `PackageFiles` (files.py) into a row; submissions.py reads what its
authors submitted, and which verdicts they expect.
"""

from gradebox.eval.problems.packages.package_rows import PackageRows, find_packages

__all__ = ["PackageRows", "find_packages"]
