"""Names and options of built-ins, and the errors for wrong ones."""

import pytest

from gradebox.checkers import builtin
from gradebox.checkers.check import Checker, CheckerError
from testing.rows import rows


def test_options_by_keyword_and_by_name_are_the_same():
    by_name, by_keyword = (
        builtin("kattis float_tolerance 1e-3"),
        builtin("kattis", float_tolerance=1e-3),
    )
    for checker in (by_name, by_keyword, builtin("kattis float_tolerance=1e-3")):
        assert checker(b"", b"1.0005", b"1").accepted
        assert not checker(b"", b"1.005", b"1").accepted
    assert by_name.digest == by_keyword.digest


def test_absolute_and_relative_tolerance_differ():
    absolute = builtin("kattis float_absolute_tolerance 1e-3")
    relative = builtin("kattis float_relative_tolerance 1e-3")
    assert not absolute(b"", b"1000.5", b"1000").accepted
    assert relative(b"", b"1000.5", b"1000").accepted
    assert absolute(b"", b"0.0001", b"0").accepted
    assert not relative(b"", b"0.0001", b"0").accepted


def test_digests_differ_between_checkers_and_options():
    names = ("wcmp", "lcmp", "kattis", "kattis case_sensitive", "kattis float_tolerance 0.1")
    assert len({builtin(name).digest for name in names}) == len(names)


def test_a_builtin_is_a_checker():
    checker = builtin("wcmp")
    assert isinstance(checker, Checker)
    assert checker.check(b"", b"a", b"a").accepted
    assert checker(input=b"", output=b"a", answer=b"a").accepted


@pytest.mark.parametrize(
    ("name", "words"),
    rows(__file__, "wrong"),
)
def test_a_wrong_name_or_option_is_reported(name, words):
    with pytest.raises(CheckerError) as error:
        builtin(name)
    assert [word for word in words if word not in str(error.value)] == []
    assert "\n" not in str(error.value)
