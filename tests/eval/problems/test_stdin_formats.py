"""Rows of APPS, TACO, CodeContests, DeepCoder, PrimeIntellect, NeMo Gym and SandboxFusion."""

import json
import re
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.problems import open_problems
from gradebox.eval.problems.formats import Recognised
from gradebox.eval.problems.formats.pairs import decoded
from gradebox.eval.problems.in_memory import parse_problem

STDIN = {"inputs": ["1 2\n", ["3", "4"]], "outputs": ["3\n", ["7"]]}
CALLS = {"inputs": [[1, [2]], [{"1": 5}]], "outputs": [[3], {"2": 6}], "fn_name": "add"}
ADDED = [(b"1 2\n", b"3\n"), (b"3\n4", b"7")]
CALLED = [(b"[1, [2]]", b"[3]"), (b'{"args": [{"1": 5}]}', b'{"2": 6}')]


def apps(tests: Any, **changes: Any) -> dict[str, Any]:
    given = tests if isinstance(tests, str) else json.dumps(tests)
    return {"problem_id": 7, "question": "q", "difficulty": "Interview", "input_output": given} | (
        changes
    )


def taco(tests: Any, **changes: Any) -> dict[str, Any]:
    row = {"question": "q", "input_output": json.dumps(tests), "skill_types": "[]"}
    return {**row, "tags": "['Sorting', 1]", "difficulty": "EASY", **changes}


def contests(**changes: Any) -> dict[str, Any]:
    row = {
        "name": "76_B. Mice",
        "source": 2,
        "public_tests": {"input": ["1 2\n"], "output": ["3\n"]},
        "private_tests": {"input": [], "output": []},
        "generated_tests": [{"input": "3\n4", "output": "7"}],
        "solutions": {"language": [1, 3, 3, 3, 4], "solution": ["p2", "a", "b", "c", "j"]},
        "incorrect_solutions": {"language": [2, 0], "solution": ["w", "x"]},
        "time_limit": {"seconds": 1, "nanos": 500_000_000},
        "memory_limit_bytes": 64 << 20,
        "input_file": "",
        "output_file": "",
    }
    return {**row, **changes}


def deepcoder(tests: Any) -> dict[str, Any]:
    return {"problem": "q", "tests": json.dumps(tests)}


def prime(tests: Any, **changes: Any) -> dict[str, Any]:
    info = {"language": "python", "test_cases": tests}
    row = {"problem_id": "v_1", "prompt": "q", "verification_info": json.dumps(info)}
    return {**row, "metadata": '{"difficulty": "EASY"}', **changes}


def nemo(tests: Any) -> dict[str, Any]:
    return {"responses_create_params": {}, "verifier_metadata": {"unit_tests": tests}}


def fusion(tests: Any) -> dict[str, Any]:
    return {"id": 3, "content": "q", "labels": '{"name": "x"}', "test": json.dumps(tests)}


PLAIN = [{"input": "1 2\n", "output": "3\n"}, {"input": "3\n4", "output": "7"}]
TYPED = [{**test, "type": "stdin_stdout", "fn_name": None} for test in PLAIN]
CALLING = [
    {"type": "function_call", "fn_name": "add", "input": given, "output": expected}
    for given, expected in (("[1, [2]]", "[3]"), ('"[1, (2,)]"', '"[3]"'))
]
FUNCTIONAL = [
    {"input": '[1]\n"2"', "output": '"3"', "testtype": "functional", "metadata": {"func_name": "f"}}
]


