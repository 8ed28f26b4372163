"""The sources of programs that make the calls of tests, by language.

Each language has a function that says whether a source has the tested function, and one that
returns the files of a program which writes the results of its calls:

C++         A result has the type of the prompt. One that is a union without a tag is written as the
            member that has the type of the expected value, which is what the tests compare.
Go          What the prompt imports, testing and fmt, is imported where the program lacks it, and
            used.
JavaScript  A result is JSON with null for undefined, and texts for numbers that JSON does not have.
            Objects of classes that `deepEqual` tells from plain ones have no result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gradebox.checkers.values.literals import RESULTS
from gradebox.eval.solutions.calling import java
from gradebox.eval.solutions.calling.calls import Call, Parts, Source
from gradebox.sandbox.source_tokens import Style


class Builder(NamedTuple):
    """A language: its tokens, `defines` and `files` as above."""

    style: Style
    defines: Callable[[Source, str], bool]
    files: Callable[[Parts, Sequence[Call]], dict[str, str]]


# ---- C++ ----

_CPP_BEFORE_A_CALL = ("return", "else", "do", "throw", "case", "co_return", "co_yield", "new")
_CPP_KINDS = ("union", "struct", "class")
_CPP_MEMBERS = {bool: "bool", int: "long", float: "float", str: "std::string"}
# In front of the program, whose macros and `using` do not reach it.
_CPP_SHOW = r"""
#include <cstdio>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
namespace gradebox {
static std::string results = RESULTS;
template <class T> struct is_optional : std::false_type {};
template <class T> struct is_optional<std::optional<T>> : std::true_type {};
template <class T, class = void> struct is_tuple : std::false_type {};
template <class T> struct is_tuple<T, std::void_t<decltype(std::tuple_size<T>::value)>>
    : std::true_type {};
template <class T, class = void> struct is_map : std::false_type {};
template <class T> struct is_map<T, std::void_t<typename T::mapped_type>> : std::true_type {};
template <class T> void show(const T &value) {
    char digits[99];
    if constexpr (std::is_same_v<T, bool>)
        results += value ? "true" : "false";
    else if constexpr (std::is_floating_point_v<T>)
        results.append(digits, std::snprintf(digits, sizeof digits, "%.17Lg", (long double)value));
    else if constexpr (std::is_arithmetic_v<T>)
        results += std::to_string(value);
    else if constexpr (std::is_convertible_v<const T &, std::string>) {
        results += '"';
        for (unsigned char c : std::string(value))
            if (c < 32 || c == '"' || c == '\\')
                results.append(digits, std::snprintf(digits, sizeof digits, "\\x%02x", c));
            else
                results += c;
        results += '"';
    } else if constexpr (is_optional<T>::value) {
        if (value) gradebox::show(*value); else results += "null";
    } else {
        results += is_map<T>::value ? "map[" : "[";
        auto part = [](const auto &each) { gradebox::show(each); results += ','; };
        if constexpr (is_tuple<T>::value)
            std::apply([&](const auto &...each) { (part(each), ...); }, value);
        else
            for (const typename T::value_type &each : value) part(each);
        results += ']';
    }
}
}
""".replace("RESULTS", json.dumps(RESULTS).replace("\\u001e", "\\036"))
_CPP_MAIN = """
signed main() {
LINES    std::fwrite(gradebox::results.data(), 1, gradebox::results.size(), stdout);
    std::fflush(stdout);
}
"""


def _cpp_defines(source: Source, entry: str) -> bool:
    """Return whether a source has the function's definition: a type, its name, its body."""
    for at in source.every(entry, "("):
        before, behind = source.word(at - 1), source.word(source.partner(at + 1) + 1)
        typed = before in (">", "*", "&") or before.replace("_", "a").isalnum()
        if typed and before not in _CPP_BEFORE_A_CALL and behind in ("{", "noexcept", "const", "-"):
            return True
    return False


def _cpp_files(parts: Parts, calls: Sequence[Call]) -> dict[str, str]:
    result = parts.signature.partition(parts.entry)[0].strip()
    lines = "".join(f"    {_cpp_line(parts, call, result)}\n" for call in calls)
    program = f'#line 1 "main.cpp"\n{_cpp_program(parts)}'
    return {"main.cpp": f"{_CPP_SHOW}{program}{_CPP_MAIN.replace('LINES', lines)}"}


def _cpp_line(parts: Parts, call: Call, result: str) -> str:
    found = f"const {result} gradebox_found = ({parts.entry})({call.arguments});"  # without ADL
    shown = "gradebox_found"
    if result.startswith("Union_"):
        expected = call.literal.lstrip("( ").partition("(")[0]
        member = _CPP_MEMBERS.get(type(call.expected), expected)
        shown = f"*(const {member} *)&gradebox_found"
    return f"{{ {found} gradebox::show({shown}); gradebox::results += '\\n'; }}"


def _cpp_program(parts: Parts) -> str:
    source = parts.whole
    if source is None:
        return f"{parts.prompt}{parts.code}\n}}\n"
    declared = re.search(r"^(?:union|struct|class)[ \t]+(\w+)", parts.preamble, re.MULTILINE)
    missing = declared and not any(source.holds(kind, declared[1]) for kind in _CPP_KINDS)
    includes = re.findall(r"^[ \t]*#[ \t]*include.*\n", parts.preamble + "\n", re.MULTILINE)
    code = source.without_main("int main (", "main (", "signed main (", "auto main (")
    first = parts.preamble if missing else "".join(includes)
    return f'{first}\n#line 1 "main.cpp"\n{code}'


