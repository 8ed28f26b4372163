"""Built-ins that read one value: hcmp, icmp, acmp and rcmp, dcmp, yesno.

Each reads the answer first, then the output. More tokens in the answer file matter for hcmp only.
More tokens in the output are a presentation error when the value was right.
"""

from __future__ import annotations

from collections.abc import Callable

from gradebox.checkers.builtins.stream import (
    INT32,
    Stream,
    close_to,
    failed,
    finish,
    is_integer,
    near,
    presentation_error,
    wrong,
)
from gradebox.checkers.tokens import shown


def _streams(output: bytes, answer: bytes) -> tuple[Stream, Stream]:
    return Stream(output, "output"), Stream(answer, "answer")


def hcmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same integer of any length, compared as text."""
    out, ans = _streams(output, answer)
    expected, found = ans.word(), out.word()
    if not is_integer(expected):
        raise failed(f"'{shown(expected)}' in the answer file is not an integer")
    if not ans.at_end():
        raise failed("more than one token in the answer file")
    if not is_integer(found):
        raise presentation_error(f"'{shown(found)}' is not an integer")
    if expected != found:
        raise wrong(f"expected {shown(expected)}, found {shown(found)}")
    raise finish(out, f"the answer is {shown(expected)}")


def icmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same 32-bit integer."""
    out, ans = _streams(output, answer)
    expected, found = _int32(ans), _int32(out)
    if expected != found:
        raise wrong(f"expected {expected}, found {found}")
    raise finish(out, f"the answer is {expected}")


def _int32(stream: Stream) -> int:
    value = stream.integer()
    if not -INT32 <= value < INT32:
        raise stream.fault(f"expected a 32-bit integer, found '{value}'")
    return value


def _one_double(
    output: bytes, answer: bytes, error: float, alike: Callable[[float, float, float], bool]
) -> None:
    out, ans = _streams(output, answer)
    expected, found = ans.double(), out.double()
    if not alike(expected, found, error):
        raise wrong(f"expected {expected:.10g}, found {found:.10g}, error over {error:g}")
    raise finish(out, f"the answer is {expected:.10g}")


def rcmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept a double with absolute error up to 1.5e-6."""
    _one_double(output, answer, 1.5e-6, near)


def dcmp(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept a double with absolute or relative error up to 1e-6."""
    _one_double(output, answer, 1e-6, close_to)


def yesno(_input: bytes, output: bytes, answer: bytes) -> None:
    """Accept the same YES or NO in any case."""
    out, ans = _streams(output, answer)
    first, second = ans.word(), out.word()
    expected, found = ans.as_yes_no(first), out.as_yes_no(second)
    if expected != found:
        raise wrong(f"expected {expected}, found {found}")
    raise finish(out, f"the answer is {expected}")
