"""The requests of the comparison, as a table. What a real Piston answers is in answers.json.

`ours` has the parts of the answer in which our server differs, `why` the reason; `why` alone says
why a request is here that another server could get wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

NONE: Any = object()  # in `request`: leave the field out
EXECUTE = "/api/v2/execute"


@dataclass(frozen=True)
class Case:
    """One request. `raw` is sent as it is; otherwise `request` is, as JSON."""

    name: str
    request: dict[str, Any] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    method: str = "POST"
    path: str = EXECUTE
    raw: bytes | None = None
    content_type: str | None = "application/json"


def python(name: str, source: str, ours: Any = None, why: str = "", **fields: Any) -> Case:
    """Return a case of a Python program; a field that is NONE is left out."""
    return program(name, "python", "main.py", source, ours, why, **fields)


def program(
    name: str,
    language: str,
    file: str,
    source: str,
    ours: Any = None,
    why: str = "",
    **fields: Any,
) -> Case:
    files = [{"name": file, "content": source}, *fields.pop("more", [])]
    body = {"language": language, "version": "*", "files": files, **fields}
    return Case(name, {k: v for k, v in body.items() if v is not NONE}, ours or {}, why)


def cpp(name: str, source: str, ours: Any = None, why: str = "", **fields: Any) -> Case:
    """Return a case of a C++ program."""
    return program(name, "c++", "main.cpp", source, ours, why, **fields)


def file(name: str, content: Any, encoding: Any = None) -> dict[str, Any]:
    """Return a further file of a request."""
    made = {"name": name, "content": content}
    return made if encoding is None else {**made, "encoding": encoding}


def refused(name: str, ours: Any = None, why: str = "", **fields: Any) -> Case:
    """Return a case of a request that has something wrong, in one of its fields."""
    right = {
        "language": "python",
        "version": "*",
        "files": [{"name": "main.py", "content": "print(1)"}, *fields.pop("more", [])],
    }
    body = {k: v for k, v in {**right, **fields}.items() if v is not NONE}
    return Case(name, body, ours or {}, why)


ECHO = "import sys\nsys.stdout.write(repr(sys.stdin.read()))\n"
LS = "import os\nprint(sorted(os.path.join(a, f)[2:] for a, _, b in os.walk('.') for f in b))\n"
KILL = "import os, signal\nprint(1, flush=True)\nos.kill(os.getpid(), {})\n"
CASE = [file("input.txt", "2 3\n"), file("grader_config", "TIME_LIMIT=2\nMEMORY_LIMIT=256\n")]
EXPECTED = file("correct_output.txt", "5\n")
ADD = "print(sum(map(int, input().split())))\n"
NOT_JSON = "the request is not JSON: "
MESSAGE = "ours says what is wrong"
UNCHANGED = "stdin arrives unchanged"


def run(**fields: Any) -> dict[str, Any]:
    return {"run": fields}


REQUESTS = [
    # ---- a program's ends
    python("prints", "print('hi')"),
    python("prints to both", "import sys\nprint('a')\nprint('b', file=sys.stderr)"),
    python("prints nothing", ""),
    python("exits with 3", "raise SystemExit(3)"),
    python("exits with 255", "raise SystemExit(-1)"),
    python("traceback", "def f():\n    return 1 / 0\nf()\n"),
    python("syntax error", "print(\n"),
    python("missing module", "import nothing_like_this"),
    python("prints what is not UTF-8", "import os\nos.write(1, b'a\\xffb\\n')"),
    python("prints a NUL", "print('a\\0b')"),
    python("prints many characters", "print('漢' * 20, '😀' * 20)"),
    python("prints CR", "import sys\nsys.stdout.write('a\\r\\nb\\r')"),
    *(
        python(f"killed by {name}", KILL.format(f"signal.{name}"))
        for name in ("SIGSEGV", "SIGABRT", "SIGKILL", "SIGUSR1", "SIGTERM", "SIGFPE", "SIGPIPE")
    ),
    python("killed by a real-time signal", KILL.format(34)),
    python("exits with 139 itself", "raise SystemExit(139)"),
    cpp("c++ prints", '#include <cstdio>\nint main() { puts("hi"); }'),
    cpp("c++ crashes", "int main() { volatile int *p = nullptr; return *p; }"),
    cpp("c++ aborts", "#include <cstdlib>\nint main() { abort(); }"),
    cpp("c++ divides by zero", "int main(int c, char **) { return c / (c - 1); }"),
    cpp("c++ does not compile", "int main() { return x; }\n", why="the user's file name"),
    cpp("c++ warns", "#warning careful\nint main() {}\n"),
    program("c prints", "c", "main.c", '#include <stdio.h>\nint main(void) { puts("c"); }'),
    program("c uses sqrt", "c", "main.c", "#include <math.h>\nint main(int c, char **v)\n"
            "{ return (int)sqrt(c + 8.0); }"),
    # ---- limits
    python("wall time", "print(1, flush=True)\nimport time\ntime.sleep(9)", run_timeout=700),
    python("CPU time", "print(1, flush=True)\nwhile True: pass", run_cpu_time=300),
    python("limits of zero", "print(1)", run_timeout=0, run_cpu_time=0, run_memory_limit=0,
           why="0 means not given"),
    python("memory", "x = bytearray(10**9)", run(message="Memory limit exceeded"),
           "ours names the limit", run_memory_limit=60_000_000),
    python("memory limit -1", "print(1)", run_memory_limit=-1, compile_memory_limit=-1,
           why="Piston's readme and piston_rspy send it"),
    python("stdout at the limit", "print('x' * 65535)"),
    python("stdout over the limit", "print('x' * 70000)",
           why="the cut output differs by the pieces that Piston happens to read"),
    python("stdout far over the limit", "while True: print('x' * 1000)"),
    python("stderr at the limit", "import sys\nsys.stderr.write('x' * 65536)"),
    python("stderr over the limit", "import sys\nsys.stderr.write('x' * 70000)"),
    refused("run_timeout over the limit", run_timeout=5001),
    refused("run_cpu_time over the limit", run_cpu_time=10**9),
    refused("compile_timeout over the limit", compile_timeout=10001),
    refused("run_timeout below zero", run_timeout=-1),
    refused("compile_cpu_time below zero", compile_cpu_time=-0.5),
    refused("run_timeout as text", run_timeout="1000"),
    refused("run_timeout as a list", run_timeout=[1]),
    refused("run_memory_limit as text", run_memory_limit="1"),
    refused("run_timeout is null", run_timeout=None),
    refused("run_timeout is a fraction", run_timeout=4000.5),
    # ---- input and arguments
    python("no stdin", ECHO, run(stdout="''"), UNCHANGED),
    python("empty stdin", ECHO, run(stdout="''"), UNCHANGED, stdin=""),
    python("stdin with a newline", ECHO, stdin="1 2\n"),
    python("stdin without a newline", ECHO, run(stdout="'1 2'"), UNCHANGED, stdin="1 2"),
    python("stdin with CR", ECHO, stdin="a\r\nb\r\n"),
    python("stdin with many characters", ECHO, stdin="漢字 😀 é\n"),
    python("stdin with a NUL", ECHO, stdin="a\0b\n"),
    python("stdin is null", ECHO, run(stdout="''"), UNCHANGED, stdin=None),
    refused("stdin is a number", {"body": {"message": "If specified, stdin must be a string"}},
            MESSAGE, stdin=5),
    python("long stdin", "print(len(open(0).read()))", run(stdout="90000\n"), UNCHANGED,
           stdin="x" * 90_000),
    python("args", "import sys\nprint(sys.argv)", args=["a", "b c", "", "--help", "'\"$x", "é"]),
    python("args are null", "import sys\nprint(sys.argv)", args=None),
    refused("args are a number",
            {"status": 400, "body": {"message": "If specified, args must be an array of strings"}},
            MESSAGE, args=5),
    python("args have numbers", "import sys\nprint(sys.argv)", args=["a", 1, -25, 1.5]),
    refused("args have an object",
            {"status": 400, "language": NONE, "run": NONE,
             "body": {"message": "If specified, args must be an array of strings"}},
            MESSAGE, args=[{}]),
    # ---- files
    python("two files", "import helper\nprint(helper.x)", more=[file("helper.py", "x = 5")]),
    python("the files are there", LS, more=[file("b.txt", "b"), file("c", "Yw==", "base64")]),
    python("a file in a folder", LS + "print(open('d/e/f.txt').read())",
           more=[file("d/e/f.txt", "hi")]),
    program("the main file in a folder", "python", "a/b/main.py", LS + "1/0\n"),
    python("a name with dots and slashes", LS, more=[file("./x//y/./z", "")]),
    program("a file without a name", "python", "", "print(__file__.rpartition('/')[2])"),
    program("a name with blanks", "python", "my prog.py", "1/0"),
    program("a name in another script", "python", "漢.py", "1/0"),
    python("base64", "print(open('d', 'rb').read())", more=[file("d", "AP/+", "base64")]),
    python("base64 of a URL", "print(open('d', 'rb').read())", more=[file("d", "-_8", "base64")]),
    python("hex", "print(open('d', 'rb').read())", more=[file("d", "00ff", "hex")]),
    python("an unknown encoding is text", "print(open('d').read())",
           more=[file("d", "AA==", "latin")],
           why="it does not count as the one utf8 file that a request needs"),
    refused("only base64", files=[file("a.py", "cHJpbnQoMSk=", "base64")]),
    program("the first text is the main file", "python", "main.py", "print('second')",
            files=[file("d", "AA==", "base64"), file("x.py", "print('first')"),
                   file("main.py", "print('second')")]),
    python("two files of one name", LS, more=[file("main.py", "print('last')")],
           why="the last one is kept"),
    *(
        refused(f"a file named {name}",
                {"status": 400, "body": {"message": f"files[1].name is {name!r}; it must be a path "
                                         "inside the working folder, without '..'"}},
                MESSAGE, more=[file(name, "")])
        for name in ("../x", "a/../../x", "..")
    ),
    python("an absolute name", LS,
           {"status": 400, "run": NONE, "language": NONE,
            "body": {"message": "files[1].name is '/x/y'; it must be a path inside the working "
                     "folder, without '..'"}},
           "Piston puts it into the working folder", more=[file("/x/y", "")]),
    cpp("c++ of two sources", "int f();\nint main() { return f(); }",
        more=[file("f.cpp", "int f() { return 4; }")]),
    cpp("c++ sources in folders", "int main() { return X; }",
        files=[file("graders/x.cpp", "int f();\nint main() { return f(); }"),
               file("graders/f.cpp", "int f() { return 5; }")],
        ours={"compile": {"code": 0, "status": None, "message": None, "stderr": ""},
              "run": {"code": 5, "status": "RE", "message": "Exited with error status 5",
                      "stderr": ""}},
        why="Piston's package of gcc compiles *.cpp of the working folder only; that of IOI "
            "problems takes them"),
    cpp("c++ with a header", '#include "x.h"\nint main() { return X; }',
        more=[file("x.h", "#define X 6\n")],
        ours={"compile": {"code": 0, "status": None, "message": None, "stderr": ""},
              "run": {"code": 6, "status": "RE", "message": "Exited with error status 6",
                      "stderr": ""}},
        why="Piston's package of gcc renames it to x.h.cpp"),
    cpp("c++ with a data file", '#include <cstdio>\nint main() { puts(fopen("d", "r") ? "y" : "n");'
        " }", more=[file("d", "AA==", "base64")]),
    # ---- languages and versions
    refused("unknown language", language="cobol"),
    refused("language in capitals", language="Python"),
    *(
        refused(f"version {version}", version=version)
        for version in ("*", "3", "3.x", ">=3.6", "<4", ">=3.0.0 <4.0.0", "3 - 4", "2.7 || 3.x",
                        "~3", "^3.1", "x", "2.x", "latest", ">=4", "99.0.0")
    ),
    refused("alias", language="py"),
    # ---- what is missing or of a wrong type
    refused("no language", language=NONE),
    refused("language is a number", language=5),
    refused("language is empty", language=""),
    refused("no version", version=NONE),
    refused("version is a number", version=3),
    refused("no files", files=NONE),
    refused("files are an object", files={"content": "1"}),
    refused("files are empty", files=[]),
    refused("a file without content", files=[{"name": "a.py"}]),
    refused("content is a number", files=[{"name": "a.py", "content": 1}]),
    refused("a file is null",
            {"status": 400, "body": {"message": "files[0].content is required as a string"}},
            MESSAGE, files=[None]),
    refused("unknown fields", nothing=[1, {"x": None}]),
    # ---- HTTP
    *(
        Case(f"body {raw[:20]!r}", raw=raw, ours={"status": 400, "body": body}, why=MESSAGE)
        for raw, body in (
            (b"", {"message": NOT_JSON + "Expecting value: line 1 column 1 (char 0)"}),
            (b"[1,", {"message": NOT_JSON + "Expecting value: line 1 column 4 (char 3)"}),
            (b"null", {"message": "the request must be a JSON object"}),
            (b"[]", {"message": "the request must be a JSON object"}),
        )
    ),
    Case("another content type", raw=b"{}", content_type="text/plain"),
    Case("no content type", raw=b"{}", content_type=None),
    Case("content type with a charset", request={"language": "x", "version": "*", "files": []},
         content_type="application/json; charset=utf-8"),
    Case("a body over the limit", raw=b'{"x":"' + b"y" * 110_000 + b'"}',
         ours={"status": 413, "body": {"message": "the request is over 102400 bytes; send less, or "
                                       "start the server with a larger --body-limit"}},
         why="the status of HTTP"),
    Case("slash at the end", {"language": "x", "version": "*", "files": []}, path=EXECUTE + "/"),
    Case("unknown route", path="/api/v2/nothing"),
    Case("GET of execute", method="GET", raw=b"",
         ours={"status": 405, "body": {"message": "Method Not Allowed"}}, why="the status of HTTP"),
    Case("about", method="GET", path="/", raw=b"",
         ours={"body": {"message": "Piston v3.1.1", "gradebox": "…"}},
         why="clients see whose server it is"),
    # ---- the Codeforces package
    *(
        program(f"case: {name}", "cf_python3", "main.python", source, ours, why, more=more)
        for name, source, more, ours, why in (
            ("accepted", ADD, [*CASE, EXPECTED], {}, ""),
            ("wrong", "print(6)", [*CASE, EXPECTED],
             run(stderr="Output isn't correct (diff)\n"),
             "Piston's package prints the names of its pipes as well"),
            ("crashes", "1/0", [*CASE, EXPECTED], {}, ""),
            ("without an expected output", ADD, CASE, {}, ""),
            ("by a checker", "print(7)",
             [*CASE, EXPECTED, file("checker.py", "print(100)")], {}, ""),
            ("refused by a checker", "print(5, end=' ')",
             [*CASE, EXPECTED, file("checker.py", "print(0)")], {}, ""),
            ("accepted by its bytes", ADD, [*CASE, EXPECTED, file("checker.py", "print(0)")],
             run(stdout="1\n", stderr="Output is correct (diff)\n"),
             "the very bytes of the expected output are right without asking the checker"),
        )
    ),
    program("case: c++17", "c++17", "main.cpp",
            "#include <cstdio>\nint main() { int a, b; scanf(\"%d%d\", &a, &b); "
            'printf("%d\\n", a + b); }', more=[*CASE, EXPECTED]),
    program("case: does not compile", "c++17", "main.cpp", "int main() { return x; }",
            more=[*CASE, EXPECTED]),
]  # fmt: skip
