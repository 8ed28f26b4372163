"""Made rows of MultiPL-E, right and wrong answers in its languages."""

from typing import Any


def row(language: str, prompt: str, tests: str, stop: list[str]) -> dict[str, Any]:
    return {
        "name": "HumanEval_900_twice",
        "language": language,
        "prompt": prompt,
        "doctests": "transform",
        "original": "HumanEval_900_twice.py",
        "prompt_terminology": "reworded",
        "tests": tests,
        "stop_tokens": stop,
    }


ROWS = {
    "cpp": row(
        "cpp",
        "#include<assert.h>\n#include<bits/stdc++.h>\n// Double each.\n"
        "std::vector<long> twice(std::vector<long> xs, long n) {\n",
        "}\nint main() {\n    auto candidate = twice;\n"
        "    assert(candidate((std::vector<long>({(long)1, (long)2})), (2)) == "
        "(std::vector<long>({(long)2, (long)4})));\n"
        "    assert(candidate((std::vector<long>({(long)1})), (3)) == "
        "(std::vector<long>({(long)3})));\n}\n",
        ["\n}"],
    ),
    "java": row(
        "java",
        "import java.util.*;\nimport org.javatuples.*;\nclass Problem {\n    // Both.\n"
        "    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) {\n",
        "    }\n    public static void main(String[] args) {\n"
        "    assert(twice((new ArrayList<Long>(Arrays.asList((long)1l))), (2l)).equals("
        "(Pair.with(2l, (new ArrayList<Long>(Arrays.asList((long)2l)))))));\n"
        "    assert(twice((new ArrayList<Long>(Arrays.asList())), (3l)).equals("
        "(Pair.with(3l, (new ArrayList<Long>(Arrays.asList()))))));\n    }\n\n}\n",
        ["\n    }\n"],
    ),
    "js": row(
        "js",
        "//Double each.\nfunction twice(xs, n){\n",
        "const assert = require('node:assert');\n\n\nfunction test() {\n"
        "  let candidate = twice;\n  assert.deepEqual(candidate([1, 2], 2),[2, 4]);\n"
        "  assert.deepEqual(candidate([1], 3),[3]);\n}\n\ntest();",
        ["\nfunction ", "\n/*", "\n//", "\nconsole.log"],
    ),
    "rs": row(
        "rs",
        "use std::collections::HashMap;\n\n/// Double each.\n"
        "fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> {\n",
        "}\n\nfn main() {\n    let candidate = twice;\n"
        "    assert_eq!(candidate(vec![1, 2], 2), HashMap::from([(1, 2), (2, 4)]));\n"
        "    assert_eq!(candidate(Vec::<isize>::new(), 3), HashMap::from([]));\n}\n",
        ["\n}"],
    ),
    "go": row(
        "go_test.go",
        'package twice_test\n\nimport (\n    "testing"\n    "fmt"\n)\n\n// Double each.\n'
        "func twice(xs []int, n int) []int {\n",
        "func TestTwice(t *testing.T) {\n  candidate := twice\n\ttype test struct {\n"
        "\t\tactual   interface{}\n\t\texpected interface{}\n\t}\n   tests := []test{\n"
        "     { actual: candidate([]int{1, 2}, 2), expected: []int{2, 4} },\n"
        "     { actual: candidate([]int{1}, 3), expected: []int{3} },\n   }\n\n"
        '\tfor i, tc := range tests {\n\t\tt.Run(fmt.Sprintf("test num % d", i), '
        "func(t *testing.T) {\n"
        '\t\t\tif fmt.Sprintf("%v", tc.actual) != fmt.Sprintf("%v", tc.expected) {\n'
        "\t\t\t\tt.Errorf(\"expected '%s', got '%s'\", tc.expected, tc.actual)\n\t\t\t}\n"
        "\t\t})\n\t}\n}\n",
        ["\nfunc", "struct", "\n// "],
    ),
}
_CPP = "#include <bits/stdc++.h>\nusing namespace std;\n"
_JAVA = "import java.util.*;\nimport org.javatuples.*;\nclass Problem {\n"
_JAVA_TWICE = "public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n)"
_GO = 'package twice_test\nimport "testing"\nimport ("fmt"; "os")\nvar _ = os.Args\n'
_GO_TWICE = "func twice(xs []int, n int) []int {"

RIGHT = {
    "cpp": {
        "body": "    for (auto &x : xs) x *= n;\n    return xs;\n}\nint main() { broken",
        "whole": _CPP + "vector<long> twice(const vector<long> &xs, long n) {\n"
        "    vector<long> out;\n    for (long x : xs) out.push_back(x * n);\n    return out;\n}\n"
        "int main() {\n    assert(false);\n    return 1;\n}\n",
    },
    "java": {
        "body": "        ArrayList<Long> out = new ArrayList<>();\n"
        "        for (long x : xs) out.add(x * n);\n        return Pair.with(n, out);\n    }\n}",
        "whole": _JAVA + _JAVA_TWICE + " {\n    ArrayList<Long> out = new ArrayList<>();\n"
        "    for (long x : xs) out.add(x * n);\n    return new Pair<>(n, out);\n}\n"
        "public static void main(String[] args) { throw new Error(); }\n}\n",
    },
    "js": {
        "body": "  return xs.map(x => x * n);\n}\nconsole.log(twice(",
        "whole": "const twice = (xs, n) => { console.log('x'); return xs.map(x => x * n); };\n",
    },
    "rs": {
        "body": "    xs.iter().map(|x| (*x, x * n)).collect()\n}\nfn broken",
        "whole": "#![allow(dead_code)]\nuse std::collections::{HashMap, HashSet};\n"
        "fn twice(mut xs: Vec<isize>, n: isize) -> HashMap<isize, isize> {\n"
        "    xs.sort();\n    xs.iter().map(|x| (*x, x * n)).collect()\n}\n"
        "fn main() { panic!() }\n",
    },
    "go": {
        "body": "    for i := range xs { xs[i] *= n }\n    return xs\n}\nfunc broken",
        "whole": _GO + _GO_TWICE + "\n    for i := range xs { xs[i] *= n }\n    return xs\n}\n"
        "func TestOwn(t *testing.T) { t.Fatal(fmt.Sprint(1)) }\n",
    },
}
WRONG = {
    "cpp": "    return xs;\n",
    "java": "        return Pair.with(n, xs);\n",
    "js": "  return xs;\n}",
    "rs": "    HashMap::new()\n",
    "go": "    return xs\n}",
}
# All of the library takes g++ two seconds a source, and no cheat needs it.
_LEAN = "#include <iostream>\n#include <vector>\n#include <cstring>\n#include <unistd.h>\n"
CHEATED = {
    **ROWS,
    "cpp": {
        **ROWS["cpp"],
        "prompt": ROWS["cpp"]["prompt"].replace("#include<bits/stdc++.h>\n", _LEAN),
    },
}
