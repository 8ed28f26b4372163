"""Packages of judges become problems; a broken one is refused in one line: the file, the remedy."""

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.problems import ProblemSet, open_problems
from gradebox.eval.problems.packages.dmoj_checkers import floats
from gradebox.eval.problems.packages.submissions import ALL, covers, language_of
from gradebox.eval.problems.problem import Expectation
from gradebox.eval.solutions.solution import known_solutions_of

Files = Mapping[str, str]
KATTIS: Files = {
    "problem.yaml": "name: Sum\nlimits: {memory: 64}\nvalidator_flags: float_tolerance 1e-6\n",
    "data/sample/1.in": "1 2\n",
    "data/sample/1.ans": "3\n",
    "data/secret/2.in": "2 2\n",
    "data/secret/2.ans": "4\n",
    "submissions/accepted/a.py": "print(sum(map(int, input().split())))",
    "submissions/wrong_answer/b/main.py": "import c\nprint(c.x)",
    "submissions/wrong_answer/b/c.py": "x = 3",
    ".timelimit": "3",
}
SCORING = "problem_format_version: 2023-07\ntype: scoring\nlimits: {time_limit: 2}\n"
XML = """<problem short-name="s"><names><name language="english" value="Sum"/></names>
<judging input-file="in.txt" output-file="out.txt"><testset name="tests">
<time-limit>1500</time-limit><memory-limit>67108864</memory-limit><test-count>2</test-count>
<input-path-pattern>tests/%02d</input-path-pattern>
<answer-path-pattern>tests/%02d.a</answer-path-pattern>
<tests><test points="10" group="1"/><test points="20" group="2"/></tests><groups>
<group name="1" points-policy="complete-group"/><group name="2" points-policy="each-test">
<dependencies><dependency group="1"/></dependencies></group></groups></testset></judging>
<assets><checker name="std::wcmp.cpp"/><solutions><solution tag="rejected">
<source path="solutions/r.cpp" type="cpp.g++11"/></solution></solutions></assets></problem>"""
POLYGON: Files = {
    "problem.xml": XML,
    "tests/01": "1\n",
    "tests/01.a": "1\n",
    "tests/02": "2\n",
    "tests/02.a": "2\n",
    "solutions/r.cpp": "int main() {}",
}
DMOJ: Files = {
    "init.yml": "checker: {name: floats, args: {precision: 3}}\ntest_cases:\n"
    "- batched: [{in: 1.in, out: 1.out}, {in: 2.in, out: 2.out}]\n  points: 40\n"
    "- {in: 2.in, out: 2.out, points: 60, dependencies: [1]}\n",
    "1.in": "1\n",
    "1.out": "1\n",
    "2.in": "2\n",
    "2.out": "2\n",
    "tests/slow/test.yml": "{language: PY3, time: 4, memory: 65536, source: s.py, expect: TLE}",
    "tests/slow/s.py": "while 1: pass",
    "tests/wrong/test.yml": "{language: PY3, source: s.py, cases: {1: AC, 2: [WA], 3: SC}}",
    "tests/wrong/s.py": "print(1)",
}
LIGHTCP: Files = {
    "config.yaml": "{time: 500ms, memory: 64m, subtasks: [{n_cases: 1},"
    " {time_limit: 2s, n_cases: 1}]}",
    "testdata/1.in": "1\n",
    "testdata/1.ans": "1\n",
    "testdata/2.in": "2\n",
    "testdata/2.ans": "2\n",
    "chk.cc": "int main() {}",
    "testlib.h": "",
}


def write(folder: Path, files: Files) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def pack(path: Path, files: Files) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def contents(problems: ProblemSet, name: str) -> list[tuple[bytes, bytes]]:
    return [(test.input, test.expected) for test in problems.official_tests(name)]


