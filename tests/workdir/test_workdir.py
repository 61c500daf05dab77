"""The workdir on several file systems, its paths, and what a crash leaves behind."""

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deepagents.backends import FilesystemBackend
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, ToolMessage

from langgraph_compression import Workdir, file_tools
from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.deepagents import BackendWorkdir
from langgraph_compression.workdir.file_tools import SLICE
from langgraph_compression.workdir.history import history_file, read_history, write_history
from langgraph_compression.workdir.scope import workdir_for

SAVED = "outputs/large_tool_results/a-0123456789abcdef.txt"


def memory(tmp_path: Path) -> Workdir:
    return Workdir(f"memory://{uuid.uuid4().hex}")


def local(tmp_path: Path) -> Workdir:
    return Workdir(tmp_path / "w")


def given_file_system(tmp_path: Path) -> Workdir:
    return Workdir(MemoryFileSystem(), root=uuid.uuid4().hex)


def backend(tmp_path: Path) -> Workdir:
    return BackendWorkdir(FilesystemBackend(root_dir=tmp_path, virtual_mode=True))


@pytest.fixture(params=[memory, local, given_file_system, backend])
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


def test_threads_have_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGGRAPH_COMPRESSION_HOME", str(tmp_path))
    one, two, again = (
        workdir_for(None, {"configurable": {"thread_id": name}}) for name in ("1", "../2", "1")
    )
    one.write_text("a.txt", "one")
    assert again.read_text("a.txt") == "one"
    assert not two.exists("a.txt")
    two.write_text("b.txt", "two")
    assert len(list(tmp_path.iterdir())) == 2
    assert workdir_for(one, {}) is one
    assert workdir_for(lambda config: two, {}) is two


def test_file_tools_work_and_tell_errors(workdir: Workdir) -> None:
    tools = {tool.name: tool for tool in file_tools(workdir)}
    assert set(tools) == {"read_file", "write_file", "edit_file", "list_files"}
    assert "no files" in tools["list_files"].invoke({})
    tools["write_file"].invoke({"path": "a.md", "content": "one two two"})
    assert "stands 2 times" in tools["edit_file"].invoke(
        {"path": "a.md", "old_text": "two", "new_text": "x"}
    )
    tools["edit_file"].invoke({"path": "a.md", "old_text": "one", "new_text": "1"})
    assert workdir.read_text("a.md") == "1 two two"
    workdir.write_text(SAVED, "line\n" * 5000)
    first = tools["read_file"].invoke({"path": "/" + SAVED})
    assert len(first) < SLICE + 200
    assert f"offset={SLICE}" in first
    for name in ("write_file", "edit_file"):
        answer = tools[name].invoke(
            {"path": SAVED, "content": "", "old_text": "line", "new_text": ""}
        )
        assert answer.startswith("Error:")
    for path in ("../x", "none.txt"):
        assert tools["read_file"].invoke({"path": path}).startswith("Error:")
    assert len(workdir.read_text(SAVED)) == 25_000


TEXTS = st.text(st.characters(), max_size=40)
BLOCK = st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS})
MESSAGES = st.lists(
    st.one_of(
        st.builds(HumanMessage, content=TEXTS, id=st.none() | TEXTS),
        st.builds(AIMessage, content=st.lists(BLOCK)),
        st.builds(ToolMessage, content=TEXTS, tool_call_id=TEXTS, name=TEXTS),
        st.builds(ChatMessage, content=TEXTS, role=TEXTS),
    ),
    max_size=6,
)


@given(MESSAGES)
def test_history_files_are_lossless(messages: list[Any]) -> None:
    workdir = Workdir(f"memory://{uuid.uuid4().hex}")
    path = write_history(workdir, messages, 0, len(messages), {})
    text = workdir.read_text(path)
    assert text.count("\n") == len(messages)
    assert read_history(text, workdir.read_text) == messages


def test_history_names_saved_results() -> None:
    big = "line\n" * 1000
    messages: list[Any] = [HumanMessage("q"), ToolMessage(big, tool_call_id="c")]
    path, text = history_file(messages, 0, 2, {1: (SAVED, big)})
    assert big not in text
    assert SAVED in text
    assert path.startswith("outputs/conversation_history/000000-000002-")
    assert read_history(text, {SAVED: big}.__getitem__) == messages
    # A file with another text (redacted, escaped) cannot stand for the content.
    _, whole = history_file(messages, 0, 2, {1: (SAVED, "other")})
    assert SAVED not in whole


def test_history_holds_what_json_cannot() -> None:
    messages: list[Any] = [
        ToolMessage("x", tool_call_id="c", artifact=object()),
        AIMessage("y", additional_kwargs={"number": 10**400, "set": {1}}),
    ]
    one = history_file(messages, 0, 2, {})
    assert one == history_file(messages, 0, 2, {})
    assert [m.content for m in read_history(one[1], str)] == ["x", "y"]


@pytest.mark.parametrize("line", ["{", "[]", '{"type": "human"}', '{"type": "none", "data": {}}'])
def test_a_line_that_is_no_message(line: str) -> None:
    with pytest.raises(WorkdirError, match="line 1"):
        read_history(line, str)
