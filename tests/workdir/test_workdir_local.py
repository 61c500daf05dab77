"""Links, special files, crashes and other writers in a workdir on a local folder."""

import os
import stat
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from langgraph_compression import Workdir
from langgraph_compression.errors import WorkdirError

SAVED = "outputs/large_tool_results/a-0123456789abcdef.txt"


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    folder = tmp_path / "w"
    folder.mkdir()
    return folder


def acts(workdir: Workdir, path: str) -> list[Callable[[], object]]:
    return [
        lambda: workdir.read_text(path),
        lambda: workdir.read_slice(path),
        lambda: workdir.exists(path),
        lambda: workdir.write_text(path, "x"),
    ]


@pytest.mark.parametrize(
    "target", ["../outside/secret", "{out}/secret", "../outside", "/etc", ".."]
)
def test_a_link_out_is_refused(inside: Path, target: str) -> None:
    (inside / "link").symlink_to(target.format(out=inside.parent / "outside"))
    workdir = Workdir(inside)
    path = "link" if target.endswith("secret") else "link/secret"
    for act in acts(workdir, path):
        with pytest.raises(WorkdirError, match="link"):
            act()
    assert (inside.parent / "outside" / "secret").read_text() == "secret"
    assert workdir.list() == []


def test_a_folder_that_becomes_a_link_out(inside: Path) -> None:
    workdir = Workdir(inside)
    workdir.write_text("outputs/secret", "mine")
    (inside / "outputs" / "secret").unlink()
    (inside / "outputs").rmdir()
    (inside / "outputs").symlink_to(inside.parent / "outside")
    for act in acts(workdir, "outputs/secret"):
        with pytest.raises(WorkdirError, match="link"):
            act()
    with pytest.raises(WorkdirError, match="link"):
        workdir.list("outputs")
    assert (inside.parent / "outside" / "secret").read_text() == "secret"


def test_links_inside_are_followed(inside: Path) -> None:
    (inside / "real").mkdir()
    (inside / "link").symlink_to("real")
    (inside / "loop").symlink_to("loop")
    (inside / "up").symlink_to(".")
    workdir = Workdir(inside)
    workdir.write_text("link/a.txt", "text")
    assert (inside / "real" / "a.txt").read_text() == "text"
    assert workdir.list() == ["real/a.txt"]
    assert workdir.list("link") == ["link/a.txt"]
    assert not workdir.exists("loop")


def test_the_root_may_be_a_link(inside: Path) -> None:
    (inside.parent / "alias").symlink_to(inside)
    workdir = Workdir(inside.parent / "alias")
    workdir.write_text("a/b.txt", "text")
    assert (inside / "a" / "b.txt").read_text() == "text"
    assert workdir.list() == ["a/b.txt"]


def test_a_pipe_does_not_block(inside: Path) -> None:
    os.mkfifo(inside / "pipe")
    workdir = Workdir(inside)
    for act in (workdir.read_text, workdir.read_slice):
        with pytest.raises(WorkdirError, match="pipe"):
            act("pipe")
    assert not workdir.exists("pipe")
    assert workdir.list() == []


def test_names_that_cannot_be_read_are_not_listed(inside: Path) -> None:
    for name in ("a\nb", "c:d", "e\\f", ".writing-0123", "good"):
        (inside / name).write_text("x")
    (inside / os.fsdecode(b"\xff\xfe")).write_text("x")
    assert Workdir(inside).list() == ["good"]


def test_what_is_no_text(inside: Path) -> None:
    (inside / "image.png").write_bytes(b"\x89PNG\xff\xfe")
    for act in (Workdir(inside).read_text, Workdir(inside).read_slice):
        with pytest.raises(WorkdirError, match="no UTF-8 text"):
            act("image.png")