def test_folders_zips_and_folders_of_both_are_read(tmp_path):
    write(tmp_path / "all" / "sum", KATTIS)
    pack(tmp_path / "all" / "packed.zip", {f"inner/{name}": text for name, text in KATTIS.items()})
    write(tmp_path / "more", DMOJ)
    with open_problems(f"{tmp_path / 'all'},{tmp_path / 'more'}") as problems:
        assert problems.ids() == ["packed", "sum", "more"]
        for name in ("packed", "sum"):
            problem = problems.get(name)
            assert (problem.time_limit_s, problem.memory_limit_bytes) == (3, 64 << 20)
            assert problem.checker_name == "kattis float_tolerance 1e-6"
            assert [info.name for info in problem.test_info] == ["sample/1", "secret/2"]
            assert contents(problems, name) == [(b"1 2\n", b"3\n"), (b"2 2\n", b"4\n")]
            golds = [(k.solution.solution_id, k.must_pass) for k in known_solutions_of(problem)]
            assert golds == [("accepted/a.py", True), ("wrong_answer/b", False)]
            assert list(problem.gold_solutions[1]["files"]) == ["main.py", "c.py"]


def test_tests_are_read_when_they_are_needed(tmp_path):
    folder = write(tmp_path / "sum", KATTIS)
    with open_problems(str(folder)) as problems:
        assert problems.get("sum") is not None
        (folder / "data/secret/2.in").write_text("5 5\n")
        assert contents(problems, "sum")[1][0] == b"5 5\n"


def test_points_and_groups_of_kattis(tmp_path):
    groups = {
        "data/testdata.yaml": "grader_flags: ignore_sample",
        "data/secret/a/testdata.yaml": "{grader_flags: min, accept_score: 30, range: 0 30}",
        "data/secret/a/1.in": "1", "data/secret/a/1.ans": "1",
        "data/secret/b/testdata.yaml": "{accept_score: 20, output_validator_flags: case_sensitive}",
        "data/secret/b/1.in": "1", "data/secret/b/1.ans": "1",
        "data/secret/b/2.in": "1", "data/secret/b/2.ans": "1",
    }  # fmt: skip
    folder = write(tmp_path / "sum", {**groups, "problem.yaml": SCORING})
    with open_problems(str(folder)) as problems:
        problem = problems.get("sum")
        assert [(g.name, g.points, g.rule, g.groups) for g in problem.subtasks] == [
            ("secret/a", 30, "min", ()),
            ("secret/b", 40, "sum", ()),
            ("secret", 70, "sum", ("secret/a", "secret/b")),
        ]
        assert not problems.messages()
        assert [(i.points, i.args) for i in problem.test_info] == [
            (30, ()), (20, ("case_sensitive",)), (20, ("case_sensitive",)),
        ]  # fmt: skip


def test_points_and_groups_of_the_newer_kattis_format(tmp_path: Path) -> None:
    files = {
        "problem.yaml": SCORING.replace("2023-07", "2025-09"),
        "data/sample/1.in": "1", "data/sample/1.ans": "1",
        "data/secret/test_group.yaml": "{max_score: 70, output_validator_args: [a]}",
        "data/secret/a/test_group.yaml": "{max_score: 30, require_pass: sample}",
        "data/secret/b/test_group.yaml": "{max_score: 40, score_aggregation: sum}",
        **{f"data/secret/{name}.{end}": "1"
           for name in ("a/1", "a/2", "b/1", "b/more/2") for end in ("in", "ans")},
    }  # fmt: skip
    with open_problems(str(write(tmp_path / "sum", files))) as problems:
        problem = problems.get("sum")
        assert problem is not None
        assert [(g.name, g.points, g.rule, g.needs) for g in problem.subtasks] == [
            ("sample", 0, "all", ()),
            ("secret/a", 30, "all", ("sample",)),
            ("secret/b", 40, "sum", ()),
            ("secret", 70, "sum", ()),
        ]
        found = [(info.name, info.points, info.args) for info in problem.test_info]
        assert found[1::2] == [("secret/a/1", 30, ("a",)), ("secret/b/1", 20, ("a",))]


def test_templates_beside_a_validator_are_none(tmp_path: Path) -> None:
    files = {
        **KATTIS,
        "problem.yaml": "validation: custom",
        "output_validators/validate.ctd.template": "",
        "output_validators/own/validate.py": "",
        "output_validators/own/README.md": "",
    }
    with open_problems(str(write(tmp_path / "sum", files))) as problems:
        problem = problems.get("sum")
        assert problem is not None and problem.judge_program is not None
        assert problem.judge_program["name"] == "output_validators/own/validate.py"


