"""Programs put together from pieces: by fork and by a plain start they show the same."""

import textwrap
from collections.abc import Iterator

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.sandbox.box.python.both_ways import BothWays, Seen, both_ways
from tests.sandbox.box.python.programs import TABLES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("python both ways"),
]

MODULES = (
    "heapq", "bisect", "json", "json.decoder", "collections", "collections.abc", "concurrent",
    "concurrent.futures", "xml", "xml.dom", "xml.etree.ElementTree", "decimal", "fractions", "re",
    "string", "logging", "threading", "functools", "os.path", "this", "sched", "queue", "random",
    "no_such_module", "unittest.mock", "email", "email.mime.text", "importlib.util", "numpy",
)  # fmt: skip
NAMES = ("*", "path", "futures", "etree", "dom", "abc", "deque", "mime", "linalg", "nothing")
INSPECTIONS = (
    "print(len(sys.modules), list(sys.modules)[-3:])",
    "print([m for m in sorted(sys.modules) if m.startswith(('x', 'c', 'j', 'e'))])",
    "print([sorted(k for k in vars(m) if k[0] != '_') for m in (sys.modules.get('xml'),) if m])",
    "print(sorted(k for k in globals() if k[:2] != '__'))",
    "print(hasattr(sys.modules.get('concurrent'), 'futures'))",
    "del sys.modules[list(sys.modules)[-1]]",
    "sys.path.insert(0, '/tmp')",
    "x = sys.path.reverse()",
    "x = __import__('json')",
)


def statement(kind: int, module: str, name: str) -> str:
    return (f"import {module}", f"import {module} as m", f"from {module} import {name}")[kind]


imports = st.builds(statement, st.integers(0, 2), st.sampled_from(MODULES), st.sampled_from(NAMES))
placed = st.builds(
    str.format,
    st.sampled_from(
        (
            "{0}",
            "{0}",
            "try:\n    {0}\nexcept ImportError as e:\n    print(e)",
            "def f():\n    {0}\nf()",
            "class C:\n    {0}",
            "if len(sys.argv) > 3:\n    {0}",
            "x = (lambda: exec('{0}'))()",
        )
    ),
    imports.filter(lambda text: not text.endswith("*")) | st.just("import bisect, sys"),
)


def pieces(*topics: str) -> list[str]:
    """Return the programs of the topics that are texts and can be followed by another."""
    return [
        source
        for topic in topics
        for source in TABLES[topic].values()
        if isinstance(source, str) and "__future__" not in source
    ]


GOES_ON = pieces("finalization", "imports", "streams")
ENDS = pieces("endings")
whole = st.lists(st.sampled_from(GOES_ON), min_size=1, max_size=4)
wrapped = whole.map(
    lambda parts: [
        f"def piece{i}():\n{textwrap.indent(part, '    ')}\n    pass\npiece{i}()\n"
        if i % 2
        else part
        for i, part in enumerate(parts)
    ]
)


@pytest.fixture(scope="module")
def start() -> Iterator[BothWays]:
    with both_ways("full") as both:
        yield both


def lines_of(seen: Seen) -> Seen:
    """Leave out the order of lines: the collector's at the interpreter's end may differ."""
    return {k: sorted(v.splitlines()) if isinstance(v, bytes) else v for k, v in seen.items()}


def check(start: BothWays, source: str, *, in_order: bool = True) -> None:
    note(source)
    forked, plain = start.run(source.encode("utf-8", "surrogatepass"))
    assert forked == plain if in_order else lines_of(forked) == lines_of(plain)


@given(st.lists(placed | st.sampled_from(INSPECTIONS), min_size=2, max_size=10))
@settings(max_examples=30)
def test_imports(start: BothWays, lines: list[str]) -> None:
    check(start, "\n".join(["import sys", *lines, INSPECTIONS[1], INSPECTIONS[3]]))


@given(whole | wrapped, st.sampled_from(ENDS))
@settings(max_examples=30)
def test_several_programs_in_one(start: BothWays, parts: list[str], end: str) -> None:
    check(start, "\n".join([*parts, end]), in_order=False)
