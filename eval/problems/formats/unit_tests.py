"""BigCodeBench and ClassEval: tests that are classes of unittest.

BigCodeBench  one class, TestCases, for a function; needs the libraries that `libs` names
ClassEval     a class for each method and one for all, each a test of its own
"""

from __future__ import annotations

import re
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.formats.row_format import (
    Judge,
    Row,
    RowFormat,
    assert_test,
    asserted,
    fields,
    of,
    text,
    text_with,
    texts,
)

# The originals have wall time: 240 s at least for a problem, 5 s for a class of tests; 30 GiB, none
BIGCODEBENCH_S, BIGCODEBENCH_MB = 60.0, 8192.0
CLASSEVAL_S, CLASSEVAL_MB = 5.0, 1024.0
MOST_LIBRARIES = 10_000  # characters of `libs`
_NAME = re.compile(r"\w+")
_CLASS = re.compile(r"^class[ \t]+(\w+)[ \t]*\(", re.MULTILINE)


def _libraries(value: Any) -> str:
    """Return the names in a list of libraries, or in its text, with commas between them."""
    names = " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value or "")
    return ",".join(_NAME.findall(names[:MOST_LIBRARIES]))


def _bigcodebench(row: Row, _judge: Judge) -> dict[str, Any]:
    entry, prompt = text(row, "entry_point", needed=True), text(row, "complete_prompt")
    begun = text(row, "code_prompt").rstrip()
    before = f"{begun}\n    pass\n" if begun else ""
    test = text(row, "test")
    tests = assert_test(test, entry, [], before, classes=["TestCases"], together=True)
    more = {"title": entry, "entry_point": entry, "prompt": prompt}
    gold = text(row, "canonical_solution")
    return asserted(tests, BIGCODEBENCH_S, BIGCODEBENCH_MB, gold, **more)


def _classeval(row: Row, _judge: Judge) -> dict[str, Any]:
    entry, test = text(row, "class_name", needed=True), text(row, "test")
    classes, prompt = texts(row, "test_classes"), "\n".join(texts(row, "import_statement"))
    if missing := set(classes) - set(_CLASS.findall(test)):
        raise RowError(f"test_classes has {shown(min(missing))}, which test does not define")
    tests = [one for name in classes for one in assert_test(test, "", [], prompt, classes=[name])]
    more = {"title": entry, "entry_point": entry, "prompt": prompt and f"{prompt}\n"}
    tests = [{**one, "name": name} for one, name in zip(tests, classes, strict=True)]
    return asserted(tests, CLASSEVAL_S, CLASSEVAL_MB, text(row, "solution_code"), **more)


BIGCODEBENCH = RowFormat(
    name="bigcodebench",
    needs=fields("task_id entry_point canonical_solution test code_prompt"),
    content={"test": text_with(r"^class TestCases\(", "does not define the class TestCases")},
    ids={"id": of("task_id"), "libraries": of("libs", read=_libraries)},
    uses=("complete_prompt", "code_prompt", "entry_point", "canonical_solution", "test"),
    convert=_bigcodebench,
)
CLASSEVAL = RowFormat(
    name="classeval",
    needs=fields("task_id class_name test_classes solution_code test"),
    content={"test": text_with(r"^class \w+\(", "does not define a class of tests")},
    ids={"id": of("task_id")},
    uses=("class_name", "test", "test_classes", "import_statement", "solution_code"),
    convert=_classeval,
)
FORMATS = (BIGCODEBENCH, CLASSEVAL)
