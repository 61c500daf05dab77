"""A local folder as store: writes that survive a crash, links that cannot lead out."""

import errno
import os
import shutil
import stat
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.store import TEMPORARY, Store

_PART = 1 << 20
"""Characters that are encoded at once: a large text has no second copy in memory."""


class LocalStore(Store):
    """Files below a folder of this machine.

    Args:
        folder: The folder; made with the first file. A relative one is taken from the current
            directory at the first use, because asking for that blocks.
    """

    at_once = 8  # a disk syncs several files about as fast as one

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        self._absolute: str | None = None

    def read(self, path: str) -> bytes:
        """The whole file."""
        with self.open(path) as file:
            return file.read()

    def open(self, path: str) -> BinaryIO:
        """The file to be read piece by piece; a pipe or device is refused, it could block."""
        real = self._real(path)
        mode = os.stat(real).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, "no file")
        return open(real, "rb")

    def put(self, path: str, text: str, *, new: bool) -> None:
        """Write beside the file, sync, and rename into place."""
        real = self._real(path)
        folder = os.path.dirname(real)
        parts = (text[start : start + _PART] for start in range(0, len(text), _PART))
        with _draft(folder, parts) as temporary:
            if new:
                _link(temporary, real)
            else:
                with suppress(FileNotFoundError):
                    shutil.copymode(real, temporary)
                os.replace(temporary, real)
        _sync(folder)

    def put_named(self, folder: str, parts: Iterable[str], path: Callable[[], str]) -> None:
        """Write a new file that is named by its content, part by part, as `put` would.

        Args:
            folder: Where.
            parts: What, in order; they can be encoded. Nobody holds the whole.
            path: Where in the folder, asked for when all parts are written. A file that is
                there stays as it is.
        """
        real = self._real(folder)
        with _draft(real, parts) as temporary, suppress(FileExistsError):
            _link(temporary, self._real(path()))
        _sync(real)

    def has(self, path: str) -> bool:
        """Whether there is a regular file."""
        return os.path.isfile(self._real(path))

    def find(self, folder: str) -> Iterator[str]:
        """All files below a folder. Linked folders are not entered: their files have a path."""
        base = self._base()
        self._real(folder)
        for above, _, names in os.walk(os.path.join(base, folder)):
            inside = os.path.relpath(above, base)
            for name in names:
                path = name if inside == "." else Path(inside, name).as_posix()
                with suppress(WorkdirError):
                    if self.has(path):
                        yield path

    def _base(self) -> str:
        if self._absolute is None:
            self._absolute = os.path.abspath(self._folder.expanduser())
        return self._absolute

    def _real(self, path: str) -> str:
        """Where a path is once its links are followed; one that leads out is refused."""
        base = os.path.realpath(self._base())
        real = os.path.realpath(os.path.join(base, path))
        if os.path.commonpath([base, real]) != base:
            raise WorkdirError(f"{path} leads out of the workdir through a link")
        return real


@contextmanager
def _draft(folder: str, parts: Iterable[str]) -> Iterator[str]:
    """A synced file beside its place, to be moved there; it is gone at the end."""
    os.makedirs(folder, exist_ok=True)
    temporary = os.path.join(folder, f"{TEMPORARY}{uuid.uuid4().hex}")
    try:
        with open(temporary, "x", encoding="utf-8", newline="") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def _link(temporary: str, real: str) -> None:
    """Put a file in place unless one is there, in one step."""
    try:
        os.link(temporary, real)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: nearly in one step
        if os.path.lexists(real):
            raise FileExistsError(errno.EEXIST, "exists") from None
        os.replace(temporary, real)


def _sync(folder: str) -> None:
    """Let the new name survive a crash, where folders can be synced."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
