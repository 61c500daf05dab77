"""The file tools, as a model uses them."""

import asyncio
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from langgraph_compression import Workdir, file_tools
from langgraph_compression.workdir.file_tools import SLICE

SAVED = "outputs/large_tool_results/a-0123456789abcdef.txt"


@pytest.fixture
def workdir() -> Workdir:
    return Workdir(f"memory://{uuid.uuid4().hex}")


def tools_of(workdir: Workdir) -> dict[str, BaseTool]:
    return {tool.name: tool for tool in file_tools(workdir)}


def test_file_tools_work_and_tell_errors(workdir: Workdir) -> None:
    tools = tools_of(workdir)
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


@pytest.mark.parametrize("text", ["one line " * 20_000, "压缩\n" * 5_000, "", "short"])
def test_following_the_offsets_reads_the_whole_file(workdir: Workdir, text: str) -> None:
    workdir.write_text(SAVED, text)
    read = tools_of(workdir)["read_file"]
    got, offset = "", 0
    while True:
        frame, _, part = read.invoke({"path": SAVED, "offset": offset}).partition("\n")
        assert len(part) <= SLICE
        got += part
        if "the end of the file" in frame:
            break
        offset = int(frame.rpartition("offset=")[2].rstrip("]"))
    assert got == text


@pytest.mark.parametrize(("offset", "limit"), [(-1, 10), (0, 10**9), (0, 0), (10**12, 5), (3, -2)])
def test_odd_slices_are_bounded(workdir: Workdir, offset: int, limit: int) -> None:
    workdir.write_text("a.txt", "x" * 10_000)
    answer = tools_of(workdir)["read_file"].invoke(
        {"path": "a.txt", "offset": offset, "limit": limit}
    )
    assert answer.startswith("[a.txt: characters")
    assert len(answer) < SLICE + 200


@pytest.mark.parametrize(
    "arguments", [{}, {"path": 1}, {"path": "a.txt", "offset": "many"}, {"path": None}]
)
def test_wrong_arguments_are_told(workdir: Workdir, arguments: dict[str, Any]) -> None:
    answer = tools_of(workdir)["read_file"].invoke(arguments)
    assert answer.startswith("Error: ")
    assert "many" not in answer


@pytest.mark.parametrize(
    "path",
    ["../a", "a\0", "skills/a", "Skills/a", SAVED, f"/{SAVED}", "Outputs/Conversation_History/a"],
)
def test_what_may_not_be_written(workdir: Workdir, path: str) -> None:
    tools = tools_of(workdir)
    for answer in (
        tools["write_file"].invoke({"path": path, "content": "x"}),
        tools["edit_file"].invoke({"path": path, "old_text": "a", "new_text": "b"}),
    ):
        assert answer.startswith("Error: ")
    assert workdir.list() == []


@pytest.mark.parametrize(
    ("text", "old", "found"),
    [("aaa", "aa", 2), ("abab", "ab", 2), ("abc", "", 0), ("abc", "x", 0), ("abc", "\ud800", 0)],
)
def test_an_edit_must_be_clear(workdir: Workdir, text: str, old: str, found: int) -> None:
    workdir.write_text("a.txt", text)
    answer = tools_of(workdir)["edit_file"].invoke(
        {"path": "a.txt", "old_text": old, "new_text": "!"}
    )
    assert answer.startswith(f"Error: old_text stands {found} times")
    assert workdir.read_text("a.txt") == text


def test_an_edit_keeps_line_ends(workdir: Workdir) -> None:
    workdir.write_text("a.txt", "one\r\ntwo\r\n")
    tools_of(workdir)["edit_file"].invoke({"path": "a.txt", "old_text": "two", "new_text": "2"})
    assert workdir.read_text("a.txt") == "one\r\n2\r\n"


def test_edits_at_the_same_time_are_all_made(tmp_path: Path) -> None:
    workdir = Workdir(tmp_path)
    workdir.write_text("a.txt", "".join(f"<{n}>" for n in range(40)))
    edit = tools_of(workdir)["edit_file"]

    def one(number: int) -> str:
        arguments = {"path": "a.txt", "old_text": f"<{number}>", "new_text": f"[{number}]"}
        return str(edit.invoke(arguments))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(one, range(40))) == {"Edited a.txt."}
    assert workdir.read_text("a.txt") == "".join(f"[{n}]" for n in range(40))


def test_halves_of_surrogate_pairs_are_escaped(workdir: Workdir) -> None:
    tools_of(workdir)["write_file"].invoke({"path": "a.txt", "content": "a\ud800b"})
    assert workdir.read_text("a.txt") == "a\\ud800b"


def test_a_long_listing_is_bounded(workdir: Workdir) -> None:
    for number in range(300):
        workdir.write_text(f"many/{'n' * 50}{number:03d}", "x")
    answer = tools_of(workdir)["list_files"].invoke({"folder": "many"})
    *names, rest = answer.split("\n")
    assert len(answer) < SLICE + 100
    assert names == workdir.list("many")[: len(names)]
    assert rest == f"[{300 - len(names)} more; name a folder]"


class Full(Workdir):
    def write_text(self, path: str, text: str) -> None:
        raise OSError(28, "No space left on device", "/root/disk")


def test_errors_of_a_subclass_are_told_without_its_path() -> None:
    tools = tools_of(Full(f"memory://{uuid.uuid4().hex}"))
    answer = tools["write_file"].invoke({"path": "a.txt", "content": "x"})
    assert answer == "Error: No space left on device"


def test_tools_in_a_graph_sync_and_async(workdir: Workdir) -> None:
    calls = [
        {"name": "write_file", "args": {"path": "/a.txt", "content": "text"}, "id": "1"},
        {"name": "read_file", "args": {"path": "../a.txt"}, "id": "2"},
    ]
    builder = StateGraph(MessagesState).add_node("tools", ToolNode(file_tools(workdir)))
    graph: Any = builder.add_edge(START, "tools").compile()
    state = {"messages": [AIMessage("", tool_calls=calls)]}
    for result in (graph.invoke(state), asyncio.run(graph.ainvoke(state))):
        first, second = result["messages"][-2:]
        assert isinstance(first, ToolMessage)
        assert first.content == "Wrote 4 characters to a.txt."
        assert second.content.startswith("Error: path '../a.txt' is refused")
    assert workdir.read_text("a.txt") == "text"