@pytest.mark.parametrize("broken", ["fsync", "replace", "makedirs", "mkdir"])
def test_a_crash_leaves_no_part(inside: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    def crash(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, "No space left on device", str(inside))

    workdir = Workdir(inside)
    monkeypatch.setattr(os, broken, crash)
    path = "a/b.txt" if broken == "replace" else SAVED
    with pytest.raises(WorkdirError, match="No space left") as caught:
        workdir.write_text(path, "text")
    assert str(inside) not in str(caught.value)
    monkeypatch.undo()
    assert [p for p in inside.rglob("*") if p.is_file()] == []
    workdir.write_text(path, "text")
    assert workdir.read_text(path) == "text"


def test_of_many_files_those_that_fail_leave_no_part(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def full(source: str, target: str, **folders: Any) -> None:
        if target.endswith("7.txt"):
            raise FileExistsError
        link(source, target, **folders)

    monkeypatch.setattr(os, "link", full)
    files = {f"outputs/large_tool_results/{n}.txt": f"text {n}" * 1000 for n in range(40)}
    failed = Workdir(inside).write_missing(files)
    assert list(failed) == [path for path in files if path.endswith("7.txt")]
    left = {path.relative_to(inside).as_posix() for path in inside.rglob("*") if path.is_file()}
    assert left == files.keys() - failed.keys()
    assert all(Workdir(inside).read_text(path) == files[path] for path in left)


def test_a_file_system_without_hard_links(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    workdir = Workdir(inside)
    workdir.write_text(SAVED, "text")
    with pytest.raises(WorkdirError, match="other content"):
        workdir.write_text(SAVED, "other")
    assert workdir.read_text(SAVED) == "text"
    assert workdir.list() == [SAVED]


def test_an_interrupt_leaves_no_part(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Workdir(inside).write_text("a.txt", "text")
    assert list(inside.iterdir()) == []


def test_one_of_many_writers_of_an_addressed_file_wins(inside: Path) -> None:
    workdir, start = Workdir(inside), threading.Barrier(8)

    def write(number: int) -> bool:
        start.wait()
        try:
            workdir.write_text(SAVED, f"text {number}" * 1000)
        except WorkdirError:
            return False
        assert workdir.read_text(SAVED) == f"text {number}" * 1000
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(write, range(8))) == 1


def test_a_reader_never_sees_a_part(inside: Path) -> None:
    workdir, stop = Workdir(inside), threading.Event()
    texts = ["a" * 200_000, "b" * 200_000]
    workdir.write_text("a.txt", texts[0])

    def write() -> None:
        while not stop.is_set():
            for text in texts:
                workdir.write_text("a.txt", text)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert {workdir.read_text("a.txt") for _ in range(200)} <= set(texts)
    finally:
        stop.set()
        writer.join()


def test_the_mode_of_a_file_stays(inside: Path) -> None:
    (inside / "run.sh").write_text("old")
    (inside / "run.sh").chmod(0o755)
    Workdir(inside).write_text("run.sh", "new")
    assert stat.S_IMODE((inside / "run.sh").stat().st_mode) == 0o755


def test_a_relative_folder_stays_where_it_was(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inside)
    workdir = Workdir("data/")
    workdir.write_text("a.txt", "text")
    monkeypatch.chdir(inside.parent)
    assert workdir.read_text("a.txt") == "text"
    assert (inside / "data" / "a.txt").read_text() == "text"


def test_a_large_text_is_saved_without_a_second_copy(inside: Path) -> None:
    text = "line of text\n" * 2_000_000
    workdir = Workdir(inside)
    tracemalloc.start()
    try:
        for _ in range(2):  # written, then compared
            workdir.write_text(SAVED, text)
        workdir.read_slice(SAVED, 20_000_000, 4000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < len(text) / 2


def test_files_are_written_where_no_thread_can_be_started(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    files = {f"outputs/large_tool_results/{n}.txt": f"text {n}" for n in range(5)}
    assert Workdir(inside).write_missing(files) == {}
    assert {path: Workdir(inside).read_text(path) for path in files} == files