def test_a_missing_input_and_a_missing_limit_are_said(tmp_path: Path) -> None:
    files = {name: text for name, text in KATTIS.items() if name != ".timelimit"}
    folder = write(tmp_path / "sum", {**files, "data/secret/3.ans": "3"})
    with open_problems(str(folder)) as problems:
        problem = problems.get("sum")
        assert (problem.time_limit_s, problem.time_rule.stated, problem.time_rule.ac) == (
            *(2, False, 5),
        )
        assert len(contents(problems, "sum")) == 2
        unpaired, unstated = problems.messages()
        assert unpaired == "problem sum: data/secret/3.ans has no input: add 3.in beside it"
        assert "sum states no time limit: 2 s are used" in unstated


def test_submissions_yaml_speaks_of_names_and_tests(tmp_path):
    yaml = (
        "accepted: {permitted: [AC, TLE]}\n"
        "'wrong_answer/{b,x}*': {language: python3, secret/*: {required: [RTE]}}\n"
    )
    folder = write(tmp_path / "sum", {**KATTIS, "submissions/submissions.yaml": yaml})
    with open_problems(str(folder)) as problems:
        problem = problems.get("sum")
        found = {g["name"]: g["expected"] for g in problem.gold_solutions}
        assert found["accepted/a.py"] == [Expectation("", ("AC", "TLE"))]
        assert found["wrong_answer/b"][-1] == Expectation("secret/*", None, ("RE",))


@pytest.mark.parametrize(
    ("glob", "name", "covered"),
    [
        ("accepted", "accepted/a.py", True),
        ("{accepted,mixed}/*.{py,cpp}", "mixed/a.cpp", True),
        ("{accepted,mixed}/*.{py,cpp}", "mixed/a.java", False),
        ("secret/1?-*", "secret/10-max", True),
        ("a{b", "a{b", True),
        ("*a" * 60 + "b", "a" * 4000, False),
    ],
)
def test_globs_of_submissions_and_tests(glob: str, name: str, covered: bool) -> None:
    assert covers(glob, name) is covered


@pytest.mark.parametrize(
    ("text", "permitted"),
    [
        ("# @EXPECTED_RESULTS@: WRONG-ANSWER", ("AC", "WA")),
        ("# @EXPECTED_RESULTS@: CORRECT, TIMELIMIT", ("AC", "TLE")),
        ("# @EXPECTED_RESULTS@: CHECK-MANUALLY", ALL),
        ("# about @EXPECTED_RESULTS@: marks", ALL),
    ],
)
def test_the_mark_of_domjudge_goes_before_the_folder(
    tmp_path: Path, text: str, permitted: tuple[str, ...]
) -> None:
    ini = {"domjudge-problem.ini": "name='Sum'\ntimelimit = 2.5\n"}
    files = {**KATTIS, **ini, "submissions/accepted/a.py": text}
    del files["problem.yaml"], files[".timelimit"]
    with open_problems(str(write(tmp_path / "sum", files))) as problems:
        problem = problems.get("sum")
        assert (problem.title, problem.time_limit_s) == ("Sum", 2.5)
        assert problem.gold_solutions[0]["expected"][0].permitted == permitted


def test_polygon(tmp_path):
    with open_problems(str(write(tmp_path / "s", POLYGON))) as problems:
        problem = problems.get("s")
        assert (problem.time_limit_s, problem.memory_limit_bytes) == (1.5, 64 << 20)
        assert (problem.files, problem.checker_name) == (("in.txt", "out.txt"), "wcmp")
        assert [(g.name, g.points, g.rule, g.needs) for g in problem.subtasks] == [
            ("1", 10, "all", ()),
            ("2", 20, "sum", ("1",)),
        ]
        (gold,) = problem.gold_solutions
        assert (gold["language"], gold["expected"][0].required) == ("c++11", ALL[1:])


