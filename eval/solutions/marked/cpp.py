"""C++: the program and the tests are two sources, which share one function.

    main.cpp   the program, and gradebox_candidate, which calls its function
    tests.cpp  the prompt's declarations, the tests, the mark

The secret is read with a system call of its own before any constructor of the program, since a
program could define `read`. `assert` does not call the library, whose functions a program could
define.
"""

from __future__ import annotations

import re

from gradebox.eval.solutions.marked.parts import CANDIDATE, Parts, without_function
from gradebox.sandbox.errors import BadRequest

DEFINES = r"^[ \t]*[A-Za-z_][^\n;{{}}=()]*\b{entry}\s*\([^;{{}}]*\)[^;{{}}]*\{{"

_MARK = """
#include <unistd.h>
#include <sys/syscall.h>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <string>
#include <vector>
#undef assert
#define assert(held) ((gradebox::First{}->*held) ? (void)0 : gradebox_failed(#held))
static char gradebox_secret[64];
static long gradebox_kernel(long number, long a, long b, long c) {
#if defined(__x86_64__)
    long result;
    asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c)
                 : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 asm("x8") = number, x0 asm("x0") = a, x1 asm("x1") = b, x2 asm("x2") = c;
    asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#else
    return syscall(number, a, b, c);
#endif
}
static void gradebox_read() {
    gradebox_kernel(SYS_read, 0, (long)gradebox_secret, sizeof gradebox_secret);
}
__attribute__((section(".preinit_array"), used)) static void (*gradebox_first)() = gradebox_read;
[[noreturn]] static void gradebox_failed(const char *held) {
    gradebox_kernel(SYS_write, 2, (long)"\\nfailed: ", 9);
    gradebox_kernel(SYS_write, 2, (long)held, __builtin_strlen(held));
    gradebox_kernel(SYS_exit_group, 1, 0, 0);
    __builtin_trap();
}
"""
# `->*` binds before `==`, so that the found value is compared here: the library's operators call
# functions that a program could define, such as memcmp.
_SAME = """
namespace gradebox { namespace {
template <class A, class B> bool same(const A &a, const B &b) {
    return const_cast<A &>(a) == b;  // operators of the prompt's unions are not const
}
inline bool same(const std::string &a, const std::string &b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); i++) if (a[i] != b[i]) return false;
    return true;
}
inline bool same(const std::string &a, const char *b) {
    std::size_t i = 0;
    for (; i < a.size() && b[i]; i++) if (a[i] != b[i]) return false;
    return i == a.size() && !b[i];
}
template <class T> bool same(const std::vector<T> &a, const std::vector<T> &b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); i++) if (!same(T(a[i]), T(b[i]))) return false;
    return true;
}
template <class T> bool same(const std::optional<T> &a, const std::optional<T> &b) {
    return a.has_value() == b.has_value() && (!a || same(*a, *b));
}
template <class K, class V> bool same(const std::map<K, V> &a, const std::map<K, V> &b) {
    if (a.size() != b.size()) return false;
    auto x = a.begin();
    for (auto y = b.begin(); y != b.end(); ++x, ++y)
        if (!same(x->first, y->first) || !same(x->second, y->second)) return false;
    return true;
}
template <class T> struct Found {
    T &value;
    template <class U> bool operator==(const U &b) { return same(std::as_const(value), b); }
    template <class U> bool operator!=(const U &b) { return !same(std::as_const(value), b); }
    operator const T &() const { return value; }
};
struct First {
    template <class T> Found<std::remove_reference_t<T>> operator->*(T &&value) const {
        return {value};
    }
};
} }
"""
_PASSED = """
    gradebox_kernel(SYS_write, 1, (long)"\\n", 1);
    gradebox_kernel(SYS_write, 1, (long)gradebox_secret, __builtin_strlen(gradebox_secret));
"""


def files(parts: Parts) -> dict[str, str]:
    """Return the sources of a program. Raises BadRequest for tests without `main`."""
    text, parameters = parts.parameters()
    result = parts.signature.partition(parts.entry)[0].strip()
    arguments = ", ".join(_name(p) for p in parameters)
    tests = parts.own_tests.rstrip()
    candidate = rf"(auto\s+candidate\s*=\s*){re.escape(parts.entry)}\s*;"
    tests, found = re.subn(candidate, rf"\1{CANDIDATE};", tests)
    if not found or not tests.endswith("}"):
        raise BadRequest(f"the tests of {parts.entry} do not end in a main with a candidate")
    program = f"{_program(parts)}\n{result} {CANDIDATE}({text}) {{"
    return {
        "main.cpp": f"{program} return {parts.entry}({arguments}); }}\n",
        "tests.cpp": f"{parts.preamble}\n{result} {CANDIDATE}({text});\n"
        f"{_MARK}{_SAME}{tests.removesuffix('}')}{_PASSED}}}\n",
    }


def _program(parts: Parts) -> str:
    if not parts.whole:
        return f"{parts.prompt}{parts.code}\n}}\n"
    includes = re.findall(r"^[ \t]*#[ \t]*include.*\n", parts.preamble + "\n", re.MULTILINE)
    declared = re.search(r"^(?:union|struct|class)[ \t]+(\w+)", parts.preamble, re.MULTILINE)
    missing = declared and not re.search(rf"\b(?:union|struct|class)\s+{declared[1]}", parts.code)
    code = without_function(parts.code, r"^[ \t]*(?:(?:signed|int|auto)[ \t]+)?main\s*\(")
    return f"{parts.preamble if missing else ''.join(includes)}\n{code}"


def _name(parameter: str) -> str:
    found = re.search(r"(\w+)\s*(?:\[\s*\])*$", parameter)
    if not found:
        raise BadRequest(f"the parameter {parameter!r} of the prompt has no name")
    return found[1]
