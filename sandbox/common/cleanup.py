"""The `with` statement for everything that has a `close()`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self


class Closeable(ABC):
    """Base of objects that a `with` block closes at its end, also after an error."""

    @abstractmethod
    def close(self) -> None:
        """Release everything; a second call has no effect."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