@pytest.mark.slow(seconds=4)
def test_polygon_tests_are_made_in_the_box(tmp_path):
    files = {
        **POLYGON,
        "files/gen.py": "import sys\nprint(int(sys.argv[1]) * 2)",
        "solutions/main.py": "open('out.txt', 'w').write(open('in.txt').read() + '!')",
        "problem.xml": XML.replace('<test points="20"', '<test cmd="gen 21" points="20"')
        .replace("<assets>", '<files><executables><executable><source path="files/gen.py"/>'
                 "</executable></executables></files><assets>")
        .replace("<solutions>", '<solutions><solution tag="main"><source path="solutions/main.py" '
                 'type="python.3"/></solution>'),
    }  # fmt: skip
    del files["tests/02"], files["tests/02.a"]
    with open_problems(str(write(tmp_path / "s", files))) as problems:
        assert contents(problems, "s")[1] == (b"42\n", b"42\n!")


def test_dmoj(tmp_path):
    texts = {name: text for name, text in DMOJ.items() if name[0] in "12"}
    rest = {name: text for name, text in DMOJ.items() if name not in texts}
    folder = write(tmp_path / "s", {**rest, "init.yml": "archive: t.zip\n" + DMOJ["init.yml"]})
    pack(folder / "t.zip", texts)
    with open_problems(str(folder)) as problems:
        problem = problems.get("s")
        assert [(g.name, g.points, g.tests, g.needs) for g in problem.subtasks] == [
            ("1", 40, (0, 1), ()),
            ("2", 60, (2,), ("1",)),
        ]
        assert (problem.time_limit_s, problem.memory_limit_bytes) == (4, 256 << 20)
        assert contents(problems, "s")[1] == (b"2\n", b"2\n")
        assert [one["expected"] for one in problem.gold_solutions] == [
            [Expectation("", ("AC", "TLE"), ("TLE",))],
            [Expectation("1.1", ("AC",)), Expectation("1.2", ("WA",))],
        ]


@pytest.mark.parametrize(
    ("output", "answer", "mode", "same"),
    [
        (b"0.0000001", b"0", "default", True),
        (b"1", b"0", "default", False),  # of no expected value is a share taken
        (b"1000000.5", b"1000000", "default", True),
        (b"1000000.5", b"1000000", "absolute", False),
        (b"0.0000001", b"0", "relative", False),
    ],
)
def test_dmojs_numbers(output, answer, mode, same):
    assert floats(output, answer, error_mode=mode) is same


NAMED = {
    ".cpp": {"": "c++20", "cpp": "c++20", "cpp.gcc14-64-msys2-g++23": "c++23", "CPP03": "c++11",
             "cpp.ms2017": "c++17"},
    ".py": {"PY3": "python", "python.pypy2": "python2", "python.pypy3-64": "pypy3"},
    ".java": {"java11": "java"},
    ".tcl": {"tcl.8": "tcl"},
}  # fmt: skip


@pytest.mark.parametrize("ending", NAMED)
def test_languages_by_ending_and_by_what_packages_call_them(ending):
    assert {said: language_of(ending, said) for said in NAMED[ending]} == NAMED[ending]


def test_lightcpverifier(tmp_path):
    kinds = {"type: x": "checker", "type: interactive, interactor: chk.cc": "interactor"}
    for number, (kind, role) in enumerate(kinds.items()):
        config = LIGHTCP["config.yaml"].replace(
            "{time:", f"{{{kind.replace('x', 'default')}, time:"
        )
        pack(tmp_path / f"{number}A.zip", {**LIGHTCP, "config.yaml": config})
        with open_problems(str(tmp_path)) as problems:
            problem = problems.get(f"{number}A")
            assert (problem.time_limit_s, problem.memory_limit_bytes) == (2, 64 << 20)
            assert (problem.judge_program["role"], problem.judge_program["protocol"]) == (
                *(role, "testlib"),
            )
            assert contents(problems, f"{number}A") == [(b"1\n", b"1\n"), (b"2\n", b"2\n")]


def test_ojbench_has_the_limits_and_the_names_of_its_judge(tmp_path):
    plain = {name: text for name, text in DMOJ.items() if not name.startswith("tests/")}
    write(tmp_path / "NOI/loj-1000", plain)
    write(tmp_path / "prompts", {"full.jsonl": ""})
    with open_problems(str(tmp_path / "NOI")) as problems:
        problem = problems.get("1000")
        assert problem is not None and problem.id == "loj-1000"
        assert (problem.time_limit_s, problem.memory_limit_bytes) == (10, 1 << 30)


