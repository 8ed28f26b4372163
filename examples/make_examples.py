"""Write the data sets of this folder from the sources under src/.

    src/A-sum/problem.json       limits, tags, rating …
              statement.md       title, then ## Input, ## Output, ## Interaction, ## Note
              tests/01-sample.in, 01-sample.out, …   official tests; samples are shown too
              checker.py         the problem's generated_checker, when it has one
              generated.py       tests() yields (input, output): the generated tests
              solutions/         programs (.py, .cpp) and whole responses of a model (.md)

    ──▶ problems.jsonl, solutions.jsonl, generated_tests/test_cases_9001.parquet

The first line of each solution gives its expected status, verdict and reason, and optionally
`language=c++20`. It goes into the field `expect`, which the grader ignores and
tests/test_examples.py checks.

    python examples/make_examples.py          write them into this folder
    python examples/make_examples.py FOLDER   write them into FOLDER
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "src"
LANGUAGES = {".py": "python", ".cpp": "cpp"}
SECTIONS = {
    "": "description",
    "Input": "input_format",
    "Output": "output_format",
    "Interaction": "interaction_format",
    "Note": "note",
}
EXPECT = re.compile(r"^(?://|#|<!--) expect: (?P<words>[^\n]*?)(?: -->)?\n")


def problem_folders() -> list[Path]:
    """Return the folder of every problem, sorted."""
    return sorted(path.parent for path in SOURCE.glob("*/problem.json"))


def statement(text: str) -> dict[str, Any]:
    """Return the columns of a statement: title and sections; None for a missing section."""
    head, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    title, _, description = head.removeprefix("# ").partition("\n")
    columns: dict[str, Any] = dict.fromkeys(SECTIONS.values())
    columns |= {"title": title.strip(), "description": description.strip()}
    for section in sections:
        name, _, body = section.partition("\n")
        columns[SECTIONS[name.strip()]] = body.strip()
    return columns


def official_tests(folder: Path) -> list[tuple[str, dict[str, str]]]:
    """Return (file stem, {input, output}) of every official test, sorted."""
    return [
        (path.stem, {"input": path.read_text(), "output": path.with_suffix(".out").read_text()})
        for path in sorted((folder / "tests").glob("*.in"))
    ]


def generated_tests(folder: Path) -> list[tuple[str, str]]:
    """Return (input, output) of every generated test; [] when the problem has no generator."""
    generator = folder / "generated.py"
    return list(runpy.run_path(str(generator))["tests"]()) if generator.exists() else []


def problem_row(folder: Path) -> dict[str, Any]:
    """Return one row in the columns of open-r1/codeforces."""
    own = json.loads((folder / "problem.json").read_text())
    contest, index = own["id"].split("/")
    tests = official_tests(folder)
    checker = folder / "checker.py"
    return {
        "id": own["id"],
        "aliases": [],
        "contest_id": contest,
        "contest_name": "gradebox examples",
        "contest_start_year": 2026,
        "index": index,
        **statement((folder / "statement.md").read_text()),
        "examples": [test for stem, test in tests if stem.endswith("sample")],
        "official_tests": [test for _, test in tests],
        "official_tests_complete": True,
        "input_mode": "stdio",
        "generated_checker": checker.read_text() if checker.exists() else None,
        "generated_tests": len(generated_tests(folder)),
        **own,
    }


def expectation(words: str) -> tuple[dict[str, str | None], str | None]:
    """Parse `passed AC passed_by_checker language=c++20` → ({status, verdict, reason}, language).

    A `-`, or a missing word at the end, means None.
    """
    plain = [None if word == "-" else word for word in words.split() if "=" not in word]
    options = dict(word.split("=", 1) for word in words.split() if "=" in word)
    keys = ("status", "verdict", "reason")
    return dict(zip(keys, [*plain, None, None], strict=False)), options.get("language")


def solution_line(problem_id: str, path: Path) -> dict[str, Any]:
    """Return one line of the solutions file; a response loses its first line."""
    text = path.read_text()
    found = EXPECT.match(text)
    if found is None:
        raise ValueError(f"{path}: the first line must say `expect: STATUS [VERDICT [REASON]]`")
    expect, language = expectation(found["words"])
    line: dict[str, Any] = {"id": problem_id, "solution_id": path.name}
    if path.suffix == ".md":
        line["completion"] = text[found.end() :]
    else:
        line |= {"language": language or LANGUAGES[path.suffix], "code": text}
    return {**line, "expect": expect}


def solution_lines() -> Iterator[dict[str, Any]]:
    """Yield every solution of every problem, then the lines that fit no problem."""
    for folder in problem_folders():
        problem_id = json.loads((folder / "problem.json").read_text())["id"]
        for path in sorted((folder / "solutions").iterdir()):
            if path.suffix in {*LANGUAGES, ".md"}:
                yield solution_line(problem_id, path)
    for text in (SOURCE / "odd_lines.jsonl").read_text().splitlines():
        yield json.loads(text)


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def write_generated(folder: Path) -> None:
    """Write one parquet file per contest, as the data set publishes them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    contests: dict[int, list[dict[str, Any]]] = {}
    for source in problem_folders():
        problem_id = json.loads((source / "problem.json").read_text())["id"]
        for i, (input_text, output_text) in enumerate(generated_tests(source)):
            contests.setdefault(int(problem_id.split("/")[0]), []).append(
                {
                    "problem_id": problem_id,
                    "input": input_text,
                    "output": output_text,
                    "test_case_i": i,
                }
            )
    folder.mkdir(exist_ok=True)
    for contest, rows in contests.items():
        pq.write_table(
            pa.Table.from_pylist(rows),
            folder / f"test_cases_{contest:04d}.parquet",
            compression="zstd",
        )


def main(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    problems = [problem_row(folder) for folder in problem_folders()]
    solutions = list(solution_lines())
    write_jsonl(target / "problems.jsonl", problems)
    write_jsonl(target / "solutions.jsonl", solutions)
    write_generated(target / "generated_tests")
    print(f"{len(problems)} problems and {len(solutions)} solutions written to {target}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
