"""Java: the program's class stays as it is; a class of its own makes the calls.

GradeboxMain.java  the calls
Problem.java       the program; Solution.java, whose methods are not static, of HumanEval-X
Pair.java, …       classes of tuples, where the program or the tests use javatuples
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise

from gradebox.checkers.values.literals import RESULTS
from gradebox.eval.solutions.calling.calls import Call, Parts, Source

_LONGEST_HEAD = 50  # tokens before a function's name, from `static` on
# Without lambdas, + of texts and String.format, which cost the start of a JVM 50 ms of CPU time.
_MAIN = r"""import java.util.*;
import java.util.stream.*;
public class GradeboxMain {
    static final StringBuilder results = new StringBuilder(RESULTS);
    static void show(Object value) {
        if (value instanceof Optional) show(((Optional<?>) value).orElse(null));
        else if (value instanceof Float || value instanceof Double)
            results.append(((Number) value).doubleValue());
        else if (value == null || value instanceof Number || value instanceof Boolean)
            results.append(value);
        else if (value instanceof String || value instanceof Character) {
            results.append('"');
            for (char c : value.toString().toCharArray())
                if (c >= 32 && c != '"' && c != 92) results.append(c);
                else results.append("\\x").append(c / 16).append("0123456789abcdef".charAt(c % 16));
            results.append('"');
        } else {
            results.append(value instanceof Map ? "map[" : "[");
            if (value instanceof Map)
                for (Map.Entry<?, ?> each : ((Map<?, ?>) value).entrySet()) {
                    show(each.getKey());
                    results.append(',');
                    show(each.getValue());
                    results.append(',');
                }
            else
                for (Object each : (Iterable<?>) value) {
                    show(each);
                    results.append(',');
                }
            results.append(']');
        }
    }
    public static void main(String[] args) throws Throwable {
LINES        System.out.flush();
        byte[] data = results.toString().getBytes("UTF-8");
        new java.io.FileOutputStream(java.io.FileDescriptor.out).write(data);
    }
}
"""
_NAMES = "Unit Pair Triplet Quartet Quintet Sextet Septet Octet Ennead Decade"
_TUPLES = {name: n for n, name in enumerate(_NAMES.split(), start=1)}


def defines(source: Source, entry: str) -> bool:
    """Return whether a source has the class, or a static or public function of the name."""
    if any(source.holds("class", name) for name in ("Problem", "Solution")):
        return True
    for at in source.every(entry, "("):
        before = at - 1
        while before > at - _LONGEST_HEAD and source.word(before) not in (
            *";{}=()",
            "",
            "static",
            "public",
        ):
            before -= 1
        if source.word(before) in ("static", "public"):
            return True
    return False


def files(parts: Parts, calls: Sequence[Call]) -> dict[str, str]:
    name = "Solution" if "Solution()" in parts.tests else "Problem"
    (program, words), tests = _program(parts, name), Source(parts.tests, "java").words
    call = f"new Solution().{parts.entry}" if name == "Solution" else f"Problem.{parts.entry}"
    own = {b for a, b in pairwise(words) if a in ("class", "record", "interface")}
    lines = "".join(
        f"        show({call}({made.arguments}));\n        results.append('\\n');\n"
        for made in calls
    )
    main = _MAIN.replace("RESULTS", json.dumps(RESULTS)).replace("LINES", lines)
    tuples = sorted(({*words, *tests} & _TUPLES.keys()) - own)
    return {
        "GradeboxMain.java": main,
        f"{name}.java": program,
        **{f"{name}.java": _tuple(name, _TUPLES[name]) for name in tuples},
    }


def _program(parts: Parts, name: str) -> tuple[str, list[str]]:
    """Return the program as a class `name`, and its tokens; both without javatuples' imports."""
    source = parts.whole
    if source is None:
        text = f"{parts.prompt}{parts.code}\n    }}\n}}\n"
    elif source.holds("class", name):
        text = f"{_lacking(parts, source)}{parts.code}\n"
    else:
        text = f"{parts.preamble}\n{parts.code}\n}}\n"
    source = Source(text, "java")
    imports = source.every("import", "org", ".", "javatuples", ".")
    left_out = {n: "" for at in imports for n in range(at, at + 7)}
    words = [word for at, word in enumerate(source.words) if at not in left_out]
    return source.replaced(left_out), words


def _lacking(parts: Parts, source: Source) -> str:
    """Return the prompt's imports, which Java allows twice; none if the code has a package."""
    if any(source.word(at) == "package" for at in source.first):
        return ""
    imports = re.findall(r"^import .*;", parts.preamble, re.MULTILINE)
    return " ".join(imports) + "\n"


# A class with n values: `with`, `getValueI`, `setAtI`, equality by values.
_TUPLE = """public final class NAME<KINDS> implements Iterable<Object> {
FIELDS
    public NAME(GIVEN) { SETS }
    public static <KINDS> NAME<KINDS> with(GIVEN) { return new NAME(VALUES); }
GETTERS
    public java.util.List<Object> toList() {
        return java.util.Arrays.asList((Object[]) new Object[] {VALUES});
    }
    public java.util.Iterator<Object> iterator() { return toList().iterator(); }
    public Object getValue(int at) { return toList().get(at); }
    public int getSize() { return toList().size(); }
    @Override public boolean equals(Object other) {
        return other instanceof NAME && toList().equals(((NAME<ANY>) other).toList());
    }
    @Override public int hashCode() { return toList().hashCode(); }
    @Override public String toString() { return toList().toString(); }
}
"""
_GETTERS = """    public TI getValueI() { return vI; }
    public NAME<KINDS> setAtI(TI value) { return with(OTHERS); }"""


def _tuple(name: str, n: int) -> str:
    places = range(n)
    values = [f"v{i}" for i in places]
    kinds = ", ".join(f"T{i}" for i in places)
    getters = (
        _GETTERS.replace("OTHERS", ", ".join([*values[:i], "value", *values[i + 1 :]]))
        .replace("getValueI", f"getValue{i}").replace("setAtI", f"setAt{i}")
        .replace("TI", f"T{i}").replace("vI", f"v{i}")
        for i in places
    )  # fmt: skip
    texts = {
        "FIELDS": "\n".join(f"    private final T{i} v{i};" for i in places),
        "GETTERS": "\n".join(getters),
        "SETS": " ".join(f"this.v{i} = v{i};" for i in places),
        "GIVEN": ", ".join(f"T{i} v{i}" for i in places),
        "VALUES": ", ".join(values),
        "new NAME(": f"new {name}<{kinds}>(",
        "NAME": name,
        "KINDS": kinds,
        "ANY": ", ".join("?" * n),
    }
    text = _TUPLE
    for word, by in texts.items():
        text = text.replace(word, by)
    return text
