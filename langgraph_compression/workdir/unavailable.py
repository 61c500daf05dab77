"""A workdir that could not be opened."""

from collections.abc import Iterable
from typing import BinaryIO, NoReturn

from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.store import Store


class NotOpened(WorkdirError):
    """The function or the sandbox of the host raised.

    Args:
        kind: The class of that error.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind

    def __str__(self) -> str:
        """The message."""
        return f"the workdir could not be opened ({self.kind})"


class Nowhere(Store):
    """Where nothing can be read or written: every use raises.

    Args:
        error: Why.
    """

    def __init__(self, error: NotOpened) -> None:
        self._kind = error.kind

    def _raise(self) -> NoReturn:
        raise NotOpened(self._kind)

    def read(self, path: str) -> bytes:
        """Raises."""
        self._raise()

    def open(self, path: str) -> BinaryIO:
        """Raises."""
        self._raise()

    def put(self, path: str, text: str, *, new: bool) -> None:
        """Raises."""
        self._raise()

    def has(self, path: str) -> bool:
        """Raises."""
        self._raise()

    def find(self, folder: str) -> Iterable[str]:
        """Raises."""
        self._raise()
