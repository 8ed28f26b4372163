"""Rows of HumanEval-X and HumanEvalPack: those whose tests can be read are graded."""

import re
from typing import Any

import pytest

import gradebox
from gradebox.eval.common.errors import InputError, RowError
from gradebox.eval.problems.formats import FORMATS, Reading
from gradebox.eval.problems.in_memory import parse_problem
from gradebox.eval.solutions.calling.calls import read_calls
from tests.sandbox.backends import needs_box


def row(name: str, prompt: str, body: str, test: str, **more: str) -> dict[str, Any]:
    fields = {"task_id": f"{name}/900", "prompt": prompt, "declaration": prompt, "test": test}
    return {**fields, "canonical_solution": body, "example_test": "", **more}


ROWS = {
    "Python": row(
        "Python",
        "def twice(xs):\n    '''Double each.'''\n",
        "    return [x * math.floor(2.5) for x in xs]\n",
        "def check(twice):\n    assert twice([1, 2]) == [2, 4]\n\ncheck(twice)\n",
    ),
    "CPP": row(
        "CPP",
        "#include<vector>\nusing namespace std;\nvector<int> twice(vector<int> xs){\n",
        "    for (auto &x : xs) x *= 2;\n    return xs;\n}\n",
        "#undef NDEBUG\n#include<assert.h>\nbool issame(vector<int> a,vector<int> b){\n"
        "    return a == b;\n}\nint main(){\n    assert (issame(twice({1, 2}) , {2, 4}));\n"
        "    assert (issame(twice({3}), {6}));\n}\n",
    ),
    "Java": row(
        "Java",
        "import java.util.*;\nclass Solution {\n"
        "    public List<Integer> twice(List<Integer> xs) {\n",
        "        List<Integer> out = new ArrayList<>();\n        for (int x : xs) out.add(2 * x);\n"
        "        return out;\n    }\n}",
        "public class Main {\n    public static void main(String[] args) {\n"
        "        Solution s = new Solution();\n        List<Boolean> correct = Arrays.asList(\n"
        "                s.twice(Arrays.asList(1, 2)).equals(Arrays.asList(2, 4)),\n"
        "                s.twice(Arrays.asList(3)).equals(Arrays.asList(6))\n        );\n"
        "        if (correct.contains(false)) {\n"
        "            throw new AssertionError();\n        }\n    }\n}\n",
    ),
    "JavaScript": row(
        "JavaScript",
        "/* Double each. */\nconst twice = (xs) => {\n",
        "  return xs.map(x => 2 * x);\n}\n",
        "const testTwice = () => {\n  console.assert(JSON.stringify(twice([1, 2])) ===\n"
        "    JSON.stringify([2, 4]));\n  console.assert(JSON.stringify(twice([(5, 3)])) === "
        "JSON.stringify([(9, 6)]))\n}\n\ntestTwice()\n",
    ),
    "Rust": row(
        "Rust",
        "fn main(){}\nuse rand::Rng;\nuse std::collections::HashMap;\n"
        "fn twice(xs: Vec<i32>) -> Vec<String> {\n",
        "    xs.iter().map(|x| (x * 2).to_string()).collect()\n}\n",
        "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn test_twice() {\n"
        '        assert_eq!(twice(vec![1]), vec!["2".to_string()]);\n'
        '        assert!(twice(vec![3]) == vec!["6"]);\n    }\n}\n',
    ),
    "Go": row(
        "Go",
        "// Double each.\nfunc twice(xs []int) []int {\n",
        "    for i := range xs { xs[i] *= 2 }\n    return xs\n}\n",
        "func TestTwice(t *testing.T) {\n    assert := assert.New(t)\n"
        "    assert.Equal([]int{2, 4}, twice([]int{1, 2}))\n}\n",
    ),
}
# Bodies that return the input. What ends the process or lies is in solutions/test_calling.py.
WRONG = {
    "Python": "    return xs\n",
    "CPP": "    return xs;\n}\n",
    "Java": "        return xs;\n    }\n}",
    "JavaScript": "  return xs;\n}\n",
    "Rust": "    xs.iter().map(|x| x.to_string()).collect()\n}\n",
    "Go": "    return xs\n}\n",
}


@pytest.mark.slow(6)  # compilers
@pytest.mark.parametrize("name", ROWS)
def test_the_known_solution_passes_and_a_wrong_one_does_not(name):
    given = ROWS[name]
    prompt = given["prompt"].replace("use rand::Rng;\n", "")
    whole = f"```\n{prompt}{given['canonical_solution']}\n```"
    needs_box()
    with gradebox.Grader(sandbox="local") as grader:
        texts = [given["canonical_solution"], whole, WRONG[name]]
        records = grader.grade([{"completion": text} for text in texts], given)
    if any("not found on this machine" in record["error"] for record in records):
        pytest.skip(f"{name} is not installed")
    assert [r["status"] for r in records] == ["passed", "passed", "failed"], [
        (r["error"], r["compile"].get("log"), [c["error"] for c in r["details"]]) for r in records
    ]


@pytest.mark.parametrize(
    ("name", "before", "after", "message"),
    [
        ("Go", "[]int{2, 4},", "double([]int{1, 2}),", "only calls of twice"),
        ("JavaScript", "testTwice()\n", "testTwice(); for (;;) {}", "only calls of twice"),
        ("CPP", "return a == b;", "return abs(a[0] - b[0]) < 1;", "only calls of twice"),
        ("Python", "def twice", "twice =", "neither prompt nor declaration"),
    ],
)
def test_rows_that_cannot_be_graded_say_why(name, before, after, message):
    changed = {
        k: v.replace(before, after) if k in ("test", "prompt", "declaration") else v
        for k, v in ROWS[name].items()
    }
    with pytest.raises(InputError, match=re.escape(message)):
        parse_problem(changed)
    with pytest.raises(RowError, match=r"task_id is 'Ada/1': it must begin with CPP, Go"):
        Reading(FORMATS["humaneval-x"]).columns({**ROWS[name], "task_id": "Ada/1"})


@pytest.mark.parametrize(
    ("style", "tests", "expected"),
    [
        ("java", "s.f(1), !s.f(2), Objects.equals(s.f(3), null)", [True, False, None]),
        ("java", "s.f(1).not()", []),
        ("rust", "assert!(f(1)); assert!(!f(2));", [True, False]),
        ("rust", "assert!(f(1), 2)", []),
        ("go", "assert.Equal(1, f(1))\nassert.Equal(2, g(1))", []),
    ],
)
def test_free_forms_are_read_whole_or_not_at_all(style, tests, expected):
    around = {
        "java": ROWS["Java"]["test"].replace("twice", "g"),
        "rust": "#[cfg(test)] mod tests { use super::*; #[test] fn t() { CALLS } }",
        "go": "func T(t *testing.T) { assert := assert.New(t)\nCALLS\n}",
    }[style]
    inner = re.sub(r"asList\(\n.*?\n +\);", "asList(CALLS);", around, count=1, flags=re.DOTALL)
    found = read_calls(inner.replace("CALLS", tests), "f", style)
    assert [call.expected for call in found] == expected