def yaml(text: str) -> dict[str, str]:
    return {**KATTIS, "problem.yaml": text}


def xml(old: str, new: str) -> dict[str, str]:
    return {**POLYGON, "problem.xml": XML.replace(old, new)}


BROKEN: Mapping[str, tuple[Any, str, str]] = {
    # name: files, the file that is named, the remedy
    "yaml syntax": (yaml("name: ["), "problem.yaml", "correct it"),
    "alias bomb": (yaml("a: &a [1]\nb: [*a, *a]"), "problem.yaml", "alias"),
    "deep yaml": (yaml("a: " + "[" * 5000), "problem.yaml", "correct it"),
    "long number": (yaml("limits: {memory: " + "9" * 5000 + "}"), "problem.yaml", "correct it"),
    "a list": (yaml("[1]"), "problem.yaml", "must be a mapping"),
    "unknown version": (yaml("problem_format_version: '1.0'"), "problem.yaml", "2025-09 are read"),
    "memory": (yaml("limits: {memory: -1}"), "limits: memory", "give a number from 1"),
    "time limit": ({**KATTIS, ".timelimit": "1e999"}, ".timelimit", "give a number from"),
    "require_pass": (
        {**yaml(SCORING), "data/secret/test_group.yaml": "require_pass: [secret/none]"},
        "subtasks: 'secret' names 'secret/none'", "must be before",
    ),
    "no source": (xml('"std::wcmp.cpp"', '"mine"'), "problem.xml: checker", "name one"),
    "answers": (yaml("type: submit-answer"), "problem.yaml", "not supported"),
    "static": ({**KATTIS, "static_validator/v.py": ""}, "static_validator", "remove it"),
    "no validator": (yaml("validation: custom interactive"), "validator", "put one into"),
    "grader": (
        {**yaml(SCORING), "data/testdata.yaml": "grading: custom"}, "grading", "use grader_flags",
    ),
    "no answer": ({**KATTIS, "data/secret/9.in": ""}, "data/secret/9.in", "add 9.ans"),
    "no tests": ({"problem.yaml": "name: a"}, "data", "data/secret"),
    "glob": (
        {**KATTIS, "submissions/submissions.yaml": "'" + "{a,b}" * 9 + "': {permitted: [AC]}"},
        "submissions.yaml", "200 alternatives at most",
    ),
    "verdict": (
        {**KATTIS, "submissions/submissions.yaml": "accepted: {permitted: [ok]}"},
        "submissions.yaml", "give one of AC",
    ),
    "entities": (xml("<problem ", "<!DOCTYPE a [<!ENTITY b 'c'>]><problem "), "problem.xml",
                 "remove it"),
    "huge xml": (xml("<names>", "<a/>" * 400_000 + "<names>"), "problem.xml", "shorten"),
    "utf-16": ({**POLYGON, "problem.xml": "\ufeff" + "\0".join(XML)}, "problem.xml", "UTF-8"),
    "path": (xml("solutions/r.cpp", "/etc/passwd"), "/etc/passwd", "leads out of the package"),
    "template": (xml('<test points="20"', '<test cmd="&lt;#list 1..5 as i>gen" points="20"'),
                 "test 2", "full package"),
    "pattern": (xml("tests/%02d.a", "../%s"), "answer-path-pattern", "tests/%02d"),
    "answers by Python 2": (
        {**POLYGON,
         "problem.xml": XML.replace("rejected", "main").replace("cpp.g++11", "python.2")},
        "solutions/r.cpp", "unknown language 'python2'",
    ),
    "judge in python": ({**DMOJ, "init.yml": "custom_judge: j.py"}, "init.yml", "not supported"),
    "dependencies": (
        {**DMOJ, "init.yml": DMOJ["init.yml"].replace("[1]", "[7]")}, "'2' names '7'", "be before",
    ),
    "lightcp's type": (
        {**LIGHTCP, "config.yaml": "{type: leetcode}"}, "type is 'leetcode'", "interactive",
    ),
    "lightcp's tests": (
        {**LIGHTCP, "config.yaml": "{subtasks: [{n_cases: 3}]}"}, "testdata/3.in", "add it",
    ),
    "lightcp's limit": (
        {**LIGHTCP, "config.yaml": "{time: 64m, subtasks: [{n_cases: 1}]}"}, "'64m'", "write it",
    ),
    "outside": ({**DMOJ, "init.yml": "test_cases: [{in: ../../tmp, out: 1.out}]"}, "tmp",
                "package: "),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_package_is_one_line_with_file_and_remedy(tmp_path, case):
    files, names, remedy = BROKEN[case]
    files = dict(files)
    if "test 2" in names:
        del files["tests/02"]
    if "Python 2" in case:
        files.pop("tests/02.a", None)
    with open_problems(str(write(tmp_path / "broken", files))) as problems:
        assert problems.get("broken") is None
        message = problems.why_missing("broken")
    assert message.startswith("problem broken is unusable: ")
    assert names in message
    assert remedy in message
    assert "\n" not in message and len(message) < 500


def link_out(folder: Path) -> None:
    (folder / "data/secret/2.in").unlink()
    (folder / "data/secret/2.in").symlink_to("/etc/passwd")


def marker(folder: Path) -> None:
    (folder / "problem.yaml").unlink()
    (folder / "problem.yaml").mkdir()


def loop(folder: Path) -> None:
    (folder / "data/secret/x").symlink_to("x")


def pipe(folder: Path) -> None:
    (folder / "data/secret/2.in").unlink()
    os.mkfifo(folder / "data/secret/2.in")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (link_out, "2.in leads out of"),
        (loop, "can't be read"),
        (pipe, "not a regular file"),
        (marker, "problem.yaml can't be read (Is a directory): mend it"),
    ],
)
def test_files_that_are_none_are_refused(tmp_path, spoil, message):
    folder = write(tmp_path / "sum", KATTIS)
    spoil(folder)
    with open_problems(str(folder)) as problems:
        assert problems.get("sum") is None
        assert message in problems.why_missing("sum")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("/".join("abcdefghijklmnopqrst"), "deeper than 16: pack it again"),
        ("data/secret/2.in/below-a-file", "is a damaged zip"),
        ("n" * 300, "is a damaged zip"),
    ],
)
def test_a_hostile_zip_is_refused(tmp_path, entry, message):
    path = pack(tmp_path / "sum.zip", {**KATTIS, entry: "x"})
    with open_problems(str(path)) as problems:
        assert problems.get("sum") is None
        assert message in problems.why_missing("sum")