@pytest.mark.parametrize(
    ("row", "name", "kind", "tests", "judges"),
    [
        (apps(STDIN), "apps", "stdin", ADDED, (None, "apps-reference")),
        (apps(CALLS), "apps", "call", CALLED, ("wrapped", "wrapped-reference")),
        (
            apps({"inputs": ["[1, [2]]"], "outputs": ["[3]"], "fn_name": "add"}),
            *("apps", "call", CALLED[:1], ("wrapped", "wrapped-reference")),
        ),
        (apps(""), "apps", "stdin", [], (None, "apps-reference")),
        (taco(STDIN), "taco", "stdin", ADDED, (None, "apps-reference")),
        (taco(CALLS, id="t1"), "taco", "call", CALLED, ("wrapped", "wrapped-reference")),
        (contests(), "code-contests", "stdin", ADDED, (None, "tokens-reference")),
        (deepcoder(STDIN), "deepcoder", "stdin", ADDED, (None, "apps-reference")),
        (deepcoder(PLAIN), "deepcoder", "stdin", ADDED, (None, "apps-reference")),
        (deepcoder(TYPED), "deepcoder", "stdin", ADDED, (None, "apps-reference")),
        (
            deepcoder(FUNCTIONAL),
            "deepcoder",
            "call",
            [(b'[[1], "2"]', b'"3"')],
            ("value", "value-reference"),
        ),
        (prime(TYPED), "prime", "stdin", ADDED, (None, "plain-reference")),
        (
            prime(CALLING),
            "prime",
            "call",
            [(b"[1, [2]]", b"[3]")] * 2,
            ("wrapped", "printed-reference"),
        ),
        (nemo(STDIN), "nemo-gym", "stdin", ADDED, (None, "lines-reference")),
        (
            nemo({"inputs": ["[1]\n2", "[]\n0"], "outputs": ['"a"', "0"], "fn_name": "f"}),
            "nemo-gym",
            "call",
            [(b"[[1], 2]", b'"a"'), (b"[[], 0]", b"0")],
            ("value", "value-reference"),
        ),
        (
            fusion([{"input": {"stdin": "1 2\n"}, "output": {"stdout": "3\n"}}]),
            "sandboxfusion",
            "stdin",
            ADDED[:1],
            (None, "fusion-reference"),
        ),
    ],
)
def test_a_row_becomes_a_problem(row, name, kind, tests, judges):
    assert Recognised([row]).one(None, "x").name == name
    strict, reference = parse_problem(row), parse_problem(row, "reference")
    assert (strict.test_kind, strict.origin["dataset_format"]) == (kind, name)
    assert list(strict.tests) == tests
    assert (strict.checker_name, reference.checker_name) == judges


def test_structs_and_columns_of_structs_are_read(tmp_path):
    info = {"test_cases": {"input": ["1 2\n"], "output": ["3\n"], "type": ["stdin_stdout"]}}
    assert list(parse_problem(prime([], verification_info=info)).tests) == ADDED[:1]
    pq.write_table(pa.Table.from_pylist([contests(generated_tests=None)]), tmp_path / "p.parquet")
    problems = open_problems(str(tmp_path / "p.parquet"))
    found = problems.get("76/B")
    assert (found.id, found.time_limit_s, found.memory_limit_bytes) == ("76_B. Mice", 1.5, 64 << 20)
    assert problems.official_sizes("76_B") == [4]


def test_rows_of_pandas_are_read_as_rows_of_lists():
    rows = [contests(), contests(name="b", memory_limit_bytes=None, time_limit=None)]
    frame = pa.Table.from_pylist(rows).to_pandas()
    assert list(map(parse_problem, frame.to_dict("records"))) == list(map(parse_problem, rows))


def test_known_solutions_have_their_language_and_verdict():
    assert [tuple(known.values()) for known in parse_problem(contests()).gold_solutions] == [
        ("a", "python", "passed"),
        ("b", "python", "passed"),
        ("j", "java", "passed"),
        ("w", "c++17", "failed"),
    ]


def test_limits_are_the_rows_or_the_graders():
    row = taco(STDIN, time_limit="1.0 - 2.5 seconds", memory_limit="64.0 megabytes")
    found = [parse_problem(row, judge) for judge in ("strict", "reference")]
    assert [(p.time_limit_s, p.memory_limit_bytes >> 20) for p in found] == [(2.5, 64), (4, 1024)]
    assert found[0].tags == ("Sorting",)
    assert parse_problem(contests(), "reference").time_limit_s == 10


def test_deepcoder_takes_the_longest_inputs_as_its_grader_does():
    tests = [{"input": "1" * size, "output": "x"} for size in range(20)]
    row = deepcoder(tests)
    assert len(parse_problem(row).tests) == 20
    sizes = [len(given) for given, _ in parse_problem(row, "reference").tests]
    assert sizes == list(range(19, 4, -1))


