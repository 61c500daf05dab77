"""A local folder that is held open while whole files are put into it."""

import errno
import os
import stat
import uuid
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from langgraph_compression.workdir.store import ABANDONED_AFTER, TEMPORARY

_PART = 1 << 20
"""Characters that are encoded at once: a large text has no second copy in memory."""
_TOGETHER = 64
"""Files that are open at the same time, until all of them are synced."""
_THREADS = 8

_HELD = hasattr(os, "O_NOFOLLOW") and os.supports_dir_fd >= {
    os.open, os.mkdir, os.stat, os.chmod, os.link, os.unlink, os.rename,
}  # fmt: skip
"""Whether a folder can be held open (not on Windows). Else its path is followed at each step."""
_ENTER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


@contextmanager
def opened(base: str, path: str) -> Iterator["Folder"]:
    """A folder below another, made if it is not there, entered without following a link.

    A link that is put in the way after a path was checked leads nowhere.

    Args:
        base: An absolute path without links.
        path: The path below it, without links; "" is the base.

    Raises:
        OSError: A folder can be neither entered nor made.
    """
    full = os.path.join(base, path)
    if not _HELD:
        os.makedirs(full, exist_ok=True)
        yield Folder(full, None)
        return
    os.makedirs(base, exist_ok=True)
    handle = os.open(base, _ENTER)
    try:
        for name in filter(None, path.split("/")):
            above, handle = handle, _entered(handle, name)
            os.close(above)
        yield Folder(full, handle)
    finally:
        os.close(handle)


