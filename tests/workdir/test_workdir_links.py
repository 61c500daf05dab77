"""No link inside of a workdir leads a write out of it, or into the folder that is only read."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from langgraph_compression import Workdir, file_tools
from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.history import write_history

NAME = "a-0123456789abcdef.txt"


def tree(folder: Path) -> dict[str, str]:
    """Every file below a folder, linked folders not entered."""
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    for name in ("outside", "w/skills/deep", "w/real"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("outside", "w/skills", "w/skills/deep", "w/real"):
        (tmp_path / name / NAME).write_text("as it was")
    return tmp_path / "w"


def write_text(workdir: Workdir, folder: str) -> None:
    workdir.write_text(f"{folder}/{NAME}", "text")


def write_new_text(workdir: Workdir, folder: str) -> None:
    workdir.write_text(f"{folder}/new/er.txt", "text")


def write_named(workdir: Workdir, folder: str) -> None:
    workdir.write_named(folder, ["te", "xt"], lambda: f"{folder}/new.txt")


def write_missing(workdir: Workdir, folder: str) -> None:
    failed = workdir.write_missing({f"{folder}/{n}.txt": "text" for n in range(3)})
    assert len(failed) == 3
    raise next(iter(failed.values()))


def write_one_missing(workdir: Workdir, folder: str) -> None:
    raise next(iter(workdir.write_missing({f"{folder}/new.txt": "text"}).values()))


def write_file(workdir: Workdir, folder: str) -> None:
    tool = next(tool for tool in file_tools(workdir) if tool.name == "write_file")
    told(tool.invoke({"path": f"{folder}/{NAME}", "content": "text"}))


def edit_file(workdir: Workdir, folder: str) -> None:
    tool = next(tool for tool in file_tools(workdir) if tool.name == "edit_file")
    told(tool.invoke({"path": f"{folder}/{NAME}", "old_text": "was", "new_text": "is"}))


def told(answer: str) -> None:
    assert answer.startswith("Error: ")
    raise WorkdirError(answer)


WRITES = pytest.mark.parametrize(
    "write",
    [
        write_text,
        write_new_text,
        write_named,
        write_missing,
        write_one_missing,
        write_file,
        edit_file,
    ],
)
Write = Callable[[Workdir, str], None]


@WRITES
@pytest.mark.parametrize(
    "links",
    [
        {"link": "skills"},
        {"link": "skills/deep"},
        {"link": "{w}/skills"},
        {"link": "./real/../skills"},
        {"link": "one", "one": "two", "two": "skills"},
        {"link": "one/deep", "one": "skills"},
        {"link": "../outside"},
        {"link": "{w}/../outside"},
        {"link": "one", "one": "two", "two": "../outside"},
        {"link": "real/up", "real/up": "../../outside"},
    ],
    ids=str,
)
def test_a_linked_folder(inside: Path, links: dict[str, str], write: Write) -> None:
    for name, target in links.items():
        (inside / name).symlink_to(target.format(w=inside))
    before = tree(inside.parent)
    with pytest.raises(WorkdirError, match="link") as caught:
        write(Workdir(inside), "link")
    assert str(inside) not in str(caught.value)
    assert tree(inside.parent) == before


@WRITES
def test_what_skills_links_to_is_only_read_too(inside: Path, write: Write) -> None:
    (inside / "skills").rename(inside / "library")
    (inside / "skills").symlink_to("library")
    before = tree(inside.parent)
    with pytest.raises(WorkdirError, match="only be read"):
        write(Workdir(inside), "library")
    assert tree(inside.parent) == before
    assert Workdir(inside).read_text(f"skills/{NAME}") == "as it was"


@pytest.mark.parametrize("target", [f"skills/{NAME}", f"../outside/{NAME}", "skills/none", "/etc"])
def test_a_linked_file(inside: Path, target: str) -> None:
    (inside / "link").symlink_to(target)
    before = tree(inside.parent)
    workdir = Workdir(inside)
    with pytest.raises(WorkdirError, match="link"):
        workdir.write_text("link", "text")
    failed = workdir.write_missing({"link": "text", "other": "text"})
    assert set(failed) <= {"link"}
    assert tree(inside.parent) == before | {"w/other": "text"}


def test_the_archive_behind_a_link_is_not_overwritten(inside: Path) -> None:
    saved = f"outputs/large_tool_results/{NAME}"
    workdir = Workdir(inside)
    workdir.write_text(saved, "text")
    (inside / "notes").symlink_to("outputs/large_tool_results")
    with pytest.raises(WorkdirError, match="other content"):
        workdir.write_text(f"notes/{NAME}", "other")
    assert workdir.read_text(saved) == "text"


def test_reading_through_links_inside_stays_possible(inside: Path) -> None:
    (inside / "link").symlink_to("skills")
    assert Workdir(inside).read_text(f"link/{NAME}") == "as it was"
    (inside / "other").symlink_to("real")
    Workdir(inside).write_text(f"other/{NAME}", "new")
    assert (inside / "real" / NAME).read_text() == "new"


def write_two(workdir: Workdir, folder: str) -> None:
    files = {f"{folder}/new/{n}.txt": "text" for n in range(2)}
    assert workdir.write_missing(files).keys() == files.keys()


@pytest.mark.parametrize("write", [write_text, write_new_text, write_named, write_two])
@pytest.mark.parametrize("target", ["skills", "../outside"])
def test_a_link_that_is_made_after_the_check(
    inside: Path, monkeypatch: pytest.MonkeyPatch, write: Write, target: str
) -> None:
    """The folder is exchanged for a link when it is about to be entered."""
    (inside / "outputs").mkdir()
    enter = os.open

    def exchange(name: Any, *args: Any, **options: Any) -> int:
        if name == "outputs" and not (inside / "outputs").is_symlink():
            (inside / "outputs").rmdir()
            (inside / "outputs").symlink_to(target)
        return enter(name, *args, **options)

    monkeypatch.setattr(os, "open", exchange)
    before = tree(inside.parent)
    with suppress(WorkdirError):
        write(Workdir(inside), "outputs")
    assert (inside / "outputs").is_symlink()
    assert tree(inside.parent) == before


def test_history_is_not_led_into_skills(inside: Path) -> None:
    (inside / "outputs").mkdir()
    (inside / "outputs" / "conversation_history").symlink_to("../skills")
    before = tree(inside.parent)
    with pytest.raises(WorkdirError, match="only be read"):
        write_history(Workdir(inside), [HumanMessage("x")], 0, 1, {})
    assert tree(inside.parent) == before
