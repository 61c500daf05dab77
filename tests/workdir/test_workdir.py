"""The workdir on several file systems, its paths, and what a crash leaves behind."""

import os
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deepagents.backends import FilesystemBackend, StoreBackend
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from langgraph.store.memory import InMemoryStore

from langgraph_compression import Workdir
from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.deepagents import BackendWorkdir

SAVED = "outputs/large_tool_results/a-0123456789abcdef.txt"


def memory(tmp_path: Path) -> Workdir:
    return Workdir(f"memory://{uuid.uuid4().hex}")


def local(tmp_path: Path) -> Workdir:
    return Workdir(tmp_path / "w")


def given_file_system(tmp_path: Path) -> Workdir:
    return Workdir(MemoryFileSystem(), root=uuid.uuid4().hex)


def backend(tmp_path: Path) -> Workdir:
    return BackendWorkdir(FilesystemBackend(root_dir=tmp_path, virtual_mode=True))


def store_backend(tmp_path: Path) -> Workdir:
    return BackendWorkdir(StoreBackend(store=InMemoryStore(), namespace=lambda _: ("files",)))


class Shouting(Workdir):
    """A host's own class on top."""

    def write_text(self, path: str, text: str) -> None:
        super().write_text(path, text)


def subclass(tmp_path: Path) -> Workdir:
    return Shouting(f"memory://{uuid.uuid4().hex}/deep/er")


def whole_memory(tmp_path: Path) -> Workdir:
    return Workdir(FreshMemory())


class FreshMemory(MemoryFileSystem):  # type: ignore[misc]  # fsspec has no types
    """A memory of its own, with a protocol of which nobody knows that a put is whole."""

    cachable = False
    protocol = "fresh"

    def __init__(self) -> None:
        super().__init__()
        self.store: dict[str, Any] = {}
        self.pseudo_dirs = [""]


def local_file_system(tmp_path: Path) -> Workdir:
    return Workdir(LocalFileSystem(), root=str(tmp_path / "w"))


def folder_of_a_file_system(tmp_path: Path) -> Workdir:
    return Workdir(DirFileSystem(str(tmp_path), LocalFileSystem()), root="w")


def file_url(tmp_path: Path) -> Workdir:
    return Workdir(f"file://{tmp_path}/w")


KINDS = [
    memory,
    local,
    given_file_system,
    whole_memory,
    local_file_system,
    folder_of_a_file_system,
    file_url,
    subclass,
    backend,
    store_backend,
]


@pytest.fixture(params=KINDS)
def workdir(request: pytest.FixtureRequest, tmp_path: Path) -> Workdir:
    make: Callable[[Path], Workdir] = request.param
    return make(tmp_path)


@pytest.mark.parametrize("text", ["", "text", "a\r\nb\n", "压缩 😀", "x" * 100_000])
def test_what_is_written_is_read(workdir: Workdir, text: str) -> None:
    workdir.write_text("notes/a.txt", text)
    assert workdir.read_text("/notes/a.txt") == text
    assert workdir.exists("notes/a.txt")
    assert workdir.list() == workdir.list("notes/") == ["notes/a.txt"]


def test_files_are_listed_sorted_in_one_form(workdir: Workdir) -> None:
    for path in ("outputs/b/2.txt", "/outputs/b/1.txt", "./x.txt"):
        workdir.write_text(path, "x")
    assert workdir.list() == ["outputs/b/1.txt", "outputs/b/2.txt", "x.txt"]
    assert workdir.list("outputs/b") == ["outputs/b/1.txt", "outputs/b/2.txt"]
    assert workdir.list("nowhere") == []
    assert not workdir.exists("outputs")


def test_content_addressed_files_never_change(workdir: Workdir) -> None:
    workdir.write_text(SAVED, "text")
    workdir.write_text(SAVED, "text")
    with pytest.raises(WorkdirError, match="other content"):
        workdir.write_text(SAVED, "other")
    assert workdir.read_text(SAVED) == "text"
    workdir.write_text("notes.md", "one")
    workdir.write_text("notes.md", "two")
    assert workdir.read_text("notes.md") == "two"


def test_what_is_missing_is_written(workdir: Workdir) -> None:
    workdir.write_text(SAVED, "there already")
    files = {f"outputs/large_tool_results/{n}.txt": f"text {n}" for n in range(30)}
    wrong = {SAVED: "other", "../x": "x", "outputs/\ud800": "x", "half.txt": "\ud800"}
    failed = workdir.write_missing(wrong | files)
    assert list(failed) == ["../x", "outputs/\ud800", "half.txt"]
    assert {type(error) for error in failed.values()} == {WorkdirError}
    assert {path: workdir.read_text(path) for path in workdir.list()} == files | {
        SAVED: "there already"
    }
    assert workdir.write_missing(files) == workdir.write_missing({}) == {}


