"""The types of records' JSON objects are those that record.py defines."""

import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from msgspec import UnsetType

from gradebox.eval.results.record import CaseRecord, SolutionRecord, SubtaskPoints
from gradebox.eval.results.record_objects import Case, PointsOf, Record

OBJECTS = {CaseRecord: Case, SubtaskPoints: PointsOf, SolutionRecord: Record, Literal[2]: int}


def as_object(hint: Any) -> Any:
    """Return the type of a field's JSON value."""
    hint = OBJECTS.get(hint, hint)
    if get_origin(hint) is tuple:
        return list[as_object(get_args(hint)[0])]
    if get_origin(hint) in (Union, types.UnionType):
        members = tuple(m for m in get_args(hint) if m is not UnsetType)
        return Union[tuple(map(as_object, members))]  # noqa: UP007
    return hint


@pytest.mark.parametrize("struct", [CaseRecord, SubtaskPoints, SolutionRecord])
def test_an_object_has_the_fields_of_the_struct(struct):
    hints = get_type_hints(struct)
    optional = {name for name, hint in hints.items() if UnsetType in get_args(hint)}
    made = OBJECTS[struct]
    assert get_type_hints(made) == {name: as_object(hint) for name, hint in hints.items()}
    assert made.__optional_keys__ == optional