class Folder:
    """An open folder, whose files are named without their path.

    Args:
        path: Where it is.
        handle: Its descriptor, None where folders cannot be held open.
    """

    def __init__(self, path: str, handle: int | None) -> None:
        self._path = path
        self._handle = handle

    def put(self, name: str, text: str, *, new: bool) -> None:
        """Write a file, complete or not at all; it stays after a crash.

        Raises:
            FileExistsError: `new`, and something of that name is there.
        """
        with self.draft(_sliced(text)) as draft:
            if new:
                self.link(draft, name)
            else:
                mode = self._mode(name)
                if stat.S_ISREG(mode):
                    os.chmod(self._at(draft), stat.S_IMODE(mode), dir_fd=self._handle)
                self._replace(draft, name)
        self.sync()

    def put_missing(self, files: Mapping[str, str]) -> set[str]:
        """Write those files that are not there, and sync the folder once for all.

        Args:
            files: Name → text.

        Returns:
            Names of the regular files that are there now and stay after a crash. The others
            could not be written, or something else has their name.
        """
        there = {name for name in files if stat.S_ISREG(self._mode(name))}
        missing = [name for name in files if name not in there]
        with ThreadPoolExecutor(_THREADS, "workdir") as pool:
            for start in range(0, len(missing), _TOGETHER):
                some = missing[start : start + _TOGETHER]
                there |= self._put_some({name: files[name] for name in some}, pool)
        self.sync()
        return there

    @contextmanager
    def draft(self, parts: Iterable[str]) -> Iterator[str]:
        """The name of a synced file, to be moved to its place; it is gone at the end."""
        draft = _draft_name()
        try:
            handle = self._create(draft)
            try:
                _fill(handle, parts)
                os.fsync(handle)
            finally:
                os.close(handle)
            yield draft
        finally:
            self._remove(draft)

    def link(self, draft: str, name: str) -> None:
        """Put a file in place unless something is there, in one step.

        Raises:
            FileExistsError: Something is.
        """
        here = self._handle
        try:
            os.link(self._at(draft), self._at(name), src_dir_fd=here, dst_dir_fd=here)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links: nearly in one step
            if self._mode(name):
                raise FileExistsError(errno.EEXIST, "exists") from None
            self._replace(draft, name)

    def sync(self) -> None:
        """Let new names survive a crash, where folders can be synced."""
        if self._handle is not None:
            with suppress(OSError):
                os.fsync(self._handle)

    def remove_abandoned(self) -> None:
        """Remove the drafts of writers that were killed, after something was written here.

        That was just now by the clock that stamps the files, which may be another one than
        that of this machine.
        """
        with suppress(OSError):
            place = self._path if self._handle is None else self._handle
            with os.scandir(place) as entries:
                drafts = [entry.name for entry in entries if entry.name.startswith(TEMPORARY)]
            now = os.stat(place).st_mtime
            for draft in drafts:
                with suppress(OSError):
                    found = os.stat(self._at(draft), dir_fd=self._handle, follow_symlinks=False)
                    if now - found.st_mtime > ABANDONED_AFTER:
                        self._remove(draft)

    def _put_some(self, files: Mapping[str, str], pool: ThreadPoolExecutor) -> set[str]:
        """As `put_missing`: all files are written before the first is waited for."""
        drafts = {name: _draft_name() for name in files}
        handles: dict[str, int] = {}
        whole, there = list[str](), set[str]()
        try:
            try:
                for name, text in files.items():
                    with suppress(OSError):
                        handles[name] = self._create(drafts[name])
                        _fill(handles[name], _sliced(text))
                        _begin_to_sync(handles[name])
                        whole.append(name)
                synced = _each_synced([handles[name] for name in whole], pool)
            finally:
                for handle in handles.values():
                    os.close(handle)
            for name in (name for name, done in zip(whole, synced, strict=True) if done):
                with suppress(OSError):
                    self.link(drafts[name], name)
                    there.add(name)
        finally:
            for name in handles:
                self._remove(drafts[name])
        return there

    def _create(self, draft: str) -> int:
        return os.open(self._at(draft), _CREATE, 0o666, dir_fd=self._handle)

    def _replace(self, draft: str, name: str) -> None:
        here = self._handle
        os.replace(self._at(draft), self._at(name), src_dir_fd=here, dst_dir_fd=here)

    def _remove(self, draft: str) -> None:
        with suppress(OSError):
            os.unlink(self._at(draft), dir_fd=self._handle)

    def _mode(self, name: str) -> int:
        """What a name stands for, as `stat` has it, a link for itself; 0 if nothing is there."""
        try:
            found = os.stat(self._at(name), dir_fd=self._handle, follow_symlinks=False)
        except FileNotFoundError:
            return 0
        return found.st_mode

    def _at(self, name: str) -> str:
        return os.path.join(self._path, name) if self._handle is None else name


def _entered(above: int, name: str) -> int:
    try:
        with suppress(FileNotFoundError):
            return os.open(name, _ENTER, dir_fd=above)
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=above)
        with suppress(OSError):
            os.fsync(above)
        return os.open(name, _ENTER, dir_fd=above)
    except NotADirectoryError:
        raise FileExistsError(errno.EEXIST, "a file or a link is in the way") from None


def _draft_name() -> str:
    return f"{TEMPORARY}{uuid.uuid4().hex}"


def _sliced(text: str) -> Iterator[str]:
    return (text[start : start + _PART] for start in range(0, len(text), _PART))


def _fill(handle: int, parts: Iterable[str]) -> None:
    with open(handle, "wb", closefd=False) as file:
        for part in parts:
            file.write(part.encode())


def _begin_to_sync(handle: int) -> None:
    """Let the system begin, so that many files are waited for together.

    Linux writes at once what it is told that nobody needs in memory.
    """
    if hasattr(os, "posix_fadvise"):
        with suppress(OSError):
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)


def _each_synced(handles: list[int], pool: ThreadPoolExecutor) -> list[bool]:
    try:
        return list(pool.map(_synced, handles))
    except RuntimeError:  # no thread can be started
        return list(map(_synced, handles))


def _synced(handle: int) -> bool:
    try:
        os.fsync(handle)
    except OSError:
        return False
    return True
