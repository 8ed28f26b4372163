"""Runs the text of tests in a box of its own: the solution's functions are calls to another box.

    input.txt   the text of the tests
    answer.txt  {"prompt": …, "entry": …, "names": […], "classes": […]} as JSON, and "results",
                which a known solution has made (`write_results`), or the solution as "reference"

The text sees `candidate` and the names of the solution. It is executed here, with the problem's
own prompt before it, so that helpers and classes that tests use are the problem's and not the
solution's. `classes`, which may be missing, are those of unittest in the text, which are run then.
The last line of stderr says why the exit status is not 0:

| status | meaning                                                                        |
|--------|--------------------------------------------------------------------------------|
| 0      | everything held, and the solution was called                                   |
| 1      | something did not hold                                                         |
| 3      | the tests themselves cannot be run like this                                   |
| 4      | as 3: they pass an object that is neither data nor the solution's              |
| 5      | as 3: they pass data without an end, or too much; it may be the solution's     |
| 6      | as 1, and a result could not be sent                                           |

This text runs in boxes, behind peer.py. joined_side.py needs what is below `run_tests`.

Results that are too large to be sent, 1.3 GB of one row of MBPP+, are made beside the tests, one at
a time.
"""

import __future__

import ast
import builtins
import json
import os
import sys

from gradebox.checkers.values.codec import BadData, CannotCross, Side, pack, unpack
from gradebox.checkers.values.peer import Gone, Peer

FILE = "<tests>"
# Annotations stay text: `List` and classes in them may be the solution's, without operators here.
LATE = __future__.annotations.compiler_flag
# used in tests whose imports are in the solution
MODULES = frozenset(
    (
        *("array", "bisect", "collections", "copy", "datetime", "functools", "heapq", "itertools"),
        *("json", "math", "operator", "random", "re", "string", "sys"),
    )
)


def finish(status, message=""):
    """End at once; a thread of the tests cannot change the answer."""
    if message:
        text = " ".join(message.split())[:300]
        os.write(2, f"\n{text}\n".encode("utf-8", "backslashreplace"))
    os._exit(status)


def text_of(name):
    with open(name, encoding="utf-8", newline="") as file:  # noqa: PTH123 - without pathlib
        return file.read()


def run_tests():
    text = text_of("input.txt")
    spec = json.loads(text_of("answer.txt"))
    read_fd, write_fd = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    peer = Peer(read_fd, write_fd, True)
    module = type(sys)("tests")
    sys.modules["tests"] = module
    namespace = module.__dict__
    try:
        exec(compile(spec["prompt"], "<prompt>", "exec"), namespace)
        add_results(spec, namespace)
        tree = ast.parse(text)
        code = compile(tree, FILE, "exec", LATE)
    except Exception as error:  # noqa: BLE001 - whatever the texts raise
        finish(3, f"the tests cannot be run: {type(error).__name__}: {error}")
    of_prompt = set(namespace)
    peer.classes = {
        name: value
        for name, value in namespace.items()
        if isinstance(value, type) and value.__module__ == "tests"
    }
    read, attributes = free_names(tree)
    for name in (attributes & MODULES) - of_prompt:
        namespace[name] = __import__(name)
    wanted = sorted((set(spec["names"]) | read | attributes) - set(namespace))
    try:
        found = peer.request("names", wanted, sorted(peer.classes))
        if not isinstance(found, dict) or not set(found) <= {*wanted, "candidate"}:
            raise BadData("names")
        namespace.update(found)
        if spec["entry"].isidentifier():
            namespace[spec["entry"]] = found["candidate"]  # not what the prompt begins
        exec(code, namespace)
        if spec["entry"]:
            namespace["check"](namespace["candidate"])
        if spec.get("classes"):
            run_classes(namespace, spec["classes"], __import__("unittest"))
        if peer.broken is not None:
            raise peer.broken
    except Gone:
        finish(1, f"the program ended before the tests did: {failing_line(text)}")
    except BadData as error:
        finish(1, f"the program sent no value: {error}")
    except BaseException as error:  # noqa: BLE001 - whatever it raises
        if isinstance(error, CannotCross) and error.of != "peer":
            status = 4 if error.of == "own" else 5
            finish(status, f"the tests pass what cannot be sent, {error}: {failing_line(text)}")
        if isinstance(error, ModuleNotFoundError) and not peer.calls:
            finish(3, f"the tests import {error.name}, which the sandbox's Python does not have")
        unsent = isinstance(peer.broken, CannotCross) and peer.broken.of == "peer"
        finish(6 if unsent else 1, f"{failing_line(text)}{said_by(error)}")
    if not peer.calls:
        finish(3, "the tests never call the program")
    finish(0)


