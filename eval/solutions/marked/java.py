"""Java: the program's class stays as it is; the tests are a class of their own, which calls it.

    GradeboxMain.java  the tests, the mark, the library's classes imported by name
    Problem.java       the program
    Pair.java, …       tuples, where the program or the tests use those of javatuples

`assert(a.equals(b))` becomes b.equals(a): an object of the program does not judge itself. The
secret is a local variable, read before the class of the program is loaded.
"""

from __future__ import annotations

import re

from gradebox.eval.solutions.marked.parts import Parts, closing, without_function
from gradebox.sandbox.errors import BadRequest

DEFINES = r"\bclass\s+Problem\b|\bstatic\b[^\n;{{}}=()]*\b{entry}\s*\("

_UTIL = "ArrayList Arrays Collections HashMap HashSet List Map Objects Optional Set"
_LANG = "Boolean Byte Character Double Float Integer Long Math Object Short String System Throwable"
_IMPORTS = "".join(
    f"import java.{package}.{name};\n"
    for package, names in (("util", _UTIL), ("lang", _LANG))
    for name in names.split()
)
_MAIN = """
    static void gradeboxCheck(boolean held) {
        if (!held) throw new java.lang.AssertionError();
    }
    static boolean gradeboxSame(Object found, Object wanted) {
        if (found == null) throw new java.lang.NullPointerException();
        return wanted.equals(found);
    }
    public static void main(String[] args) throws java.lang.Exception {
        byte[] secret = new byte[64];
        int length = new java.io.FileInputStream(java.io.FileDescriptor.in).read(secret);
        java.io.FileOutputStream out = new java.io.FileOutputStream(java.io.FileDescriptor.out);
        gradeboxTests();
        out.write('\\n');
        out.write(secret, 0, length);
    }
}
"""
_NAMES = "Unit Pair Triplet Quartet Quintet Sextet Septet Octet Ennead Decade"
_TUPLES = {name: n for n, name in enumerate(_NAMES.split(), start=1)}


def files(parts: Parts) -> dict[str, str]:
    """Return the sources of a program.

    Raises BadRequest for tests without `main`, and for a program that replaces their tuples.
    """
    tests = parts.own_tests.rstrip().removesuffix("}").rstrip()
    tests, mains = re.subn(r"public\s+static\s+void\s+main\s*\([^)]*\)", "_MAIN_", tests)
    if not mains or not tests.endswith("}"):
        raise BadRequest(f"the tests of {parts.entry} do not end in a main")
    tests = re.sub(rf"(?<![\w.]){re.escape(parts.entry)}(?=\s*\()", f"Problem.{parts.entry}", tests)
    tests = checked(tests).replace("_MAIN_", "static void gradeboxTests() throws Exception", 1)
    program = _program(parts)
    words = set(re.findall(r"\w+", program + tests))
    own = [n for n in _TUPLES if re.search(rf"\b(?:class|record|interface)\s+{n}\b", program)]
    if own and own[0] in tests:
        raise BadRequest(f"the program has a class {own[0]} of its own, and the tests use tuples")
    return {
        "GradeboxMain.java": f"{_IMPORTS}import java.util.stream.*;\n"
        f"public class GradeboxMain {{{tests}\n{_MAIN}",
        "Problem.java": program,
        **{
            f"{name}.java": _tuple(name, n)
            for name, n in _TUPLES.items()
            if name in words and name not in own
        },
    }


def checked(tests: str) -> str:
    """Return tests with a call instead of each `assert(…)`, the expected value first."""
    parts, at = [], 0
    for found in re.finditer(r"(?<!\w)assert\s*\(", tests):
        end = closing(tests, found.end() - 1)
        if end < 0:
            break
        text = tests[found.end() : end]
        parts += [tests[at : found.start()], f"gradeboxCheck({_turned(text)})"]
        at = end + 1
    return "".join((*parts, tests[at:]))


def _turned(text: str) -> str:
    """Return `gradeboxSame(a, b)` for a text `a.equals(b)`, any other text unchanged."""
    for found in reversed(list(re.finditer(r"\.equals\s*\(", text))):
        if closing(text, found.end() - 1) == len(text.rstrip()) - 1:
            wanted = text.rstrip()[found.end() : -1]
            return f"gradeboxSame({text[: found.start()]}, {wanted})"
    return text


def _program(parts: Parts) -> str:
    code = without_function(parts.code, r"^\s*public\s+static\s+void\s+main\s*\(")
    if not parts.whole:
        text = f"{parts.prompt}{parts.code}\n    }}\n}}\n"
    elif re.search(r"\bclass\s+Problem\b", parts.code):
        text = f"{''.join(_lacking(parts))}{code}\n"
    else:
        text = f"{parts.preamble}\n{code}\n}}\n"
    return re.sub(r"\bimport\s+org\.javatuples\.[^;\n]*;", "", text)


def _lacking(parts: Parts) -> list[str]:
    """Return the prompt's imports, which may be given twice, unless the code has a package."""
    if re.search(r"^\s*package\s", parts.code, re.MULTILINE):
        return []
    imports = re.findall(r"^import .*;", parts.preamble, re.MULTILINE)
    return [" ".join(imports), "\n"] if imports else []


def _tuple(name: str, n: int) -> str:
    """Return a class with n values: `with`, `getValueI`, `setAtI`, equality by values."""
    kinds = [f"T{i}" for i in range(n)]
    kind, given = f"{name}<{', '.join(kinds)}>", ", ".join(f"T{i} v{i}" for i in range(n))
    values = ", ".join(f"v{i}" for i in range(n))
    lines = [f"public final class {kind} {{"]
    lines += [f"    private final T{i} v{i};" for i in range(n)]
    lines += [
        f"    public {name}({given}) {{ {' '.join(f'this.v{i} = v{i};' for i in range(n))} }}"
    ]
    lines += [f"    public static <{', '.join(kinds)}> {kind} with({given}) {{"]
    lines += [f"        return new {kind}({values});", "    }"]
    for i in range(n):
        changed = ", ".join(f"v{j}" if j != i else "value" for j in range(n))
        lines += [f"    public T{i} getValue{i}() {{ return v{i}; }}"]
        lines += [f"    public {kind} setAt{i}(T{i} value) {{ return with({changed}); }}"]
    lines += ["    public java.util.List<Object> toList() {"]
    lines += [
        f"        return java.util.Arrays.asList((Object[]) new Object[] {{{values}}});",
        "    }",
    ]
    lines += ["    public Object getValue(int at) { return toList().get(at); }"]
    lines += [f"    public int getSize() {{ return {n}; }}"]
    lines += ["    @Override public boolean equals(Object other) {"]
    lines += [f"        return other instanceof {name}"]
    lines += [
        f"            && toList().equals((({name}<{', '.join('?' * n)}>) other).toList());",
        "    }",
    ]
    lines += ["    @Override public int hashCode() { return toList().hashCode(); }"]
    lines += ["    @Override public String toString() { return toList().toString(); }", "}", ""]
    return "\n".join(lines)
