"""The bodies of requests in other servers' dialects, checked field by field.

    JSON values ─ Body ─▶ texts, numbers, lists …
                    └ Invalid ─ answering ─▶ 422 {"detail": [{"loc": ["body", "code"], …}]}

The servers that we stand in for are written with FastAPI, so their clients know errors in its
form: 422 with a list for a wrong body, other statuses with a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradebox.eval.common.errors import InputError, shown
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.server.plugins import Route

Place = tuple[str | int, ...]


class Invalid(BadRequest):
    """A value of a body is wrong.

    where  names of fields and numbers of elements, from the body on
    kind   pydantic's name for what is wrong
    """

    def __init__(self, where: Place, kind: str, message: str, value: object = None) -> None:
        super().__init__(f"{'.'.join(map(str, where))}: {message}")
        self.detail = {"type": kind, "loc": list(where), "msg": message, "input": shown(value)}


def answering(route: Route) -> Route:
    """Return a route whose errors have FastAPI's form.

    422 a wrong body, 400 what else the client has to change, 503 a fault of the machine
    """

    def answer(body: Any, cancelled: Cancellation) -> tuple[int, Any]:
        try:
            return route(body, cancelled)
        except Invalid as error:
            return 422, {"detail": [error.detail]}
        except (BadRequest, InputError) as error:
            return 400, {"detail": str(error)}
        except SandboxError as error:
            return 503, {"detail": str(error)}

    return answer


class Body:
    """An object of a request, read field by field. Every method raises Invalid."""

    def __init__(self, value: Any, where: Place = ("body",)) -> None:
        if not isinstance(value, dict):
            raise Invalid(where, "model_attributes_type", "Input should be an object", value)
        self.values: Mapping[str, Any] = value
        self.where = where

    def has(self, name: str) -> bool:
        """Return whether a field is there and is not null."""
        return self.values.get(name) is not None

    def need(self, name: str) -> Any:
        """Return the value of a field that must be there."""
        if name not in self.values:
            raise Invalid((*self.where, name), "missing", "Field required")
        return self.values[name]

    def invalid(self, name: str, kind: str, message: str) -> Invalid:
        """Return the error for a field."""
        return Invalid((*self.where, name), kind, message, self.values.get(name))

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; without `default` it must be there."""
        value = self.need(name) if default is None else self.values.get(name, default)
        if not isinstance(value, str):
            raise self.invalid(name, "string_type", "Input should be a valid string")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a text, or None for null or nothing."""
        return self.text(name) if self.has(name) else None

    def number(self, name: str, default: float, most: float) -> float:
        """Return a number over 0 and up to `most`; the default for null or nothing."""
        if not self.has(name):
            return min(default, most)
        value = self.values[name]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.invalid(name, "float_type", "Input should be a valid number")
        if not value > 0:  # also for NaN
            raise self.invalid(name, "greater_than", "Input should be greater than 0")
        if value > most:
            raise self.invalid(
                name, "less_than_equal", f"Input should be less than or equal to {most:g}"
            )
        return float(value)

    def flag(self, name: str) -> bool:
        """Return whether a field is true in the sense of Python."""
        return bool(self.values.get(name))

    def list_of(self, name: str, default: Sequence[Any] | None = None) -> list[Any]:
        """Return a list; without `default` it must be there."""
        value = self.need(name) if default is None else self.values.get(name, default)
        if not isinstance(value, (list, tuple)):
            raise self.invalid(name, "list_type", "Input should be a valid list")
        return list(value)

    def texts(self, name: str, default: Sequence[str] | None = None) -> list[str]:
        """Return a list of texts; without `default` it must be there."""
        found = self.list_of(name, default)
        for number, value in enumerate(found):
            if not isinstance(value, str):
                place = (*self.where, name, number)
                raise Invalid(place, "string_type", "Input should be a valid string", value)
        return found

    def inner(self, name: str, default: Mapping[str, Any] | None = None) -> Body:
        """Return an object; without `default` it must be there."""
        value = self.need(name) if default is None else self.values.get(name, default)
        return Body(value, (*self.where, name))
