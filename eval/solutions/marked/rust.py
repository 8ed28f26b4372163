"""Rust: the program is a module of its own; the tests call a function of it with known types.

    main.rs      the prompt's imports, the tests, the mark
    solution.rs  the program, and gradebox_candidate, which calls its function

Macros are named by their path, since a program could export one with their name. A program may not
name symbols for the linker, such as `memcmp`, which comparisons call. The secret is read with a
system call of its own before `main`.
"""

from __future__ import annotations

import re

from gradebox.eval.solutions.marked.parts import CANDIDATE, Parts, without_function
from gradebox.sandbox.errors import BadRequest

DEFINES = r"\bfn\s+{entry}\b"

_MACROS = re.compile(r"(?<![\w:])(assert|assert_eq|assert_ne|vec|panic|format|matches)!")
_LINKED = re.compile(r"\b(no_mangle|export_name|link_section|link_name|global_asm)\b")
_MARK = """
#[path = "solution.rs"]
mod solution;

static mut GRADEBOX_SECRET: [u8; 64] = [0; 64];
#[cfg(target_arch = "aarch64")]
const GRADEBOX_NUMBERS: [usize; 2] = [63, 64];
#[cfg(not(target_arch = "aarch64"))]
const GRADEBOX_NUMBERS: [usize; 2] = [0, 1];

#[cfg(target_arch = "x86_64")]
unsafe fn gradebox_kernel(write: usize, at: *const u8, length: usize) -> usize {
    let result: usize;
    ::std::arch::asm!("syscall", inlateout("rax") GRADEBOX_NUMBERS[write] => result,
        in("rdi") write, in("rsi") at, in("rdx") length, out("rcx") _, out("r11") _);
    result
}
#[cfg(target_arch = "aarch64")]
unsafe fn gradebox_kernel(write: usize, at: *const u8, length: usize) -> usize {
    let result: usize;
    ::std::arch::asm!("svc 0", in("x8") GRADEBOX_NUMBERS[write],
        inlateout("x0") write => result, in("x1") at, in("x2") length);
    result
}
extern "C" fn gradebox_read() {
    unsafe { gradebox_kernel(0, ::std::ptr::addr_of!(GRADEBOX_SECRET) as *const u8, 64); }
}
#[used]
#[link_section = ".preinit_array"]
static GRADEBOX_FIRST: extern "C" fn() = gradebox_read;

fn main() {
    gradebox_tests();
    unsafe {
        let at = ::std::ptr::addr_of!(GRADEBOX_SECRET) as *const u8;
        let length = (0..64).find(|&i| *at.add(i) == 0).unwrap_or(64);
        gradebox_kernel(1, b"\\n".as_ptr(), 1);
        gradebox_kernel(1, at, length);
    }
}
"""


def files(parts: Parts) -> dict[str, str]:
    """Return the sources of a program.

    Raises BadRequest for tests without `main`, and for symbols that the linker would take.
    """
    if symbol := _LINKED.search(parts.code):
        raise BadRequest(f"the program has {symbol[1]}, with which it could replace functions")
    text, parameters = parts.parameters()
    result = parts.signature.rpartition("->")[2].strip() if "->" in parts.signature else "()"
    arguments = ", ".join(p.partition(":")[0].removeprefix("mut ").strip() for p in parameters)
    candidate = rf"(let\s+candidate\s*=\s*){re.escape(parts.entry)}\s*;"
    tests, found = re.subn(candidate, rf"\1solution::{CANDIDATE};", parts.own_tests)
    tests, mains = re.subn(r"\bfn\s+main\s*\(", "fn gradebox_tests(", tests)
    if not found or not mains:
        raise BadRequest(f"the tests of {parts.entry} do not have a main with a candidate")
    uses = re.findall(r"^use .*;\n", parts.preamble + "\n", re.MULTILINE)
    if parts.whole:
        lacking = [use for use in uses if not re.search(rf"use\b[^;]*\b{_last(use)}\b", parts.code)]
        code = without_function(parts.code, r"^(?:pub\s+)?fn\s+main\s*\(")
        program = code + "\n" + "".join(lacking)
    else:
        program = f"{parts.prompt}{parts.code}\n}}\n"
    tests = _MACROS.sub(r"::std::\1!", tests)
    return {
        "main.rs": f"#![allow(warnings)]\n{''.join(uses)}{_MARK}{tests}",
        "solution.rs": f"{program}\npub(crate) fn {CANDIDATE}({text}) -> {result} {{\n"
        f"    {parts.entry}({arguments})\n}}\n",
    }


def _last(use: str) -> str:
    words: list[str] = re.findall(r"\w+", use)
    return re.escape(words[-1])
