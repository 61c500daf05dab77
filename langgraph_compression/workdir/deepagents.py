"""A deepagents backend as workdir, so that a deep agent keeps all its files in one place."""

from collections.abc import Sequence
from typing import Any, Protocol

from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.paths import ADDRESSED, checked, writable
from langgraph_compression.workdir.workdir import Slice, Workdir


class Backend(Protocol):
    """What is needed of a deepagents backend."""

    def upload_files(self, files: list[tuple[str, bytes]]) -> Sequence[Any]:
        """Write whole files; each answer has `error`."""
        ...

    def download_files(self, paths: list[str]) -> Sequence[Any]:
        """Read whole files; each answer has `content` and `error`."""
        ...

    def glob(self, pattern: str, path: str = "/") -> Any:
        """Files below a folder; the answer has `matches` and `error`."""
        ...


class BackendWorkdir(Workdir):
    """Files of a conversation in a deepagents backend.

    Backends speak of absolute paths; the root of the backend is the root of the workdir.

    Args:
        backend: Any backend that uploads, downloads and globs.
    """

    def __init__(self, backend: Backend) -> None:
        super().__init__("memory://unused")
        self._backend = backend

    def read_text(self, path: str) -> str:
        """The whole text of a file; see `Workdir.read_text`."""
        form = checked(path)
        content = self._content(form)
        if content is None:
            raise WorkdirError(f"there is no file {form}")
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            raise WorkdirError(f"{form} is no UTF-8 text") from None

    def read_slice(self, path: str, offset: int, limit: int) -> Slice:
        """Part of a file; a backend only gives whole ones."""
        text = self.read_text(path)
        return Slice(text[offset : offset + limit], offset + limit >= len(text))

    def write_text(self, path: str, text: str) -> None:
        """Write a file; see `Workdir.write_text`."""
        form = writable(path)
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:
            raise WorkdirError(f"{form}: the text has lone surrogates, escape them first") from None
        if form.startswith(ADDRESSED):
            there = self._content(form)
            if there is not None:
                if there != data:
                    raise WorkdirError(f"{form} exists with other content and is never changed")
                return
        (answer,) = self._backend.upload_files([(f"/{form}", data)])
        if answer.error:
            raise WorkdirError(f"cannot write {form}: the backend refused ({answer.error!s:.80})")

    def exists(self, path: str) -> bool:
        """Whether there is a file at this path."""
        return self._content(checked(path)) is not None

    def list(self, prefix: str = "") -> list[str]:
        """Paths of all files below a folder, sorted."""
        form = checked(prefix.rstrip("/")) if prefix.strip("./") else ""
        answer = self._backend.glob("**/*", f"/{form}")
        if answer.error:
            return []
        names = (str(match["path"]) for match in answer.matches or () if not match.get("is_dir"))
        inside = f"{form}/" if form else ""
        forms = (name.lstrip("/") for name in names)
        return sorted(n if n.startswith(inside) else inside + n for n in forms)

    def _content(self, form: str) -> bytes | None:
        (answer,) = self._backend.download_files([f"/{form}"])
        return None if answer.error else answer.content