# ---- Go ----

_GO_OWN = "".join(f'; import gradebox_{name} "{name}"' for name in ("fmt", "os"))
_GO_MAIN = """
var _ = fmt.Sprint
var _ testing.T
func main() {
    gradebox_results := RESULTS
LINES    gradebox_os.Stdout.WriteString(gradebox_results)
}
"""


def _go_defines(source: Source, entry: str) -> bool:
    return any(source.word(at + 2) in ("[", "(") for at in source.every("func", entry))


def _go_files(parts: Parts, calls: Sequence[Call]) -> dict[str, str]:
    lines = "".join(
        f'    gradebox_results += gradebox_fmt.Sprintf("%#v\\n", {parts.entry}({call.arguments}))\n'
        for call in calls
    )
    main = _GO_MAIN.replace("RESULTS", json.dumps(RESULTS)).replace("LINES", lines)
    return {
        "main.go": _go_program(parts.code if parts.whole else f"{parts.prompt}{parts.code}") + main
    }


def _go_program(code: str) -> str:
    """Return a program of package main without a function `main`; the numbers of lines stay."""
    source = Source(code, "go")
    lacking = [name for name in ("fmt", "testing") if f'"{name}"' not in source.words]
    clause = f"package main{_GO_OWN}{''.join(f'; import {json.dumps(n)}' for n in lacking)}"
    changes = {at + 1: "gradebox_own_main" for at in source.every("func", "main", "(")}
    package = next((at for at in source.first if source.word(at) == "package"), None)
    if package is None:
        return f"{clause}; {source.replaced(changes)}"
    return source.replaced({**changes, package: clause, package + 1: ""})


# ---- JavaScript ----

_JAVASCRIPT_CALLS = """
;(calls => {
  const kind = value => Object.prototype.toString.call(value).slice(8, -1);
  const plain = (key, value) => {
    if (value === undefined) return null;
    if (typeof value === 'bigint' || (typeof value === 'number' && !isFinite(value)))
      return String(value);
    if (!['Null', 'Object', 'Array', 'Number', 'String', 'Boolean'].includes(kind(value)))
      throw new TypeError('the result has a value of type ' + kind(value));
    return value;
  };
  const results = calls.map(call => JSON.stringify(call(), plain) + '\\n');
  const data = Buffer.from(RESULTS + results.join(''));
  for (let at = 0; at < data.length;) at += require('fs').writeSync(1, data, at);
})([
LINES]);
"""


def _javascript_defines(source: Source, entry: str) -> bool:
    """Return whether a source has the function, or at its top a variable of its name."""
    if source.holds("function", entry) or source.holds("function", "*", entry):
        return True
    return any(
        source.word(at) in ("const", "let", "var") and source.has((entry, "="), at + 1)
        for at in source.first
        if source.starts[at] == 0 or source.text[source.starts[at] - 1] == "\n"
    )


def _javascript_files(parts: Parts, calls: Sequence[Call]) -> dict[str, str]:
    program = parts.code if parts.whole else f"{parts.prompt}{parts.code}"
    lines = "".join(f"  () => {parts.entry}({call.arguments}),\n" for call in calls)
    made = _JAVASCRIPT_CALLS.replace("RESULTS", json.dumps(RESULTS)).replace("LINES", lines)
    return {"main.js": program + made}


# ---- Rust ----

_RUST_MAIN = """
fn main() {
    use ::std::io::Write;
    let mut gradebox_results = ::std::string::String::from(RESULTS);
LINES    let mut gradebox_out = ::std::io::stdout().lock();
    gradebox_out.write_all(gradebox_results.as_bytes()).and_then(|_| gradebox_out.flush()).unwrap();
}
"""


def _rust_defines(source: Source, entry: str) -> bool:
    return source.holds("fn", entry)


def _rust_files(parts: Parts, calls: Sequence[Call]) -> dict[str, str]:
    result = parts.signature.rpartition("->")[2].strip() if "->" in parts.signature else "()"
    lines = "".join(
        f"    {{ let gradebox_found: {result} = {parts.entry}({call.arguments});\n"
        '    gradebox_results += &::std::format!("{:?}\\n", gradebox_found); }\n'
        for call in calls
    )
    main = _RUST_MAIN.replace("RESULTS", json.dumps(RESULTS).replace("\\u001e", "\\x1e"))
    return {"main.rs": _rust_program(parts) + main.replace("LINES", lines)}


def _rust_program(parts: Parts) -> str:
    source = parts.whole
    if source is None:
        return f"{parts.prompt}{parts.code}\n}}\n"
    used = _rust_used(source)
    uses = re.findall(r"^use .*;$", parts.preamble, re.MULTILINE)
    lacking = [use for use in uses if re.findall(r"\w+", use)[-1] not in used]
    return "\n".join([source.without_main("fn main (", "pub fn main ("), *lacking])


def _rust_used(source: Source) -> set[str]:
    """Return the words of a source's `use` declarations."""
    found: set[str] = set()
    used = False
    for word in source.words:
        used = word != ";" and (used or word == "use")
        if used:
            found.add(word)
    return found


BUILDERS: Mapping[str, Builder] = {
    "c++17": Builder("c++", _cpp_defines, _cpp_files),
    "java": Builder("java", java.defines, java.files),
    "javascript": Builder("javascript", _javascript_defines, _javascript_files),
    "rust": Builder("rust", _rust_defines, _rust_files),
    "go": Builder("go", _go_defines, _go_files),
}
