"""Go: the program and the tests are one source of package main, since they share a package.

The imports of both come first, then a variable that reads the secret before any other variable and
`init` of the program; its name has a hash of the program in it, so that the program cannot name it.
A program may not give `true`, `string` and other built-in names another meaning. `testing` runs
the tests as `go test` would; other test functions of the program do not run.
"""

from __future__ import annotations

import hashlib
import re

from gradebox.eval.solutions.marked.parts import Parts, without_function
from gradebox.sandbox.errors import BadRequest

DEFINES = r"^func\s+{entry}\s*[\[(]"

_IMPORTS = re.compile(r"^import[ \t]*(?:\(([^)]*)\)|([^\n(]*))[ \t]*;?", re.MULTILINE)
_IMPORT = re.compile(r"(?:([\w.]+)[ \t]+)?(\"[^\"\n]*\"|`[^`\n]*`)")
_PACKAGE = re.compile(r"^package[ \t]+\w+[ \t]*;?", re.MULTILINE)
_MARK = """
func main() {
    var NAME_b bool; var NAME_s string; var NAME_i int; var NAME_f float64
    types := NAME_fmt.Sprintf("%T %T %T %T %v %v", NAME_b, NAME_s, NAME_i, NAME_f, true, false)
    if types != "bool string int float64 true false" || (1 == 1) != true || (1 == 2) != false {
        NAME_os.Stderr.WriteString("the program gives built-in names another meaning\\n")
        NAME_os.Exit(1)
    }
    all := func(string, string) (bool, error) { return true, nil }
    run := func(t *NAME_testing.T) {
        TEST(t)
        if !t.Failed() {
            NAME_os.Stdout.WriteString("\\n" + NAME_secret)
        }
    }
    NAME_testing.Main(all, []NAME_testing.InternalTest{{Name: "TEST", F: run}}, nil, nil)
}
"""


def files(parts: Parts) -> dict[str, str]:
    """Return the source of a program. Raises BadRequest for tests without a test function."""
    test = re.search(r"^func\s+(Test\w*)\s*\(", parts.own_tests, re.MULTILINE)
    if test is None:
        raise BadRequest(f"the tests of {parts.entry} have no function Test…")
    code = parts.code if parts.whole else f"{parts.prompt}{parts.code}"
    body = _code(code)
    for name in ("main", test[1]):
        body = without_function(body, rf"^func[ \t]+{name}[ \t]*\(")
    given = [found[1] or found[2] for found in _IMPORTS.finditer(code)]
    imports = dict.fromkeys((*_IMPORT.findall("\n".join(given)), ("", '"testing"'), ("", '"fmt"')))
    if len(body) < len(_code(code)):  # what was cut may have been all that used an import
        imports = {i: None for i in imports if _used(i, body + parts.own_tests)}
    name = f"gradebox_{hashlib.sha256(code.encode('utf-8', 'replace')).hexdigest()[:12]}"
    own = [(f"{name}_{package}", f'"{package}"') for package in ("fmt", "os", "testing")]
    lines = "\n".join(
        f"import {alias} {path}".replace("  ", " ") for alias, path in [*imports, *own]
    )
    secret = (
        f"var {name}_secret = func() string {{ b := make([]byte, 64); "
        f"n, _ := {name}_os.Stdin.Read(b); return string(b[:n]) }}()"
    )
    mark = _MARK.replace("NAME", name).replace("TEST", test[1])
    return {
        "main.go": f"package main\n{lines}\n{secret}\n{body}\n{parts.own_tests}\n{mark}",
    }


def _code(code: str) -> str:
    """Return code without its package clause and imports."""
    return _IMPORTS.sub("", _PACKAGE.sub("", code, count=1))


def _used(one: tuple[str, str], text: str) -> bool:
    alias, path = one
    name = alias or path.strip('"`').rpartition("/")[2]
    return name in ("_", ".") or re.search(rf"\b{re.escape(name)}\.", text) is not None