def test_deepcoders_asserts_become_an_assert_test():
    text = "def check(candidate):\n    assert candidate(1) == 2\n\ncheck(Solution().next)\n"
    problem = parse_problem(deepcoder({"functional": text}))
    assert (problem.test_kind, problem.entry_point) == ("assert", "Solution().next")
    assert problem.tests[0][0].decode() == text.partition("\ncheck(")[0] + "\n"
    assert parse_problem(deepcoder({"functional": ""})).tests == ()


def test_rows_without_ids_are_named_by_their_number(tmp_path):
    rows = [deepcoder(STDIN), deepcoder(PLAIN)]
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join([json.dumps(rows[0]), "{", "", json.dumps(rows[1])]))
    problems = open_problems(str(path))
    assert problems.ids() == ["0", "3"]
    assert problems.get("3").id == "3"
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "p.parquet")
    problems = open_problems(str(tmp_path / "p.parquet"))
    assert [problems.get(name).id for name in problems.ids()] == ["0", "1"]
    assert parse_problem(rows[0]).id.startswith("problem-")


BAD = [
    (apps('{"inputs": ["1'), "input_output is not JSON"),
    (apps({"inputs": ["1"], "outputs": []}), "1 inputs, 0 outputs"),
    (apps({"inputs": ["1"] * 5001, "outputs": ["1"] * 5001}), "has 5001 tests: a row may have"),
    (deepcoder(PLAIN[:1] * 5001), "has 5001 tests: a row may have"),
    (apps({"inputs": ["1"], "outputs": [None]}), "test 0: output is None"),
    (apps({"inputs": [[1, 2]], "outputs": [[3]], "func": "f"}), "must be text or a list of lines"),
    (apps({"inputs": ["x"], "outputs": ["1"], "fn_name": "f"}), "and a function is called"),
    (apps({"inputs": ["1"], "outputs": ["1"], "fn_name": "f"}), "the text '1', and a function"),
    (apps({"inputs": [], "outputs": [], "fn_name": "f()"}), "must be a name"),
    (contests(time_limit=5), "time_limit is 5: Expected `object`"),
    (contests(input_file="mice.in"), "reads and writes"),
    (deepcoder([PLAIN[0], CALLING[0]]), "tests of several kinds: the program, add"),
    (deepcoder({"functional": "assert f(1)"}), "does not end in check"),
    (deepcoder([{"input": "1", "output": "1", "type": "function_call"}]), "names none"),
    (prime([], verification_info='{"test_cases"'), "must be an object"),
    (nemo({"inputs": 5, "outputs": []}), "no lists inputs and outputs"),
    (fusion([{"input": "1"}]), "Expected `object`, got `str` - at `$[0].input`"),
]


@pytest.mark.parametrize(("row", "why"), BAD, ids=[why for _, why in BAD])
def test_a_bad_row_says_why_in_one_line(row, why):
    with pytest.raises(InputError, match=re.escape(why)) as raised:
        parse_problem(row)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("entry", ["{0}", "{0}: 1", "({0},)"], ids=["set", "dict", "tuples"])
def test_numbers_with_one_hash_in_python_text_are_not_read(entry):
    """As a set, 45,000 of them took 20 s."""
    numbers = [(2**61 - 1) * i for i in range(1, 44_000)]
    text = "{" + ", ".join(entry.format(n) for n in numbers) + "}"
    assert decoded(text) == text
    few = numbers[:10_000]
    assert len(decoded("{" + ", ".join(f"'{n}': {n}" for n in few) + "}")) == len(few)


@pytest.mark.parametrize("text", ["\x00" * (1 << 20), "[" * (1 << 20), "-" * 50_000 + "1"])
def test_python_text_that_cannot_be_read_stays_a_text(text):
    assert decoded(text) == text


def test_long_python_text_is_read_as_short_text_is():
    text = "{'a': (1, None, 0.5, \"x\"), 2: [True]}"
    value = decoded(text)
    assert value == {"a": [1, None, 0.5, "x"], "2": [True]}
    assert decoded(f"[{', '.join([text] * 1000)}]") == [value] * 1000
    assert decoded(repr(f"[{', '.join([text] * 1000)}]")) == [value] * 1000
