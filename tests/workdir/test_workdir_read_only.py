"""A file that is there counts as written, also where nothing can be written any more."""

import errno
import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deepagents.backends import FilesystemBackend
from fsspec.implementations.memory import MemoryFileSystem
from langchain_core.messages import AnyMessage, HumanMessage

from langgraph_compression import Workdir
from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.deepagents import BackendWorkdir
from langgraph_compression.workdir.history import write_history

SAVED = {f"outputs/large_tool_results/a-{n:016d}.txt": f"text {n}" for n in range(5)}
MESSAGES: list[AnyMessage] = [HumanMessage(f"Question {n} " * 50, id=str(n)) for n in range(50)]

Lock = Callable[[], None]


def local(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Workdir, Lock]:
    def lock() -> None:
        """As a file system does that was mounted to be read only."""
        enter = os.open

        def read_only(name: Any, flags: int, *args: Any, **options: Any) -> int:
            if flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
                refuse()
            return enter(name, flags, *args, **options)

        def refuse(*args: Any, **options: Any) -> None:
            raise OSError(errno.EROFS, "Read-only file system", str(folder))

        monkeypatch.setattr(os, "open", read_only)
        for name in ("mkdir", "link", "replace", "unlink"):
            monkeypatch.setattr(os, name, refuse)

    return Workdir(folder), lock


def memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Workdir, Lock]:
    fs = MemoryFileSystem()

    def lock() -> None:
        def refuse(*args: Any, **options: Any) -> None:
            raise OSError(errno.EROFS, "Read-only file system")

        monkeypatch.setattr(MemoryFileSystem, "pipe_file", refuse)

    return Workdir(fs, root=uuid.uuid4().hex), lock


def backend(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Workdir, Lock]:
    class Answer:
        error = "permission_denied"

    files = FilesystemBackend(root_dir=folder, virtual_mode=True)

    def lock() -> None:
        monkeypatch.setattr(files, "upload_files", lambda files: [Answer() for _ in files])

    return BackendWorkdir(files), lock


@pytest.fixture(params=[local, memory, backend])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Workdir, Lock]:
    found: tuple[Workdir, Lock] = request.param(tmp_path, monkeypatch)
    return found


def test_a_history_file(place: tuple[Workdir, Lock]) -> None:
    workdir, lock = place
    path = write_history(workdir, MESSAGES, 0, 40, {})
    lock()
    assert write_history(workdir, MESSAGES, 0, 40, {}) == path
    with pytest.raises(WorkdirError, match="cannot write outputs/conversation_history"):
        write_history(workdir, MESSAGES, 0, 41, {})
    assert workdir.list() == [path]


def test_saved_results(place: tuple[Workdir, Lock]) -> None:
    workdir, lock = place
    assert workdir.write_missing(SAVED) == {}
    lock()
    assert workdir.write_missing(SAVED) == {}
    for path, text in SAVED.items():
        workdir.write_text(path, text)
        with pytest.raises(WorkdirError, match="other content"):
            workdir.write_text(path, text + "x")
    new = "outputs/large_tool_results/new.txt"
    assert list(workdir.write_missing({new: "text", **SAVED})) == [new]
    assert workdir.list() == sorted(SAVED)


def test_a_file_of_that_name_with_other_content_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workdir, lock = local(tmp_path, monkeypatch)
    path = write_history(workdir, MESSAGES, 0, 1, {})
    (tmp_path / path).write_text("other")
    lock()
    with pytest.raises(WorkdirError, match="not what was written"):
        write_history(workdir, MESSAGES, 0, 1, {})


def test_a_disk_that_is_full_in_the_middle_of_a_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is only looked at, and what redact raises then is what is raised."""
    workdir = Workdir(tmp_path)
    path = write_history(workdir, MESSAGES, 0, 50, {})

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert write_history(workdir, MESSAGES, 0, 50, {}) == path
    with pytest.raises(WorkdirError, match="No space left"):
        write_history(workdir, MESSAGES, 1, 50, {})

    def redact(text: str) -> str:
        if text.startswith("Question 40"):
            raise LookupError
        return text

    with pytest.raises(LookupError):
        write_history(workdir, MESSAGES, 0, 50, {}, redact)
    assert workdir.list() == [path]
    assert len(list((tmp_path / path).parent.iterdir())) == 1
