"""Drafts that killed writers left behind are removed, those of living ones are not."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fsspec.implementations.local import LocalFileSystem

from langgraph_compression import Workdir
from langgraph_compression.workdir.remote import FsspecStore
from langgraph_compression.workdir.store import ABANDONED_AFTER, TEMPORARY

FOLDER = "outputs/conversation_history"

WRITING = {
    "local": """
import sys, time
from langgraph_compression import Workdir

def parts():
    yield "x" * 3_000_000
    print("writing", flush=True)
    time.sleep(600)

Workdir(sys.argv[1]).write_named(sys.argv[2], parts(), lambda: "never asked")
""",
    "fsspec": """
import sys, time
from fsspec.implementations.local import LocalFileSystem
from langgraph_compression import Workdir
from langgraph_compression.workdir.remote import FsspecStore

class Slow(LocalFileSystem):
    def mv(self, *args, **options):
        print("writing", flush=True)
        time.sleep(600)

workdir = Workdir(FsspecStore(Slow(), sys.argv[1]))
workdir.write_text(sys.argv[2] + "/a.txt", "x" * 3_000_000)
""",
}


def workdir_of(kind: str, folder: Path) -> Workdir:
    if kind == "local":
        return Workdir(folder)
    return Workdir(FsspecStore(LocalFileSystem(), str(folder)))


def drafts(folder: Path) -> list[Path]:
    return sorted((folder / FOLDER).glob(f"{TEMPORARY}*"))


def killed(kind: str, folder: Path) -> Path:
    """The draft of a process that was killed in the middle of a write."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITING[kind], str(folder), FOLDER], stdout=subprocess.PIPE
    )
    assert writer.stdout is not None
    with writer, writer.stdout as out:
        assert out.readline() == b"writing\n"
        writer.kill()
    (draft,) = drafts(folder)
    return draft


def make_older(path: Path, seconds: float) -> None:
    changed = path.stat().st_mtime - seconds
    os.utime(path, (changed, changed))


@pytest.mark.parametrize("kind", ["local", "fsspec"])
def test_a_draft_of_a_killed_process_is_removed_once_it_is_old(kind: str, tmp_path: Path) -> None:
    draft = killed(kind, tmp_path)
    workdir_of(kind, tmp_path).write_text(f"{FOLDER}/b.txt", "text")
    assert drafts(tmp_path) == [draft]  # its writer could be alive
    make_older(draft, ABANDONED_AFTER + 60)
    workdir_of(kind, tmp_path).write_text(f"{FOLDER}/c.txt", "text")
    assert drafts(tmp_path) == []
    assert Workdir(tmp_path).list() == [f"{FOLDER}/b.txt", f"{FOLDER}/c.txt"]


def write_named(workdir: Workdir) -> None:
    workdir.write_named(FOLDER, ["text"], lambda: f"{FOLDER}/new.txt")


def write_missing(workdir: Workdir) -> None:
    assert workdir.write_missing({f"{FOLDER}/{n}.txt": "text" for n in range(3)}) == {}


@pytest.mark.parametrize("write", [write_named, write_missing])
def test_every_way_to_write_removes_them(write: object, tmp_path: Path) -> None:
    assert callable(write)
    (tmp_path / FOLDER).mkdir(parents=True)
    old = [tmp_path / FOLDER / f"{TEMPORARY}{n}" for n in range(3)]
    for draft in old:
        draft.write_text("half")
        make_older(draft, ABANDONED_AFTER + 60)
    (tmp_path / f"{TEMPORARY}elsewhere").write_text("another folder")
    make_older(tmp_path / f"{TEMPORARY}elsewhere", ABANDONED_AFTER + 60)
    write(Workdir(tmp_path))
    assert drafts(tmp_path) == []
    assert (tmp_path / f"{TEMPORARY}elsewhere").exists()


def test_a_living_writer_keeps_its_draft(tmp_path: Path) -> None:
    """It writes for long: the file is older than an hour, its last change is not."""
    ready, go_on = threading.Event(), threading.Event()

    def parts() -> Iterator[str]:
        yield "first "
        ready.set()
        assert go_on.wait(30)
        yield "last"

    def write() -> None:
        Workdir(tmp_path).write_named(FOLDER, parts(), lambda: f"{FOLDER}/long.txt")

    writer = threading.Thread(target=write)
    writer.start()
    assert ready.wait(30)
    try:
        (draft,) = drafts(tmp_path)
        make_older(draft, ABANDONED_AFTER - 60)
        Workdir(tmp_path).write_text(f"{FOLDER}/b.txt", "text")
        assert drafts(tmp_path) == [draft]
    finally:
        go_on.set()
        writer.join()
    assert Workdir(tmp_path).read_text(f"{FOLDER}/long.txt") == "first last"
    assert drafts(tmp_path) == []


def test_a_writer_that_slept_too_long_gets_an_error_and_no_file_of_its_own(tmp_path: Path) -> None:
    def parts() -> Iterator[str]:
        yield "text"
        (draft,) = drafts(tmp_path)
        make_older(draft, ABANDONED_AFTER + 60)
        Workdir(tmp_path).write_text(f"{FOLDER}/b.txt", "other")

    with pytest.raises(Exception, match="cannot write"):
        Workdir(tmp_path).write_named(FOLDER, parts(), lambda: f"{FOLDER}/a.txt")
    assert Workdir(tmp_path).list() == [f"{FOLDER}/b.txt"]


def test_files_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    mine = tmp_path / FOLDER / ".writing"
    folder = tmp_path / FOLDER / f"{TEMPORARY}folder"
    mine.write_text("a file of the user")
    folder.mkdir()
    for path in (mine, folder):
        make_older(path, ABANDONED_AFTER * 100)
    Workdir(tmp_path).write_text(f"{FOLDER}/a.txt", "text")
    assert mine.exists()
    assert folder.is_dir()
