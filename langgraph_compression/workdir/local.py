"""A local folder as store: writes that survive a crash, links that cannot lead out."""

import errno
import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from posixpath import basename, join, split
from typing import BinaryIO

from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.folder import Folder, opened
from langgraph_compression.workdir.paths import READ_ONLY, is_read_only
from langgraph_compression.workdir.store import Store


class LocalStore(Store):
    """Files below a folder of this machine.

    Links inside are followed, those that lead out are refused; a write follows none into the
    folder that is only read. Where folders cannot be held open (Windows), a link that somebody
    makes between the check and the write is still followed.

    Args:
        folder: The folder; made with the first file. A relative one is taken from the current
            directory at the first use, because asking for that blocks.
    """

    at_once = 8  # a disk syncs several files about as fast as one

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        self._absolute: str | None = None
        self._tidied: set[str] = set()

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

    def target(self, path: str) -> str:
        """Where a write to this path ends up once its links are followed.

        Raises:
            WorkdirError: Out of the workdir, or in a folder that is only read.
        """
        base, real = self._root(), self._real(path)
        kept = os.path.realpath(os.path.join(base, READ_ONLY))
        form = "" if real == base else Path(os.path.relpath(real, base)).as_posix()
        if is_read_only(form) or Path(real).is_relative_to(kept):
            raise WorkdirError(f"{path} leads into {READ_ONLY} through a link: it can only be read")
        return form

    def put(self, path: str, text: str, *, new: bool) -> None:
        """Write beside the file, sync, and move into place."""
        above, name = split(path)
        with self._opened(above) as folder:
            folder.put(name, text, new=new)

    def put_missing(self, files: Mapping[str, str]) -> set[str]:
        """Write those files that are not there, as `put` would.

        Args:
            files: Path → text.

        Returns:
            Paths of files that are there now and stay after a crash; what is wrong with the
            others is found when they are put one by one.
        """
        folders: dict[str, dict[str, str]] = defaultdict(dict)
        for path, text in files.items():
            above, name = split(path)
            folders[above][name] = text
        there = set[str]()
        for above, inside in folders.items():
            with suppress(OSError, WorkdirError), self._opened(self.target(above)) as folder:
                there |= {join(above, name) for name in folder.put_missing(inside)}
        return there

    def put_named(self, folder: str, parts: Iterable[str], path: Callable[[], str]) -> None:
        """Write a new file that is named by its content, part by part, as `put` would.

        A file that is there already stays as it is, and counts even where nothing can be
        written.

        Args:
            folder: Where.
            parts: What, in order; they can be encoded. Nobody holds the whole.
            path: Where in the folder, asked for when all parts are written.
        """
        rest = iter(parts)
        try:
            with self._opened(self.target(folder)) as place, place.draft(rest) as draft:
                with suppress(FileExistsError):
                    place.link(draft, basename(path()))
                place.sync()
        except OSError:
            for _ in rest:  # only then the name is known
                pass
            if not self.has(path()):
                raise

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

    @contextmanager
    def _opened(self, path: str) -> Iterator[Folder]:
        """The folder at a path without links. The first time, what was abandoned is removed."""
        with opened(self._root(), path) as folder:
            try:
                yield folder
            finally:
                if path not in self._tidied:
                    self._tidied.add(path)
                    folder.remove_abandoned()

    def _base(self) -> str:
        if self._absolute is None:
            self._absolute = os.path.abspath(self._folder.expanduser())
        return self._absolute

    def _root(self) -> str:
        return os.path.realpath(self._base())

    def _real(self, path: str) -> str:
        """Where a path is once its links are followed; one that leads out is refused."""
        base = self._root()
        real = os.path.realpath(os.path.join(base, path))
        if os.path.commonpath([base, real]) != base:
            raise WorkdirError(f"{path} leads out of the workdir through a link")
        return real
