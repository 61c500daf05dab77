"""A deepagents backend as workdir, so that a deep agent keeps all its files in one place."""

import io
from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO, Protocol

from langgraph_compression.workdir.store import Store
from langgraph_compression.workdir.workdir import Workdir


class Backend(Protocol):
    """What is needed of a deepagents backend. Its paths are absolute, its `/` is the root."""

    def upload_files(self, files: list[tuple[str, bytes]]) -> Sequence[Any]:
        """Write whole files; each answer has `error`."""
        ...

    def download_files(self, paths: list[str]) -> Sequence[Any]:
        """Read whole files; each answer has `content` and `error`."""
        ...

    def glob(self, pattern: str, path: str = "/") -> Any:
        """Files whose name fits, at any depth; the answer has `matches` and `error`."""
        ...


class BackendWorkdir(Workdir):
    """Files of a conversation in a deepagents backend.

    Whether a write is complete or absent after a crash is up to the backend. A `StateBackend`
    needs a graph with its channel `files`.

    Args:
        backend: Any backend that uploads, downloads and globs; of deepagents 0.7.7 or newer,
            an older `StoreBackend` does not look into folders.
    """

    def __init__(self, backend: Backend) -> None:
        super().__init__(_BackendStore(backend))


class _BackendStore(Store):
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def read(self, path: str) -> bytes:
        (answer,) = self._backend.download_files([f"/{path}"])
        _check(answer.error)
        return bytes(answer.content)

    def open(self, path: str) -> BinaryIO:
        return io.BytesIO(self.read(path))

    def put(self, path: str, text: str, *, new: bool) -> None:
        (answer,) = self._backend.upload_files([(f"/{path}", text.encode())])
        _check(answer.error)

    def has(self, path: str) -> bool:
        try:
            self.read(path)
        except (FileNotFoundError, IsADirectoryError):
            return False
        return True

    def find(self, folder: str) -> Iterable[str]:
        for pattern in ("*", ".*"):  # a star alone leaves out names with a leading dot
            answer = self._backend.glob(pattern, f"/{folder}")
            for match in answer.matches or ():
                if not match.get("is_dir"):
                    yield str(match["path"]).lstrip("/")


def _check(error: str | None) -> None:
    """Raise what a backend answered; its own words may hold a path of the host."""
    if error:
        known = {"file_not_found": FileNotFoundError, "is_directory": IsADirectoryError}
        raise known.get(error, PermissionError if error == "permission_denied" else OSError)()
