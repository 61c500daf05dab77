"""The workdir: where the files of one conversation live, and what may happen to them."""

import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple

from fsspec import AbstractFileSystem

from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.local import LocalStore
from langgraph_compression.workdir.location import store_at
from langgraph_compression.workdir.paths import checked, is_addressed, is_checked, writable
from langgraph_compression.workdir.store import Store
from langgraph_compression.workdir.tried import tried

_PART = 1 << 18
"""Characters or bytes that are read at once."""


class Slice(NamedTuple):
    """Part of a text file."""

    text: str
    end: bool
    """Whether the file ends here."""


class Workdir:
    """The files of one conversation.

    Everything that compression writes goes through `write_text` with the path that the model
    sees, such as `outputs/large_tool_results/…`; a subclass may add to it.

    Args:
        location: A local folder, any fsspec URL ("memory://name", "s3://bucket/prefix"), an
            fsspec file system, or a `Store`.
        root: Folder, or bucket and prefix, on a given file system.

    Raises:
        WorkdirError: The URL's protocol is unknown, or the package for it is not installed.

    >>> workdir = Workdir("memory://doc-workdir")
    >>> workdir.write_text("outputs/a.txt", "text")
    >>> workdir.read_text("/outputs/a.txt"), workdir.list()
    ('text', ['outputs/a.txt'])
    """

    def __init__(
        self,
        location: str | os.PathLike[str] | AbstractFileSystem | Store,
        *,
        root: str = "",
    ) -> None:
        self._store = store_at(location, root)

    def read_text(self, path: str) -> str:
        """The whole text of a file.

        Raises:
            WorkdirError: There is no such file, it is no UTF-8 text, or the path is refused.
        """
        form = checked(path)
        return tried("read", form, lambda: str(self._store.read(form), "utf-8"))

    def read_slice(self, path: str, offset: int = 0, limit: int = 4000) -> Slice:
        """Up to `limit` characters after the first `offset`; reads no further than it must.

        Raises:
            WorkdirError: As `read_text`.
        """
        form = checked(path)
        return tried("read", form, lambda: self._slice(form, max(0, offset), max(0, limit)))

    def write_text(self, path: str, text: str) -> None:
        """Write a file, complete or not at all.

        A file that is named by its content is written once: the same text again changes
        nothing, other text is refused.

        Raises:
            WorkdirError: The path is refused, the text has lone surrogates, which UTF-8 cannot
                hold, the file has other content already, or the place of the files failed.
        """
        form = writable(path)
        if not _encodable(text):
            raise WorkdirError(f"{form}: the text has lone surrogates, escape them first")
        tried("write", form, lambda: self._write(form, text))

    def write_named(self, folder: str, parts: Iterable[str], path: Callable[[], str]) -> None:
        """Write a file that is named by its content, part by part where the store can.

        The whole text goes through `write_text` where a class has its own. A file that is
        there already stays as it is: `sha256` tells whether it is this text.

        Args:
            folder: Where.
            parts: What, in order, without lone surrogates. What they raise is raised.
            path: Where in the folder, asked for when all parts were taken.

        Raises:
            WorkdirError: As `write_text`.
        """
        store = self._own_folder()
        if store is None:
            text = "".join(parts)
            self.write_text(path(), text)
            return
        form, raised = writable(folder.rstrip("/")), list[Exception]()

        def watched() -> Iterator[str]:
            try:
                yield from parts
            except Exception as error:
                raised.append(error)
                raise

        try:
            tried("write", form, lambda: store.put_named(form, watched(), lambda: writable(path())))
        finally:
            if raised:  # by the parts, not by the store
                raise raised[0]

    def sha256(self, path: str) -> str:
        """SHA-256 of a file in hex, read piece by piece.

        Raises:
            WorkdirError: As `read_text`.
        """
        if self._own_folder() is None:
            return hashlib.sha256(self.read_text(path).encode()).hexdigest()
        form = checked(path)
        return tried("read", form, lambda: self._sha256(form))

    def write_missing(self, files: Mapping[str, str]) -> dict[str, Exception]:
        """Write those files that are not there, several at once where the place allows it.

        A subclass is asked for one file after the other: it may not be made for threads.

        Args:
            files: Path → text.

        Returns:
            Path → what was raised, for files that could not be looked for or written.
        """

        def error_of(path: str) -> Exception | None:
            try:
                if not self.exists(path):
                    self.write_text(path, files[path])
            except Exception as error:  # any place may fail in its own way
                return error
            return None

        plain = type(self) is Workdir
        store = self._own_folder() if plain and len(files) > 1 else None
        done = _put_missing(store, files) if store else set[str]()
        rest = [path for path in files if path not in done]
        at_once = min(self._store.at_once, len(rest)) if plain else 1
        errors: Iterable[Exception | None] | None = None
        if at_once > 1:
            with suppress(RuntimeError), ThreadPoolExecutor(at_once, "workdir") as pool:
                errors = list(pool.map(error_of, rest))
        if errors is None:  # one by one, also where no thread can be started
            errors = map(error_of, rest)
        return {path: error for path, error in zip(rest, errors, strict=True) if error}

    def exists(self, path: str) -> bool:
        """Whether there is a file at this path.

        Raises:
            WorkdirError: The path is refused, or the place of the files failed.
        """
        form = checked(path)
        return tried("look for", form, lambda: self._store.has(form))

    def list(self, prefix: str = "") -> list[str]:
        """Paths of all files below a folder, sorted; those that `checked` accepts.

        Raises:
            WorkdirError: The path is refused, or the place of the files failed.
        """
        form = "" if prefix in ("", ".", "./", "/") else checked(prefix.rstrip("/"))
        return tried("list", form or "the workdir", lambda: _below(self._store, form))

    def _own_folder(self) -> LocalStore | None:
        """The local folder, if texts go there and come back as they are: not through a subclass."""
        store = getattr(self, "_store", None)
        plain = all(
            getattr(own, "__func__", None) is method
            for own, method in (
                (self.write_text, Workdir.write_text),
                (self.read_text, Workdir.read_text),
            )
        )
        return store if plain and type(store) is LocalStore else None

    def _sha256(self, form: str) -> str:
        mark = hashlib.sha256()
        with self._store.open(form) as file:
            while part := file.read(_PART):
                mark.update(part)
        return mark.hexdigest()

    def _slice(self, form: str, offset: int, limit: int) -> Slice:
        with io.TextIOWrapper(self._store.open(form), "utf-8", newline="") as file:
            left = offset
            while left:
                got = len(file.read(min(_PART, left)))
                if not got:
                    break
                left -= got
            text = file.read(limit)
            return Slice(text, not file.read(1))

    def _write(self, form: str, text: str) -> None:
        target = self._store.target(form)
        addressed = is_addressed(form) or is_addressed(target)
        if addressed and self._holds(form, text):
            return
        try:
            self._store.put(target, text, new=addressed)
        except FileExistsError:  # another writer was there first
            if not addressed or not self._holds(form, text):
                raise

    def _holds(self, form: str, text: str) -> bool:
        """Whether a file is there with this very text, compared piece by piece.

        Raises:
            WorkdirError: It is there with another.
        """
        if not self._store.has(form):
            return False
        try:
            with io.TextIOWrapper(self._store.open(form), "utf-8", newline="") as file:
                starts = range(0, len(text), _PART)
                same = all(file.read(_PART) == text[at : at + _PART] for at in starts)
                same = same and not file.read(1)
        except UnicodeDecodeError:
            same = False
        if not same:
            raise WorkdirError(f"{form} exists with other content and is never changed")
        return True


def _put_missing(store: LocalStore, files: Mapping[str, str]) -> set[str]:
    """Write those files to which nothing speaks against, together; returns their paths."""
    forms: dict[str, str] = {}
    for path, text in files.items():
        with suppress(WorkdirError):
            if _encodable(text):
                forms[path] = writable(path)
    there = store.put_missing({form: files[path] for path, form in forms.items()})
    return {path for path, form in forms.items() if form in there}


def _below(store: Store, folder: str) -> list[str]:
    below = f"{folder}/" if folder else ""
    try:
        found = {name for name in store.find(folder) if name.startswith(below)}
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(filter(is_checked, found))


def _encodable(text: str) -> bool:
    try:
        for start in range(0, len(text), _PART):
            text[start : start + _PART].encode()
    except UnicodeEncodeError:
        return False
    return True