def test_a_subclass_writes_one_file_after_the_other(tmp_path: Path) -> None:
    calls: list[tuple[str, int]] = []

    class Noting(Workdir):
        def write_text(self, path: str, text: str) -> None:
            calls.append((path, threading.get_ident()))
            super().write_text(path, text)

    files = {f"{n}.txt": "x" for n in range(30)}
    assert Noting(tmp_path).write_missing(files) == {}
    assert calls == [(path, threading.get_ident()) for path in files]


def test_slices_cover_a_file(workdir: Workdir) -> None:
    text = "".join(f"{n} 压缩\n" for n in range(3000))
    workdir.write_text("a.txt", text)
    got, end = "", False
    while not end:
        part, end = workdir.read_slice("a.txt", len(got), 777)
        assert 0 < len(part) <= 777
        got += part
    assert got == text
    assert workdir.read_slice("a.txt", len(text) + 5, 10) == ("", True)


HOSTILE = [
    "", "/", ".", "..", "../x", "a/../b", "a/./b", "a//b", "C:\\x", "a:b", "a\\b", "a\0b", "a\nb",
    "con", "outputs/NUL.txt", "aux", "x" * 256, "a ", " a", "a.", "~root", "a?b", "\ud800",
    "outputs/../../etc/passwd",
]  # fmt: skip


@pytest.mark.parametrize("path", HOSTILE)
def test_hostile_paths_are_refused(workdir: Workdir, path: str) -> None:
    for act in (workdir.read_text, workdir.exists, lambda p: workdir.write_text(p, "x")):
        with pytest.raises(WorkdirError):
            act(path)
    assert workdir.list() == []


def test_skills_can_be_read_not_written(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "a.md").write_text("how")
    workdir = Workdir(tmp_path)
    assert workdir.read_text("skills/a.md") == "how"
    with pytest.raises(WorkdirError, match="only be read"):
        workdir.write_text("skills/a.md", "x")


def test_links_out_are_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    inside = tmp_path / "w"
    inside.mkdir()
    (inside / "link").symlink_to(outside)
    workdir = Workdir(inside)
    for act in (workdir.read_text, workdir.exists, lambda p: workdir.write_text(p, "x")):
        with pytest.raises(WorkdirError, match="link"):
            act("link/secret")
    assert (outside / "secret").read_text() == "secret"


@pytest.mark.parametrize("broken", ["replace", "fsync"])
def test_a_crash_leaves_the_old_file_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    workdir = Workdir(tmp_path)
    workdir.write_text("a.txt", "old")

    def crash(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, "No space left on device", str(tmp_path / "host"))

    monkeypatch.setattr(os, broken, crash)
    with pytest.raises(WorkdirError) as caught:
        workdir.write_text("a.txt", "new")
    with pytest.raises(WorkdirError):
        workdir.write_text("b.txt", "new")
    assert str(tmp_path) not in str(caught.value)
    assert "No space left" in str(caught.value)
    monkeypatch.undo()
    assert workdir.read_text("a.txt") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_errors_name_no_host_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    workdir = Workdir(tmp_path / "file")  # a file where the folder should be
    for act in (workdir.read_text, lambda p: workdir.write_text(p, "x")):
        with pytest.raises(WorkdirError) as caught:
            act("a/b.txt")
        assert str(tmp_path) not in str(caught.value)


def test_lone_surrogates_are_refused_clearly(workdir: Workdir) -> None:
    with pytest.raises(WorkdirError, match="surrogates"):
        workdir.write_text("a.txt", "\ud800")
    assert not workdir.exists("a.txt")


def test_hidden_files_are_listed(workdir: Workdir) -> None:
    for path in (".a", "b/.c/d", "b/.e"):
        workdir.write_text(path, "x")
    assert workdir.list() == [".a", "b/.c/d", "b/.e"]
    assert workdir.list("b/.c") == ["b/.c/d"]


def test_a_folder_is_no_file(workdir: Workdir) -> None:
    workdir.write_text("outputs/a.txt", "x")
    assert not workdir.exists("outputs")
    for act in (workdir.read_text, workdir.read_slice):
        with pytest.raises(WorkdirError, match="outputs"):
            act("outputs")


def test_a_folder_with_a_name_that_begins_alike(workdir: Workdir) -> None:
    workdir.write_text("outputs/a.txt", "x")
    workdir.write_text("outputs2/a.txt", "x")
    assert workdir.list("outputs") == workdir.list("/outputs/") == ["outputs/a.txt"]
    assert workdir.list("outputs/a.txt") == []
    assert workdir.list("out") == []