def test_a_zip_writes_no_links_and_nothing_outside(tmp_path):
    link = zipfile.ZipInfo("data/secret/3.in")
    link.external_attr = 0o120777 << 16
    outside = {f"../../../../{tmp_path}/out": "x", f"{tmp_path}/out": "x"}
    path = pack(tmp_path / "sum.zip", {**KATTIS, **outside, "data/secret/3.ans": "3"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    with open_problems(str(path)) as problems:
        assert contents(problems, "sum")[-1] == (b"/etc/passwd", b"3")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("MOST_BYTES", "unpacks to more than 1000 bytes"),
        ("MOST_READ", "over 1000 bytes are programs"),
    ],
)
def test_a_bomb_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, message: str
) -> None:
    monkeypatch.setattr(f"gradebox.eval.problems.packages.files.{limit}", 1000)
    many = {f"submissions/accepted/{i}.py": "0" * 500 for i in range(4)}
    path = pack(tmp_path / "sum.zip", {**KATTIS, **many})
    with open_problems(str(path)) as problems:
        assert problems.get("sum") is None
        assert message in problems.why_missing("sum")


def test_the_class_with_a_main_is_started(tmp_path):
    main = "class Z { public static void main(String[] a) {} }"
    two = "submissions/accepted/two"
    java = {f"{two}/A.java": "class A {}", f"{two}/Z.java": main}
    with open_problems(str(write(tmp_path / "sum", {**KATTIS, **java}))) as problems:
        known = problems.get("sum").gold_solutions
        (found,) = [one for one in known if one["name"] == "accepted/two"]
    assert list(found["files"]) == ["Z.java", "A.java"]


def test_what_is_no_package_is_named(tmp_path):
    pack(tmp_path / "a.zip", {"a.txt": ""})
    with pytest.raises(InputError, match="has no problem package: there is no"):
        open_problems(str(tmp_path / "a.zip"))
