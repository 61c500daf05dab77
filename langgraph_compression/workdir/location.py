"""Who keeps the files of a location?"""

import os

import fsspec
from fsspec import AbstractFileSystem
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem

from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.local import LocalStore
from langgraph_compression.workdir.remote import FsspecStore, protocol_of
from langgraph_compression.workdir.store import Store


def store_at(location: str | os.PathLike[str] | AbstractFileSystem | Store, root: str) -> Store:
    """The store of a folder, a URL, a file system, or the store itself.

    Args:
        location: As `Workdir` takes it.
        root: Folder, or bucket and prefix, on a given file system.

    Raises:
        WorkdirError: The URL's protocol is unknown, or the package for it is not installed.
    """
    if isinstance(location, Store):
        return location
    while isinstance(location, DirFileSystem):
        location, root = location.fs, location._join(root)
    if isinstance(location, LocalFileSystem):
        return LocalStore(root)
    if isinstance(location, AbstractFileSystem):
        return FsspecStore(location, root)
    url = os.fspath(location)
    if "://" not in url:
        return LocalStore(url)
    protocol = protocol_of(url)
    if protocol in ("file", "local"):
        return LocalStore(url.partition("://")[2])
    try:
        fsspec.get_filesystem_class(protocol)
    except (ValueError, ImportError) as error:
        raise WorkdirError(f"a workdir cannot be at {protocol}://: {error}") from error
    return FsspecStore(url)
