"""The port of the workdir: what it asks of a place where files are kept."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import BinaryIO

TEMPORARY = ".writing-"
"""How the name of a file begins that is still being written."""

ABANDONED_AFTER = 3600
"""Seconds since its last change after which such a file is nobody's: its writer was killed. A
write takes seconds; a writer that slept longer gets an error, never a file of other content."""


class Store(ABC):
    """A place where files are kept. Paths are checked already and relative, such as `a/b.txt`.

    Methods raise `FileNotFoundError` for what is not there and whatever the place itself
    raises; the workdir turns all of it into a `WorkdirError` that names no host path.
    """

    at_once: int = 1
    """How many files may be written at the same time, by as many threads."""

    @abstractmethod
    def read(self, path: str) -> bytes:
        """The whole file."""

    @abstractmethod
    def open(self, path: str) -> BinaryIO:
        """The file to be read piece by piece."""

    def target(self, path: str) -> str:
        """The path where a write to this path ends up, in a place that has links."""
        return path

    @abstractmethod
    def put(self, path: str, text: str, *, new: bool) -> None:
        """Write a file as UTF-8, complete or not at all.

        Args:
            path: Where, as `target` gave it; folders are made.
            text: What; it can be encoded.
            new: Raise `FileExistsError` if the file is there, as far as the place can tell.
        """

    @abstractmethod
    def has(self, path: str) -> bool:
        """Whether there is a file; False for a folder."""

    @abstractmethod
    def find(self, folder: str) -> Iterable[str]:
        """Paths of all files below a folder, in any order; "" is the root."""
