"""The language table: one row a language, data only. Users add rows with `register`.

The backend replaces words in braces, those for memory in each run:

    {tool} {runtime}   real paths of the compiler or interpreter, and of what runs its output
    {folder}           the folder of the tool
    {source} {binary}  the main file, and the compiler's output
    {main}             the class that is run (Java)
    {memory_mb} {memory_bytes}   the run's memory limit
    {heap_mb}          a little more than the limit: a program that needs too much memory is then
                       ended by the limit, and not by its runtime with an error
    {stack_mb}         the memory limit, at most what the JVM accepts as a stack
    {stack_kb} {stack_bytes}   the memory limit, at most what Node and Ruby accept
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from gradebox.sandbox.errors import UnknownLanguage
from gradebox.sandbox.model import MIB

LARGEST_STACK_MB = 1000  # of the JVM
# V8 counts the bytes of its stack in 31 bits: with 2048 MB every program ended with "Maximum call
# stack size exceeded". Ruby crashes with 64 GB.
LARGEST_STACK_BYTES = 2047 * MIB


@dataclass(frozen=True)
class Language:
    """How programs of one language are compiled and run.

    name         the name in records
    aliases      other names, in solutions files and Markdown fences
    source       file name of the main file
    tool         candidates for the compiler or interpreter; the first one found is used
    compile      arguments of the compiler; None: the source itself is run
    run          the command
    version      arguments with which the tool prints its version
    install      the command that installs it on Debian
    piston       (language, version) to request from a Piston server
    processes    processes and threads that its runtime needs
    family       "g++", "gcc": compilers whose options for faster builds are known;
                 "java": the file must be named after its class;
                 "python": the interpreter can compile without running (python_compile.py);
                 "kotlin", "c#", "go": several sources are compiled together, as those above
    runtime      candidates for what runs the compiler's output (java, mono)
    output       file name of that output; empty: an executable
    then         a second command after the compiler
    environment  NAME=value for both commands; `{work}` is their working folder
    binds        patterns of host paths that they need besides their installation
    own_folder   an installation outside /usr is a single folder and needed as a whole
    reads_proc   the runtime cannot start where /proc is hidden (level landlock)
    sysroot      arguments with which a version manager's proxy prints the real installation
    hello        a program that reads a line and prints it: shows that the language works; empty: it
                 is taken to work
    base         of a variant: the name of the row in TABLE that it was made from
    """

    name: str
    aliases: tuple[str, ...]
    source: str
    tool: tuple[str, ...]
    compile: tuple[str, ...] | None
    run: tuple[str, ...]
    version: tuple[str, ...] = ("--version",)
    install: str = ""
    piston: tuple[str, str] = ("", "*")
    processes: int = 1
    family: str = ""
    runtime: tuple[str, ...] = ()
    output: str = ""
    then: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()
    own_folder: bool = False
    reads_proc: bool = False
    sysroot: tuple[str, ...] = ()
    hello: str = ""
    base: str = ""


_HELLO_C = """\
#include <stdio.h>
int main(void) { char s[99]; return !fgets(s, 99, stdin) || fputs(s, stdout) < 0; }
"""
# Headers that compile fast, and a symbol of the C++ library.
_HELLO_CPP = """\
#include <cstdio>
#include <exception>
int main() { char s[99]; if (!std::fgets(s, 99, stdin)) std::terminate(); std::fputs(s, stdout); }
"""
_HELLO_PYTHON = "print(input())\n"
_JAVA_BINDS = ("/etc/java-*", "/usr/share/java")
# The serial collector has no threads. All of the heap counts, so it is kept close to the live
# objects. Nothing is mapped into /tmp.
_JVM = (
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-Xms8m",
    "-Xmx{heap_mb}m",
    "-XX:NewRatio=5",
    "-XX:MinHeapFreeRatio=20",
    "-XX:MaxHeapFreeRatio=40",
    "-Xss{stack_mb}m",
    "-Dfile.encoding=UTF-8",
    "-Dstdout.encoding=UTF-8",
    "-Duser.language=en",
)


def _cpp(std: str, *aliases: str) -> Language:
    return Language(
        name=f"c++{std}",
        aliases=aliases,
        source="main.cpp",
        tool=("g++",),
        compile=(f"-std=c++{std}", "-O2", "-DONLINE_JUDGE", "{source}", "-o", "{binary}"),
        run=("{binary}",),
        install="apt-get install g++",
        piston=("c++", "*"),
        family="g++",
        hello=_HELLO_CPP,
    )


ROWS = (
    Language(
        name="python",
        aliases=("python3", "py", "py3", "cpython"),
        source="main.py",
        tool=("python3",),
        compile=None,
        run=("{tool}", "{source}"),
        install="apt-get install python3",
        piston=("python", "*"),
        family="python",
        hello=_HELLO_PYTHON,
    ),
    _cpp("17", "c++", "cpp", "cpp17", "cxx", "g++", "g++17", "gnu++17", "cc"),
    _cpp("11", "cpp11", "g++11", "gnu++11", "c++0x"),
    _cpp("14", "cpp14", "g++14", "gnu++14"),
    _cpp("20", "cpp20", "g++20", "gnu++20"),
    _cpp("23", "cpp23", "g++23", "gnu++23"),
    Language(
        name="c",
        aliases=("gcc", "c17", "c11", "c99", "gnu17", "gnu11"),
        source="main.c",
        tool=("gcc",),
        compile=("-std=gnu17", "-O2", "-DONLINE_JUDGE", "{source}", "-o", "{binary}", "-lm"),
        run=("{binary}",),
        install="apt-get install gcc libc6-dev",
        piston=("c", "*"),
        family="gcc",
        hello=_HELLO_C,
    ),
    Language(
        name="pypy3",
        aliases=("pypy", "pypy3.9", "pypy3.10", "pypy3-64"),
        source="main.py",
        tool=("pypy3",),
        compile=None,
        # Otherwise it reads a cache size from /proc/cpuinfo and warns on stderr.
        run=("/usr/bin/env", "PYPY_GC_NURSERY=4M", "{tool}", "{source}"),
        install="apt-get install pypy3",
        piston=("pypy", "*"),
        family="python",
        hello=_HELLO_PYTHON,
    ),
    Language(
        name="java",
        aliases=("java8", "java11", "java17", "java21", "openjdk"),
        source="Main.java",
        tool=("javac",),
        runtime=("java",),
        output="program.jar",
        compile=(
            "-J-XX:+UseSerialGC",
            "-J-XX:TieredStopAtLevel=1",
            "-J-XX:-UsePerfData",
            "-J-Xss64m",
            "-J-Xmx1024m",
            *("-encoding", "UTF-8", "-proc:none", "-nowarn", "-d", "classes", "{source}"),
        ),
        then=(
            "{folder}/jar",
            "-J-XX:+UseSerialGC",
            "-J-XX:TieredStopAtLevel=1",
            "-J-XX:-UsePerfData",
            *("--create", "--no-compress", "--file", "{binary}", "-C", "classes", "."),
        ),
        run=("{runtime}", *_JVM, "-cp", "{binary}", "{main}"),
        version=("-version",),
        install="apt-get install default-jdk-headless",
        piston=("java", "*"),
        processes=24,
        family="java",
        binds=_JAVA_BINDS,
        own_folder=True,
        hello="class Main { public static void main(String[] a) {"
        " System.out.println(new java.util.Scanner(System.in).nextLine()); } }\n",
    ),
    Language(
        name="javascript",
        aliases=("js", "node", "nodejs", "node.js", "node-js", "mjs", "cjs"),
        source="main.js",
        tool=("node", "nodejs"),
        compile=None,
        run=(
            "{tool}",
            "--max-old-space-size={heap_mb}",
            "--stack-size={stack_kb}",
            "--single-threaded-gc",
            "{source}",
        ),
        install="apt-get install nodejs",
        piston=("javascript", "*"),
        processes=16,
        binds=("/usr/share/nodejs", "/etc/ssl/openssl.cnf"),
        hello="console.log(require('fs').readFileSync(0, 'utf8').split('\\n')[0]);\n",
    ),
    Language(
        name="go",
        aliases=("golang",),
        source="main.go",
        tool=("go",),
        family="go",
        compile=("build", "-p", "1", "-o", "{binary}", "{source}"),
        run=("{binary}",),
        version=("version",),
        install="apt-get install golang-go",
        piston=("go", "*"),
        processes=16,
        environment=(
            *("GOCACHE={work}/.go", "GOPATH={work}/.path", "GOTMPDIR={work}", "GOFLAGS="),
            *("GO111MODULE=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0", "GOPROXY=off"),
        ),
        binds=("/usr/share/go-*", "/usr/share/go"),
        sysroot=("env", "GOROOT"),
        own_folder=True,
        hello='package main\nimport ("bufio"; "fmt"; "os")\nfunc main() {'
        " s, _ := bufio.NewReader(os.Stdin).ReadString(10); fmt.Print(s) }\n",
    ),
    Language(
        name="rust",
        aliases=("rs", "rustc", "rust2021"),
        source="main.rs",
        tool=("rustc",),
        compile=(
            *("--edition=2021", "-O", "-C", "codegen-units=1", "--cap-lints=allow"),
            *("--crate-name=program", "{source}", "-o", "{binary}"),
        ),
        run=("{binary}",),
        install="apt-get install rustc gcc",
        piston=("rust", "*"),
        sysroot=("--print", "sysroot"),
        hello="fn main() { let mut s = String::new();"
        ' std::io::stdin().read_line(&mut s).unwrap(); print!("{}", s); }\n',
    ),
    Language(
        name="kotlin",
        aliases=("kt", "kotlinc", "kotlin-jvm"),
        source="Main.kt",
        tool=("kotlinc",),
        family="kotlin",
        runtime=("java",),
        output="program.jar",
        compile=("-nowarn", "-include-runtime", "-d", "{binary}", "{source}"),
        run=("{runtime}", *_JVM, "-jar", "{binary}"),
        version=("-version",),
        install="apt-get install kotlin default-jre-headless",
        piston=("kotlin", "*"),
        processes=24,
        environment=("JAVA_OPTS=-Xmx1024m -Xss64m -XX:+UseSerialGC -XX:-UsePerfData",),
        binds=(*_JAVA_BINDS, "/usr/share/kotlin*", "/usr/share/maven-repo"),
        own_folder=True,
        hello="fun main() { println(readLine()) }\n",
    ),
    Language(
        name="c#",
        aliases=("csharp", "cs", "c-sharp", "mono", "mcs", "dotnet"),
        source="Main.cs",
        tool=("mcs",),
        family="c#",
        runtime=("mono",),
        output="program.exe",
        compile=(
            *("-optimize+", "-nologo", "-warn:0", "-codepage:utf8", "-define:ONLINE_JUDGE"),
            *("-r:System.Numerics.dll", "-out:{binary}", "{source}"),
        ),
        run=("{runtime}", "--optimize=all", "{binary}"),
        install="apt-get install mono-mcs mono-runtime",
        piston=("mono", "*"),
        processes=16,
        binds=("/etc/mono",),
        reads_proc=True,
        hello="class Hello { static void Main() {"
        " System.Console.WriteLine(System.Console.ReadLine()); } }\n",
    ),
    Language(
        name="ruby",
        aliases=("rb", "ruby3"),
        source="main.rb",
        tool=("ruby",),
        compile=None,
        # The default stack is 1 MB: ten thousand calls.
        run=("/usr/bin/env", "RUBY_THREAD_VM_STACK_SIZE={stack_bytes}", "{tool}", "{source}"),
        install="apt-get install ruby",
        piston=("ruby", "*"),
        processes=4,
        hello="puts gets\n",
    ),
)
TABLE: dict[str, Language] = {row.name: row for row in ROWS}


# Other ways to compile or start a language of TABLE, found by their exact name and listed nowhere.
VARIANTS: dict[str, Language] = {}


def register(row: Language) -> None:
    """Add a row, or replace the row of the same name."""
    TABLE[row.name] = row


# The compiler's vendor, version and word size, as Codeforces writes them.
MOST_NAME = 100  # characters of a language's name
DECORATION = re.compile(r"^gnu(?=\s)|\s*\(gcc [^)]*\)$|[\s(-]+64\)?$|\s+")


def find(name: str) -> Language:
    """Return the row for a name or alias in any case, also as Codeforces writes it.

    Examples: "GNU C++20 (64)", "C++17 (GCC 7-32)", "Python 3". Raises UnknownLanguage with the
    most similar name.
    """
    if name in VARIANTS:
        return VARIANTS[name]
    wanted = name.strip().lower() if len(name) <= MOST_NAME else ""
    for spelling in (wanted, DECORATION.sub("", wanted)):
        for row in TABLE.values():
            if spelling == row.name or spelling in row.aliases:
                return row
    known = [n for row in TABLE.values() for n in (row.name, *row.aliases)]
    near = difflib.get_close_matches(wanted, known, n=1)
    hint = f"; did you mean {near[0]!r}" if near else ""
    raise UnknownLanguage(
        f"unknown language {name[:MOST_NAME]!r}{hint}; known: {', '.join(TABLE)} "
        "(sandbox/languages.py)"
    )


def memory_places(memory_bytes: int) -> dict[str, str]:
    """Return the replacements in commands for a run's memory limit."""
    megabytes = max(1, memory_bytes // MIB)
    stack = min(memory_bytes, LARGEST_STACK_BYTES)
    return {
        "{memory_mb}": str(megabytes),
        "{memory_bytes}": str(memory_bytes),
        "{heap_mb}": str(megabytes + megabytes // 8 + 16),
        "{stack_mb}": str(min(megabytes, LARGEST_STACK_MB)),
        "{stack_kb}": str(stack // 1024),
        "{stack_bytes}": str(stack),
    }


def fill(part: str, places: Mapping[str, str]) -> str:
    """Return a word of a command with its places replaced, once: values are not searched again."""
    at = part.find("{")
    while at >= 0:
        name = part[at : part.find("}", at) + 1]
        value = places.get(name)
        if value is not None:
            part = part[:at] + value + part[at + len(name) :]
        at = part.find("{", at + (1 if value is None else len(value)))
    return part