@pytest.mark.parametrize("prefix", ["", ".", "./", "/"])
def test_the_root_has_several_names(workdir: Workdir, prefix: str) -> None:
    workdir.write_text("a.txt", "x")
    assert workdir.list(prefix) == ["a.txt"]


@pytest.mark.parametrize("prefix", ["..", "../", "a/../..", "/..", "./..", "a\0"])
def test_listing_outside_is_refused(workdir: Workdir, prefix: str) -> None:
    workdir.write_text("a.txt", "x")
    with pytest.raises(WorkdirError, match="refused"):
        workdir.list(prefix)


def test_slices_of_one_line(workdir: Workdir) -> None:
    workdir.write_text("a.txt", "压" * 1_000_000)
    assert workdir.read_slice("a.txt", 999_995, 10) == ("压" * 5, True)
    assert workdir.read_slice("a.txt", 500_000, 3) == ("压" * 3, False)
    assert workdir.read_slice("a.txt", -5, 3) == ("压" * 3, False)
    assert workdir.read_slice("a.txt", 0, -1) == ("", False)
    assert workdir.read_slice("a.txt", 1_000_000, 0) == ("", True)


@pytest.mark.parametrize("other", ["", "tex", "text!", "Text", "t" * 3_000_000])
def test_addressed_files_are_compared_whole(workdir: Workdir, other: str) -> None:
    workdir.write_text(SAVED, "text")
    with pytest.raises(WorkdirError, match="other content"):
        workdir.write_text(SAVED, other)
    assert workdir.read_text(SAVED) == "text"


def test_large_addressed_files_are_compared_to_the_end(workdir: Workdir) -> None:
    text = "line\r\n压缩" * 300_000
    workdir.write_text(SAVED, text)
    workdir.write_text(SAVED, text)
    with pytest.raises(WorkdirError, match="other content"):
        workdir.write_text(SAVED, text[:-1] + "x")
    assert workdir.read_text(SAVED) == text


class Broken(MemoryFileSystem):  # type: ignore[misc]
    """Every call fails as a client of a store far away does, with a path of the host."""

    protocol = "broken"
    cachable = False

    def __getattribute__(self, name: str) -> Any:
        if name in ("info", "open", "cat_file", "pipe_file", "find", "makedirs", "mv", "rm_file"):

            def fail(*args: Any, **kwargs: Any) -> None:
                raise RuntimeError("no credentials in /root/.secrets")

            return fail
        return super().__getattribute__(name)


def test_a_store_that_fails_in_its_own_way() -> None:
    workdir = Workdir(Broken(), root="x")
    for act in (
        lambda: workdir.read_text("a"),
        lambda: workdir.read_slice("a"),
        lambda: workdir.write_text("a", "x"),
        lambda: workdir.write_text(SAVED, "x"),
        lambda: workdir.exists("a"),
        lambda: workdir.list(),
    ):
        with pytest.raises(WorkdirError, match="RuntimeError") as caught:
            act()
        assert "root" not in str(caught.value)
        assert caught.value.__suppress_context__


@pytest.mark.parametrize("answer", ["permission_denied", "no space at /root/disk"])
def test_a_backend_that_refuses(answer: str) -> None:
    class Answer:
        content, error, matches = None, answer, None

    class Refusing:
        def upload_files(self, files: list[tuple[str, bytes]]) -> list[Answer]:
            return [Answer()]

        def download_files(self, paths: list[str]) -> list[Answer]:
            return [Answer()]

        def glob(self, pattern: str, path: str = "/") -> Answer:
            return Answer()

    workdir = BackendWorkdir(Refusing())
    for act in (workdir.read_text, workdir.exists, lambda p: workdir.write_text(p, "x")):
        with pytest.raises(WorkdirError) as caught:
            act("a.txt")
        assert "/root" not in str(caught.value)
    assert workdir.list() == []


def test_a_url_that_nobody_knows() -> None:
    with pytest.raises(WorkdirError, match="nowhere://"):
        Workdir("nowhere://a/b")


def test_a_broken_put_leaves_the_old_file(monkeypatch: pytest.MonkeyPatch) -> None:
    fs = FreshMemory()
    workdir = Workdir(fs)
    workdir.write_text("a.txt", "old")

    def half(path: str, value: bytes, **kwargs: Any) -> None:
        MemoryFileSystem.pipe_file(fs, path, value[:1], **kwargs)
        raise OSError(5, "gone")

    monkeypatch.setattr(fs, "pipe_file", half)
    with pytest.raises(WorkdirError, match=r"a\.txt"):
        workdir.write_text("a.txt", "new")
    assert workdir.read_text("a.txt") == "old"
    assert workdir.list() == ["a.txt"]
    assert fs.find("") == ["/a.txt"]