def add_results(spec, namespace):
    """Give a text the results of a known solution, where it has one."""
    if "results" in spec:
        (namespace["results"],) = unpack(spec["results"], Side(), shared=False)
    elif "reference" in spec:
        namespace["results"] = made_results(spec, namespace)


def write_results():
    """Write what a known solution returns for the inputs of a text, as codec.py writes values.

    stdin is {"reference", "entry", "text"} as JSON; the text has `inputs`, and may have
    `kept(result)`, what is compared of a result.
    """
    asked = json.loads(sys.stdin.buffer.read())
    out = os.dup(1)
    os.dup2(2, 1)
    tests = {}
    exec(compile(asked["text"], FILE, "exec"), tests)
    results = list(known_results(asked["reference"], asked["entry"], tests))
    data = json.dumps(pack([results], Side(), shared=False), separators=(",", ":")).encode()
    while data:
        data = data[os.write(out, data) :]


def known_results(reference, entry, tests):
    """Yield the result for each of a text's inputs, which stay as they are."""
    import copy

    solution = {"__name__": "solution"}
    exec(compile(reference, "<known solution>", "exec"), solution)
    kept = tests.get("kept")
    for given in tests["inputs"]:
        result = solution[entry](*copy.deepcopy(given))
        yield kept(result) if kept else result


def made_results(spec, namespace):
    try:
        yield from known_results(spec["reference"], spec["entry"], namespace)
    except Exception as error:  # noqa: BLE001 - whatever it raises
        why = f"{type(error).__name__}: {error}"
        finish(3, f"the row's known solution cannot be run: {why}")


def free_names(tree):
    """Return the names that a text reads and does not define, and those that only have `.x`."""
    read, attributes, defined = set(), set(), set(dir(builtins))
    bases = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            (attributes if id(node) in bases else read).add(node.id)
        elif isinstance(node, ast.Name):
            defined.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.alias):
            defined.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            defined.add(node.name)
    return read - defined, attributes - read - defined


def run_classes(namespace, names, unittest):
    """Run classes of tests as `unittest` does; raise what the first failing test raised.

    Raises AssertionError as well when a class has no test, or all are skipped.
    """

    class Result(unittest.TestResult):
        first = None

        def keep(self, test, error):
            self.first = self.first or error[1]
            self.stop()

        addError = addFailure = keep

        def addSubTest(self, test, subtest, error):
            if error is not None:
                self.keep(test, error)

        def addUnexpectedSuccess(self, test):
            self.keep(test, (None, AssertionError(f"{test} was expected to fail")))

    for name in names:
        result, suite = Result(), unittest.TestLoader().loadTestsFromTestCase(namespace[name])
        count = suite.countTestCases()
        suite.run(result)
        if result.first is not None:
            raise result.first
        if not max(count, result.testsRun) > len(result.skipped):
            raise AssertionError(f"{name} ran no test")


def said_by(error):
    """Return what an exception adds to the line of the tests that it comes from."""
    if isinstance(error, AssertionError):
        return f": {error}" if str(error) else ""
    return f": {type(error).__name__}: {error}"


def failing_line(text):
    """Return the line of the tests that the current exception comes from."""
    lines, trace, rows = [], sys.exc_info()[2], text.splitlines()
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f"line {lines[-1]}: {rows[lines[-1] - 1].strip()[:160]}" if lines else "the tests"
