"""From a row of the language table to commands: file names, classes, replaced words."""

import dataclasses
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.solutions.extract_code import extract_code
from gradebox.sandbox.box.built_program import BuiltProgram
from gradebox.sandbox.box.toolchains.compiler import built_program, recipe
from gradebox.sandbox.box.toolchains.find import Tool
from gradebox.sandbox.languages import TABLE, fill, find
from gradebox.sandbox.model import MIB, Program
from gradebox.sandbox.source_tokens import java_names
from testing.rows import rows


@pytest.mark.parametrize(("source", "file", "main"), rows(__file__, "java"))
def test_the_java_file_is_named_after_its_class(source, file, main):
    assert java_names(source.encode()) == (file, main)


@given(st.binary(max_size=300) | st.text("{}\"/*'\\ \nclass A.public;package", max_size=200))
def test_java_names_are_plain_file_names(source):
    file, main = java_names(source if isinstance(source, bytes) else source.encode())
    assert file.endswith(".java") and not set(file) & set("/\0") and len(file.encode()) <= 255
    assert main and not set(main) & set("/\0 -'\"")


@given(st.text("{}ab", max_size=30), st.text("{}ab", max_size=10))
def test_words_in_braces_are_replaced_once(text, value):
    parts = text.split("{a}")
    assert fill(text, {"{a}": value}) == value.join(parts)


def test_the_runtime_is_given_the_memory_limit():
    row, tool = find("java"), Tool("/x/bin/javac", "", (), (), "/x/bin/java")
    program = Program("java", {"x": b"class A { static void main() {} }"})
    artifact = built_program(row, tool, program, b"jar")
    command = artifact.command("/program", ("one",), 512 * MIB)
    assert command[0] == "/x/bin/java"
    assert command[-4:] == ["-cp", "/program/program.jar", "A", "one"]
    assert {"-Xmx592m", "-Xss512m"} <= set(command)
    assert artifact.files == {"program.jar": b"jar"} and artifact.processes == row.processes
    assert "-Xss1000m" in artifact.command("/program", (), 4096 * MIB)


def test_arguments_are_never_changed():
    artifact = BuiltProgram(("{program}/x",), "d")
    assert artifact.command("/p", ["{program}", "{memory_mb}"]) == [
        "/p/x",
        "{program}",
        "{memory_mb}",
    ]


def test_the_main_file_is_renamed_for_its_language():
    tool = Tool("/usr/bin/node", "", ())
    program = Program("js", {"answer.txt": b"1", "helper.js": b"2", "main.js": b"3"})
    artifact = built_program(find("js"), tool, program)
    assert artifact.files == {"main.js": b"1", "helper.js": b"2"}
    assert artifact.argv[-1] == "{program}/main.js"


def test_two_commands_and_settings_use_a_shell():
    row = dataclasses.replace(find("java"), environment=("A={work}/x y", "B='$(no)"))
    made = recipe(row, Tool("/x/bin/javac", "", ()), Program("java", {"x": b"class It's {}"}))
    assert made.argv[:2] == ("/bin/sh", "-c") and list(made.files) == ["It.java"]
    script = made.argv[2]
    assert script.startswith("export A=''\"$PWD\"'/x y'; export B=''\"'\"'$(no)'; /x/bin/javac")
    assert " -d classes It.java && /x/bin/jar " in script


FENCES = """
    javascript: js javascript JavaScript node nodejs · go: go golang · rust: rust rs
    kotlin: kotlin kt · c#: c# csharp cs · ruby: ruby rb · java: java Java · c: c C gcc
    c++17: cpp c++ cc · pypy3: pypy3 pypy · python: python python3 py
"""
PAIRS = [
    (tag, language.strip())
    for language, _, tags in (part.partition(":") for part in re.split("·|\n", FENCES.strip()))
    for tag in tags.split()
]


@pytest.mark.parametrize(("tag", "language"), PAIRS)
def test_names_of_languages_in_models_answers(tag, language):
    assert find(tag).name == language
    assert extract_code(f"So:\n```{tag}\nx\n```\n", None) == ("x\n", language)


def test_no_two_rows_share_a_name():
    said = [name for row in TABLE.values() for name in (row.name, *row.aliases)]
    assert len(said) == len(set(said))
    assert all(name == name.lower() for name in said)


def test_the_docs_list_every_language_and_its_installation():
    page = (Path(__file__).parents[4] / "docs/languages.md").read_text()
    for row in TABLE.values():
        assert f"`{row.name}`" in page and f"`{row.install}`" in page, row.name
