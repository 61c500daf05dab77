"""The workdir: where the files of one conversation live, on any fsspec file system."""

import contextlib
import os
import uuid
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import fsspec
from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem

from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.paths import ADDRESSED, checked, writable


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
        location: A local folder, any fsspec URL ("memory://name", "s3://bucket/prefix"), or
            an fsspec file system.
        root: Folder inside of a given file system.

    >>> workdir = Workdir("memory://doc-workdir")
    >>> workdir.write_text("outputs/a.txt", "text")
    >>> workdir.read_text("/outputs/a.txt"), workdir.list()
    ('text', ['outputs/a.txt'])
    """

    def __init__(
        self, location: str | os.PathLike[str] | AbstractFileSystem, *, root: str = ""
    ) -> None:
        self._location = location
        self._fs: AbstractFileSystem | None = None
        self._root = root.strip("/") if isinstance(location, AbstractFileSystem) else root

    def read_text(self, path: str) -> str:
        """The whole text of a file.

        Raises:
            WorkdirError: There is no such file, it is no UTF-8 text, or the path is refused.
        """
        form = checked(path)
        fs, full = self._place(form)
        try:
            return str(fs.cat_file(full).decode("utf-8"))
        except UnicodeDecodeError:
            raise WorkdirError(f"{form} is no UTF-8 text") from None
        except (OSError, KeyError) as error:
            raise _failure("read", form, error) from None

    def read_slice(self, path: str, offset: int, limit: int) -> Slice:
        """Up to `limit` characters after the first `offset`; reads no further than it must.

        Raises:
            WorkdirError: As `read_text`.
        """
        form = checked(path)
        fs, full = self._place(form)
        try:
            with fs.open(full, "r", encoding="utf-8", newline="") as file:
                skipped = 0
                while skipped < offset:
                    got = len(file.read(min(1 << 20, offset - skipped)))
                    if not got:
                        break
                    skipped += got
                text = file.read(limit)
                return Slice(text, not file.read(1))
        except UnicodeDecodeError:
            raise WorkdirError(f"{form} is no UTF-8 text") from None
        except (OSError, KeyError) as error:
            raise _failure("read", form, error) from None

    def write_text(self, path: str, text: str) -> None:
        """Write a file, complete or not at all.

        A file that is named by its content is written once: the same text again changes
        nothing, other text is refused.

        Raises:
            WorkdirError: The path is refused, the text cannot be encoded, the file has other
                content already, or the file system failed.
        """
        form = writable(path)
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:
            raise WorkdirError(f"{form}: the text has lone surrogates, escape them first") from None
        fs, full = self._place(form)
        try:
            if form.startswith(ADDRESSED) and fs.isfile(full):
                if fs.cat_file(full) != data:
                    raise WorkdirError(f"{form} exists with other content and is never changed")
                return
            _write(fs, full, data)
        except (OSError, KeyError) as error:
            raise _failure("write", form, error) from None

    def exists(self, path: str) -> bool:
        """Whether there is a file at this path.

        Raises:
            WorkdirError: The path is refused.
        """
        form = checked(path)
        fs, full = self._place(form)
        try:
            return bool(fs.isfile(full))
        except OSError as error:
            raise _failure("look for", form, error) from None

    def list(self, prefix: str = "") -> list[str]:
        """Paths of all files below a folder, sorted.

        Raises:
            WorkdirError: The path is refused, or the file system failed.
        """
        form = checked(prefix.rstrip("/")) if prefix.strip("./") else ""
        fs, full = self._place(form)
        root = self._base(fs)
        try:
            found = fs.find(full)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise _failure("list", form or "the workdir", error) from None
        names = (str(name)[len(root) :].lstrip("/") for name in found)
        return sorted(name for name in names if not name.rsplit("/", 1)[-1].startswith(_TEMPORARY))

    def _base(self, fs: AbstractFileSystem) -> str:
        """Folder of this workdir on its file system."""
        if isinstance(self._location, AbstractFileSystem):
            return str(fs._strip_protocol(self._root)).rstrip("/")
        if isinstance(fs, LocalFileSystem):
            return str(_local(self._location))
        return str(fs._strip_protocol(str(self._location))).rstrip("/")

    def _place(self, form: str) -> tuple[AbstractFileSystem, str]:
        """File system and full path; opened when first needed, off the event loop."""
        if self._fs is None:
            if isinstance(self._location, AbstractFileSystem):
                self._fs = self._location
            else:
                url = os.fspath(self._location)
                protocol = url.split("://", 1)[0] if "://" in url else "file"
                self._fs = fsspec.filesystem(protocol)
        base = self._base(self._fs)
        full = f"{base}/{form}" if form else base
        if isinstance(self._fs, LocalFileSystem):
            _refuse_links_out(Path(base), form)
        return self._fs, full


_TEMPORARY = ".writing-"


def _local(location: Any) -> Path:
    path = os.fspath(location)
    return Path(path.removeprefix("file://")).absolute()


def _refuse_links_out(base: Path, form: str) -> None:
    """A link may stay inside of the workdir; one that leads out is refused."""
    real = os.path.realpath(base)
    if os.path.commonpath([real, os.path.realpath(base / form)]) != real:
        raise WorkdirError(f"{form} leads out of the workdir through a link")


def _write(fs: AbstractFileSystem, full: str, data: bytes) -> None:
    """Complete or absent after a crash: a local file is renamed into place, synced first."""
    folder = str(PurePosixPath(full).parent)
    fs.makedirs(folder, exist_ok=True)
    if not isinstance(fs, LocalFileSystem):
        fs.pipe_file(full, data)  # object stores and memory show an object when it is whole
        return
    temporary = os.path.join(folder, f"{_TEMPORARY}{uuid.uuid4().hex}")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, full)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _failure(what: str, form: str, error: Exception) -> WorkdirError:
    """An error that names the path the model knows, never one of the host."""
    if isinstance(error, FileNotFoundError | KeyError):
        return WorkdirError(f"there is no file {form}")
    reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else ""
    return WorkdirError(f"cannot {what} {form}: {reason or type(error).__name__}")
