"""Where the files of a request are when it is compiled and run: in the box itself, too."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from gradebox.sandbox.languages import find
from gradebox.sandbox.server.layout import ARCHIVE, File, place
from testing.fakes.scripted_sandbox import FakeSandbox
from tests.sandbox.backends import open_backend, served


def files(*names: str, utf8: bool = True) -> list[File]:
    return [File(name, name.encode(), utf8) for name in names]


def test_an_interpreter_runs_the_users_file_in_the_working_folder(start):
    server = start()
    sent = [
        {"name": "solve.py", "content": "import helper"},
        {"name": "helper.py", "content": "x = 1"},
        {"name": "data.bin", "content": base64.b64encode(b"\xff").decode(), "encoding": "base64"},
        {"name": "more.bin", "content": "00ff", "encoding": "hex"},
    ]
    server.python(files=sent, args=["a", "b c"], collect=["out"])
    call = server.sandbox.calls[0]
    assert list(call.files) == ["solve.py", "helper.py", "data.bin", "more.bin"]
    assert (call.files["data.bin"], call.files["more.bin"]) == (b"\xff", b"\x00\xff")
    assert (call.args, call.collect) == (("solve.py", "a", "b c"), ("out",))


def test_the_main_file_is_the_first_text_and_never_an_option():
    placed = place(find("python"), [*files("data", utf8=False), *files("-c.py", "x.py")])
    assert placed.args == ("./-c.py",)
    assert list(placed.files) == ["data", "-c.py", "x.py"]


@pytest.mark.parametrize(
    ("language", "names", "kind", "compiled_as"),
    [
        ("c++17", ["a.cpp"], "c++17", "main.cpp"),
        ("c++17", ["a.cpp", "b.cpp", "h.h"], "c++17", "main.cpp"),
        ("c++17", ["a.cpp", "main.cpp"], "c++17 from folders", ""),
        ("c++17", ["file0.code", "file1.code"], "c++17 from folders", ""),
        ("c++17", ["graders/a.cpp"], "c++17 from folders unpacked", ""),
        ("c", ["x/a.c", "b.c"], "c from folders unpacked", ""),
        ("rust", ["a.rs", "d/x"], "rust unpacked", "main.rs"),
        ("python", ["a.py"], "python in place", ""),
        ("python", ["a/b.py"], "python in place unpacked", ""),
        ("python", [f"{i}.py" for i in range(61)], "python in place unpacked", ""),
    ],
)
def test_the_variant_of_a_language(language, names, kind, compiled_as):
    placed = place(find(language), files(*names))
    assert (placed.program.language, placed.compiled_as) == (kind, compiled_as)
    assert (list(placed.files) == [ARCHIVE]) is kind.endswith("unpacked")


def test_folders_are_refused_where_a_program_cannot_have_any(start):
    server = start(FakeSandbox(level="landlock"))
    answer = server.python(files=[{"name": "a/b.py", "content": ""}])
    assert answer.status_code == 400
    assert "which level landlock" in answer.json()["message"]
    assert server.sandbox.calls == []


def test_compilers_messages_have_the_users_file_name(start):
    log = b"main.cpp:1:2: error\nx main.cpp.h ./main.cpp /usr/main.cpp amain.cpp\n"
    server = start(FakeSandbox(compile_log=lambda source: log))
    sent = [{"name": "a \\1.cpp", "content": "x"}]
    stage = server.post(language="c++", version="*", files=sent).json()["compile"]
    assert stage["stderr"] == (
        "a \\1.cpp:1:2: error\nx main.cpp.h ./a \\1.cpp /usr/main.cpp amain.cpp\n"
    )


# ---- in the embedded box -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with open_backend("box") as box, served(box) as address:
        yield address + "/api/v2/execute"


def run(url: str, language: str, contents: dict[str, str], **more: Any) -> dict[str, Any]:
    sent = [{"name": name, "content": content} for name, content in contents.items()]
    body = {"language": language, "version": "*", "files": sent, **more}
    answer: dict[str, Any] = requests.post(url, json=body, timeout=60).json()
    return answer


def refused(answer: dict[str, Any]) -> bool:
    """Return whether the box has no folders, at level landlock."""
    return "level landlock" in answer.get("message", "")


@pytest.mark.slow(seconds=1)
def test_python_sees_its_files_under_their_names(url):
    source = (
        "import os, sys, helper\nprint(sorted(os.listdir()), sys.argv, open('data.txt').read())\n"
        "assert os.path.dirname(os.path.abspath(__file__)) == os.getcwd() == sys.path[0]\n1/0\n"
    )
    contents = {"my main.py": source, "helper.py": "", "data.txt": "hi"}
    stage = run(url, "python", contents, args=["x", "y z"])["run"]
    listed = sorted(contents)
    assert stage["stdout"] == f"{listed} ['my main.py', 'x', 'y z'] hi\n"
    assert 'my main.py", line 4, in <module>\n    1/0\n' in stage["stderr"]
    assert (stage["status"], stage["code"]) == ("RE", 1)


@pytest.mark.parametrize("name", ['q".cpp', "a\\.cpp", "-o.cpp", "main.cpp", "x.code"])
def test_cpp_sources_in_folders_and_of_any_name(url, name):
    contents = {
        "graders/sum.cpp": '#include "sum.h"\nint f();\nint main() { return f() + X; }\n',
        "graders/sum.h": "#define X 3\n",
        name: "int f() { return 4; }\n",
    }
    answer = run(url, "c++", contents)
    if refused(answer):
        return
    assert (answer["compile"]["code"], answer["run"]["code"]) == (0, 7), answer


def test_more_files_than_a_box_takes(url):
    contents = {"main.py": "import os\nprint(len(os.listdir()))\n"}
    contents |= {f"f{i}": str(i) for i in range(99)}
    answer = run(url, "python", contents)
    assert refused(answer) or answer["run"]["stdout"] == "100\n"
