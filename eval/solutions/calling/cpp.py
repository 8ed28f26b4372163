"""C++: what writes results, the program, and a `main` that makes the calls.

A result has the type of the prompt. One that is a union without a tag is written as the member that
has the type of the expected value, which is what the tests compare.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from gradebox.checkers.values.literals import RESULTS
from gradebox.eval.solutions.calling.calls import Call, Parts, Source
from gradebox.sandbox.source_tokens import Style

STYLE: Style = "c++"
_BEFORE_A_CALL = ("return", "else", "do", "throw", "case", "co_return", "co_yield", "new")
_KINDS = ("union", "struct", "class")
_MEMBERS = {bool: "bool", int: "long", float: "float", str: "std::string"}
# In front of the program, whose macros and `using` do not reach it.
_SHOW = r"""
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
_MAIN = """
signed main() {
LINES    std::fwrite(gradebox::results.data(), 1, gradebox::results.size(), stdout);
    std::fflush(stdout);
}
"""


def defines(source: Source, entry: str) -> bool:
    """Return whether a source has the function's definition: a type, its name, its body."""
    for at in source.every(entry, "("):
        before, behind = source.word(at - 1), source.word(source.partner(at + 1) + 1)
        typed = before in (">", "*", "&") or before.replace("_", "a").isalnum()
        if typed and before not in _BEFORE_A_CALL and behind in ("{", "noexcept", "const", "-"):
            return True
    return False


def files(parts: Parts, calls: Sequence[Call]) -> dict[str, str]:
    """Return the source of a program that writes the results of its calls."""
    result = parts.signature.partition(parts.entry)[0].strip()
    lines = "".join(f"    {_line(parts, call, result)}\n" for call in calls)
    program = f'#line 1 "main.cpp"\n{_program(parts)}'
    return {"main.cpp": f"{_SHOW}{program}{_MAIN.replace('LINES', lines)}"}


def _line(parts: Parts, call: Call, result: str) -> str:
    found = f"const {result} gradebox_found = ({parts.entry})({call.arguments});"  # without ADL
    shown = "gradebox_found"
    if result.startswith("Union_"):
        expected = call.literal.lstrip("( ").partition("(")[0]
        member = _MEMBERS.get(type(call.expected), expected)
        shown = f"*(const {member} *)&gradebox_found"
    return f"{{ {found} gradebox::show({shown}); gradebox::results += '\\n'; }}"


def _program(parts: Parts) -> str:
    source = parts.whole
    if source is None:
        return f"{parts.prompt}{parts.code}\n}}\n"
    declared = re.search(r"^(?:union|struct|class)[ \t]+(\w+)", parts.preamble, re.MULTILINE)
    missing = declared and not any(source.holds(kind, declared[1]) for kind in _KINDS)
    includes = re.findall(r"^[ \t]*#[ \t]*include.*\n", parts.preamble + "\n", re.MULTILINE)
    code = source.without_main("int main (", "main (", "signed main (", "auto main (")
    first = parts.preamble if missing else "".join(includes)
    return f'{first}\n#line 1 "main.cpp"\n{code}'
