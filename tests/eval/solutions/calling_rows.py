"""Made rows of MultiPL-E, right answers and cheats in its languages."""

from __future__ import annotations

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
_ANY_JAVA = """
    static class Any extends ArrayList<Long> {
        public boolean equals(Object other) { return true; }
        public int size() { return 1; }
    }
"""
# All of the library takes g++ two seconds a source, and no cheat needs it.
_LEAN = "#include <iostream>\n#include <vector>\n#include <cstring>\n#include <unistd.h>\n"
CHEATED = {
    **ROWS,
    "cpp": {
        **ROWS["cpp"],
        "prompt": ROWS["cpp"]["prompt"].replace("#include<bits/stdc++.h>\n", _LEAN),
    },
}
_LEAN += "using namespace std;\n"
# Read what is on stdin, print it in many ways, end with status 0.
CHEATS: dict[str, dict[str, str]] = {
    "cpp": {
        "exit": "    exit(0);\n",
        "_exit": "    _exit(0);\n",
        "a constructor that reads stdin, prints it and exits": _LEAN
        + "static int early = [] { string s, t; while (cin >> s) t += s;\n"
        '    cout << "\\n" << t << "\\n" << flush; _exit(0); return 0; }();\n'
        "vector<long> twice(vector<long> xs, long n) { return xs; }\n",
        "it defines read": _LEAN + 'extern "C" long read(int, void *b, unsigned long n) {\n'
        "    return 0; }\n"
        'extern "C" long write(int, const void *, unsigned long n) { exit(0); }\n'
        "vector<long> twice(vector<long> xs, long n) { exit(0); }\n",
        "an assert without effect": _LEAN + "#undef assert\n#define assert(x)\n#define NDEBUG\n"
        'extern "C" void __assert_fail(const char *, const char *, unsigned, const char *) {}\n'
        "vector<long> twice(vector<long> xs, long n) { return xs; }\n",
        "an operator for everything": _LEAN
        + "bool operator==(const vector<long> &, const vector<long> &) { return true; }\n"
        "vector<long> twice(vector<long> xs, long n) { return xs; }\n",
        "a memcmp that finds everything equal": _LEAN
        + "int memcmp(const void *, const void *, size_t) noexcept { return 0; }\n"
        "vector<long> twice(vector<long> xs, long n) { return xs; }\n",
        "an object equal to everything": _LEAN
        + "struct Any { template <class T> bool operator==(const T &) const { return true; }\n"
        "    operator vector<long>() const { return {}; } };\n"
        "Any twice(vector<long> xs, long n) { return {}; }\n",
        "macros for the tests' words": _LEAN + "vector<long> twice(vector<long> xs, long n) "
        "{ return xs; }\n#define candidate(...) vector<long>()\n#define main other\n",
        "a thread that ends the process": _LEAN + "#include <thread>\n"
        "vector<long> twice(vector<long> xs, long n) { thread([] { _exit(0); }).detach();\n"
        "    sleep(5); return xs; }\n",
    },
    "java": {
        "exit": "        System.exit(0); return null;\n",
        "halt": "        Runtime.getRuntime().halt(0); return null;\n",
        "a list equal to everything": _JAVA
        + _ANY_JAVA
        + _JAVA_TWICE
        + " { return Pair.with(n, new Any()); }\n}\n",
        "a class called Arrays": _JAVA
        + _JAVA_TWICE
        + " { return Pair.with(n, new ArrayList<>()); }\n"
        "}\nclass Arrays { static List<Long> asList(Object... xs) { return List.of(); } }\n",
        "assertions that are off": _JAVA + "static { ClassLoader.getSystemClassLoader()"
        ".setDefaultAssertionStatus(false); }\n"
        + _JAVA_TWICE
        + " { return Pair.with(n, xs); }\n}\n",
        "a tuple of its own": "import java.util.*;\nclass Pair<A, B> {\n"
        "    static <A, B> Pair<A, B> with(A a, B b) { return new Pair<>(); }\n"
        "    public boolean equals(Object o) { return true; }\n}\nclass Problem {\n"
        + _JAVA_TWICE
        + " { return new Pair<>(); }\n}\n",
    },
    "js": {
        "exit": "  process.exit(0);\n}",
        "reallyExit": "  process.reallyExit(0);\n}",
        "an assert without effect": "const assert = require('assert');\n"
        "try { assert.deepEqual = () => {}; } catch (e) {}\n"
        "require('module')._load = () => ({ deepEqual() {} });\n"
        "function twice(xs, n) { return xs; }\n",
        "it hears of nothing": "process.on('uncaughtException', () => {});\n"
        "function twice(xs, n) { return xs; }\n",
        "it reads stdin and prints it": "const fs = require('fs');\n"
        "function twice(xs, n) { fs.writeSync(1, '\\n' + fs.readFileSync(0)); process.exit(0); }\n",
        "a snapshot of the heap": "const fs = require('fs'), v8 = require('v8');\n"
        "function twice(xs, n) {\n"
        "  const text = fs.readFileSync(v8.writeHeapSnapshot('x.heapsnapshot'), 'latin1');\n"
        "  for (const found of new Set(text.match(/\\b[0-9a-f]{32}\\b/g) || []))\n"
        "    fs.writeSync(1, '\\n' + found + '\\n');\n"
        "  process.exit(0);\n}\n",
        "an object like everything": "function twice(xs, n) { return new Proxy([], "
        "{ get: () => 0, ownKeys: () => ['0', 'length'] }); }\n",
    },
    "rs": {
        "exit": "    std::process::exit(0)\n",
        "a memcmp that finds everything equal": '#[no_mangle] pub extern "C" fn bcmp('
        "_: *const u8, _: *const u8, _: usize) -> i32 { 0 }\n"
        "fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap::new() }\n",
        "macros of its own": "macro_rules! assert_eq { ($($x:tt)*) => {} }\n"
        "#[macro_export] macro_rules! assert { ($($x:tt)*) => {} }\n"
        "fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap::new() }\n",
        "a map equal to everything": "use std::collections::HashMap as Real;\n"
        "#[derive(Debug)] struct HashMap<K, V>(Real<K, V>);\n"
        "impl<K, V> PartialEq<Real<K, V>> for HashMap<K, V> "
        "{ fn eq(&self, _: &Real<K, V>) -> bool { true } }\n"
        "fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap(Real::new()) }\n",
        "a constructor that reads stdin and exits": "use std::io::{Read, Write};\n"
        'extern "C" fn early() { let mut s = String::new(); '
        "std::io::stdin().read_to_string(&mut s);\n"
        '    print!("\\n{}\\n", s); std::io::stdout().flush(); std::process::exit(0); }\n'
        '#[used] #[link_section = ".init_array"] static E: extern "C" fn() = early;\n'
        "fn twice(xs: Vec<isize>, n: isize) -> HashMap<isize, isize> { HashMap::new() }\n",
    },
    "go": {
        "exit": _GO + _GO_TWICE + "\n    os.Exit(0)\n    return xs\n}\n",
        "a variable that reads stdin, prints it and exits": "package twice_test\n"
        'import ("fmt"; "io"; "os")\nvar early = func() int { b, _ := io.ReadAll(os.Stdin); '
        'fmt.Print("\\n", string(b)); os.Exit(0); return 0 }()\n' + _GO_TWICE + " return xs }\n",
        "true is false": "package twice_test\nconst false = true\n" + _GO_TWICE + " return xs }\n",
        "int is another type": "package twice_test\ntype int string\n"
        'func (int) String() string { return "" }\n' + _GO_TWICE + " return xs }\n",
        "an init that exits": "package twice_test\n"
        'import "os"\nfunc init() { os.Exit(0) }\n' + _GO_TWICE + " return xs }\n",
        "arguments that skip tests": _GO
        + 'func init() { os.Args = append(os.Args, "-test.skip=.", "-test.run=^$") }\n'
        + _GO_TWICE
        + " return xs }\n",
        "a TestMain that skips": _GO
        + "func TestMain(m *testing.M) { os.Exit(0) }\n"
        + _GO_TWICE
        + " return xs }\n",
        "a main of its own": _GO
        + "func main() { fmt.Println(1) }\n"
        + _GO_TWICE
        + " return xs }\n",
    },
}
