"""Rows of MultiPL-E whose results have values of every type, and programs that return them.

The programs of a row are right, but for the last, which is almost.
"""

_TEXT = r'"x\"\\\n' + "'é\""
_CPP = """#include<assert.h>
#include<bits/stdc++.h>
"""
_UNION = """union Union_std_string_long{
    std::string f0;
    long f1;    Union_std_string_long(std::string _f0) : f0(_f0) {}
    Union_std_string_long(long _f1) : f1(_f1) {}
    ~Union_std_string_long() {}
    bool operator==(std::string f) {
        return f0 == f ;
    }    bool operator==(long f) {
        return f1 == f ;
    }
};
"""
_JAVA = """import java.util.*;
import org.javatuples.*;
class Problem {
    public static Quintet<HashMap<String,List<Long>>, Optional<Long>, Float, String, Boolean>"""
_GO = """package twice_test

import (
    "testing"
    "fmt"
)

func twice(n int) []interface{} {
"""
_GO_END = """   }

	for i, tc := range tests {
		t.Run(fmt.Sprintf("test num % d", i), func(t *testing.T) {
			if fmt.Sprintf("%v", tc.actual) != fmt.Sprintf("%v", tc.expected) {
				t.Errorf("expected '%s', got '%s'", tc.expected, tc.actual)
			}
		})
	}
}
"""

# name ─▶ prompt, tests, programs
RESULTS = {
    "cpp": (
        _CPP + "std::tuple<std::map<std::string,std::vector<long>>, std::optional<long>, "
        "std::vector<float>, std::string, bool> twice(long n) {\n",
        "}\nint main() {\n    auto candidate = twice;\n"
        "    assert(candidate((1)) == (std::make_tuple("
        'std::map<std::string,std::vector<long>>({{"a", std::vector<long>({(long)1})}}), '
        "std::optional<long>(std::nullopt), std::vector<float>({(float)0.1f, (float)-2.0f}), "
        + _TEXT
        + ", true)));\n}\n",
        [
            '    return {{{"a", {n}}}, {}, {0.1f, -2}, TEXT, 1};\n',
            '    return {{{"a", {n}}}, {}, {0.10000001f, -2}, TEXT, true};\n',
        ],
    ),
    "cpp union": (
        f"{_CPP}{_UNION}Union_std_string_long twice(long n) {{\n",
        "}\nint main() {\n    auto candidate = twice;\n"
        '    assert(candidate((1)) == "a");\n    assert(candidate((2)) == -1);\n}\n',
        [
            "using namespace std;\nUnion_std_string_long twice(long n) {\n"
            '    if (n == 1) return string("a");\n    return -1l;\n}\n',
            '    if (n == 1) return std::string("a");\n    return 1l;\n',
        ],
    ),
    "java": (
        f"{_JAVA} twice(long n) {{\n",
        "    }\n    public static void main(String[] args) {\n    assert(twice((1l)).equals("
        '(Quintet.with(new HashMap<String,List<Long>>(Map.of("a", new ArrayList<Long>('
        f"Arrays.asList((long)1l)))), Optional.empty(), (float)0.1f, {_TEXT}, true))));\n"
        "    }\n\n}\n",
        [
            '        return Quintet.with(new HashMap<>(Map.of("a", Arrays.asList(n))), '
            "Optional.empty(), 0.1f, TEXT, true);\n",
            '        return Quintet.with(new HashMap<>(Map.of("a", List.of(n))), '
            "Optional.ofNullable(null), (float) 0.1, TEXT, n == 1);\n",
            '        return Quintet.with(new HashMap<>(Map.of("a", Arrays.asList(n))), '
            "Optional.empty(), 0.1000001f, TEXT, true);\n",
        ],
    ),
    "js": (
        "function twice(n){\n",
        "const assert = require('node:assert');\n\n\nfunction test() {\n"
        "  let candidate = twice;\n  assert.deepEqual(candidate(1),"
        '[{"b": [], "a": [1]}, undefined, 0.1, ' + _TEXT + ", true]);\n}\n\ntest();",
        [
            "  return [{a: [n], b: []}, null, 0.1, TEXT, true];\n}",
            '  return [{a: ["1"], b: []}, undefined, " 0.1", TEXT, 1n];\n}',
            "  return [{a: [n], b: {}}, null, 0.1, TEXT, true];\n}",
        ],
    ),
    "rs": (
        "use std::collections::HashMap;\n\nfn twice(n: isize) -> "
        "(HashMap<String, Vec<isize>>, Option<isize>, Vec<f64>, String, bool) {\n",
        "}\n\nfn main() {\n    let candidate = twice;\n    assert_eq!(candidate(1), "
        '(HashMap::from([(String::from("b"), vec![]), (String::from("a"), vec![1])]), None, '
        f"vec![0.1, -2.0], String::from({_TEXT}), true));\n}}\n",
        [
            '    (HashMap::from([("a".into(), vec![n]), ("b".into(), vec![])]), None, '
            "vec![0.1, -2.0], TEXT.into(), true)\n",
            '    (HashMap::from([("b".into(), vec![]), ("a".into(), vec![1])]), '
            "Some(0).filter(|_| n == 2), vec![0.1, -2.0], TEXT.into(), n == 1)\n",
            '    (HashMap::from([("a".into(), vec![n]), ("b".into(), vec![])]), Some(0), '
            "vec![0.1, -2.0], TEXT.into(), true)\n",
        ],
    ),
    "go": (
        _GO,
        "func TestTwice(t *testing.T) {\n  candidate := twice\n\ttype test struct {\n"
        "\t\tactual   interface{}\n\t\texpected interface{}\n\t}\n   tests := []test{\n"
        '     { actual: candidate(1), expected: []interface{}{map[string][]int{"a": []int{1}}, '
        "[]int{}, nil, 0.1, " + _TEXT + ", true} },\n" + _GO_END,
        [
            '    return []interface{}{map[string][]int{"a": {n}}, []int{}, nil, 0.1, '
            "TEXT, true}\n}",
            '    var no []int\n    return []interface{}{map[string][]int{"a": {n}}, no, nil, '
            "0.1, TEXT, n == 1}\n}",
            '    return []interface{}{map[string][]int{"a": {n}}, []int{}, nil, 0.1, TEXT, 1}\n}',
        ],
    ),
}
RESULTS = {
    name: (prompt, tests, [program.replace("TEXT", _TEXT) for program in programs])
    for name, (prompt, tests, programs) in RESULTS.items()
}
