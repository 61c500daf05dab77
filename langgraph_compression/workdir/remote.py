"""Any fsspec file system as store: memory, S3, Google Cloud, Azure, SFTP."""

import io
import re
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import PurePosixPath
from typing import BinaryIO, cast

import fsspec
from fsspec import AbstractFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from langgraph_compression.workdir.store import ABANDONED_AFTER, TEMPORARY, Store

_WHOLE = frozenset({"memory", "s3", "s3a", "gs", "gcs", "abfs", "az", "oss"})
"""Protocols that show a file when it is complete, so that one put is enough."""


def protocol_of(url: str) -> str:
    """The first protocol of a URL, which may be chained.

    >>> protocol_of("simplecache::s3://bucket/prefix")
    'simplecache'
    """
    return re.split("::|://", url, maxsplit=1)[0]


class FsspecStore(Store):
    """Files below a prefix of an fsspec file system.

    Args:
        place: A URL, opened at the first use, because that may block; or a file system.
        root: The folder, or bucket and prefix, on a given file system.
    """

    def __init__(self, place: str | AbstractFileSystem, root: str = "") -> None:
        self._place = place
        self._root = root
        self._fs: AbstractFileSystem | None = None
        self._tidied: set[str] = set()
        if isinstance(place, str):
            place = fsspec.get_filesystem_class(protocol_of(place))
        if place.async_impl:  # made for several calls at a time, which wait for a network
            self.at_once = 8

    def read(self, path: str) -> bytes:
        """The whole file."""
        fs, full = self._at(path)
        return cast("bytes", fs.cat_file(full))

    def open(self, path: str) -> BinaryIO:
        """The file to be read piece by piece."""
        fs, full = self._at(path)
        if isinstance(fs, MemoryFileSystem):  # all who open a file there share one position
            return io.BytesIO(fs.cat_file(full))
        return cast("BinaryIO", fs.open(full, "rb"))

    def put(self, path: str, text: str, *, new: bool) -> None:
        """Write in one put, or beside the file and rename where a put could stay half done.

        `new` is not looked at: few file systems can tell in the same step, and the workdir
        has asked before.
        """
        fs, full = self._at(path)
        data = text.encode()
        protocols = {fs.protocol} if isinstance(fs.protocol, str) else set(fs.protocol)
        if protocols & _WHOLE:
            fs.pipe_file(full, data)
            return
        folder = str(PurePosixPath(full).parent)
        fs.makedirs(folder, exist_ok=True)
        temporary = f"{folder}/{TEMPORARY}{uuid.uuid4().hex}"
        try:
            fs.pipe_file(temporary, data)
            fs.mv(temporary, full)
        except BaseException:
            with suppress(Exception):
                fs.rm_file(temporary)
            raise
        if folder not in self._tidied:
            self._tidied.add(folder)
            with suppress(Exception):  # not every file system tells the age of a file
                _remove_abandoned(fs, folder, full)

    def has(self, path: str) -> bool:
        """Whether there is a file."""
        fs, full = self._at(path)
        try:  # isfile() would also call a store that does not answer "no file"
            return bool(fs.info(full)["type"] == "file")
        except (FileNotFoundError, NotADirectoryError):
            return False

    def find(self, folder: str) -> Iterable[str]:
        """All files below a folder."""
        fs, full = self._at(folder)
        root = self._root.lstrip("/")
        names = (str(name).lstrip("/") for name in fs.find(full))
        return [name[len(root) :].lstrip("/") for name in names]

    def _at(self, path: str) -> tuple[AbstractFileSystem, str]:
        """The file system and the full path on it, with nothing remembered of others' writes."""
        if self._fs is None:
            if isinstance(self._place, str):
                fs, root = fsspec.core.url_to_fs(self._place)
            else:
                fs, root = self._place, self._place._strip_protocol(self._root)
            self._root = str(root).rstrip("/")
            self._fs = fs
        full = "/".join(part for part in (self._root, path) if part)
        self._fs.invalidate_cache(full)
        return self._fs, full


def _remove_abandoned(fs: AbstractFileSystem, folder: str, written: str) -> None:
    """Remove the drafts of writers that were killed.

    Their age is taken against a file that was just written: the clocks may differ.
    """
    now = fs.modified(written)
    for name in fs.ls(folder, detail=False):
        old = PurePosixPath(name).name.startswith(TEMPORARY)
        if old and (now - fs.modified(name)).total_seconds() > ABANDONED_AFTER:
            with suppress(Exception):  # another writer was there first
                fs.rm_file(name)
