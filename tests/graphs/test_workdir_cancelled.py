"""A cancellation while a sandbox is entered or used: what was entered is left."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_compression import CompressionSettings, create_compression_graph, file_tools
from tests.support.fakes import FakeModel
from tests.support.slow_sandbox import WAYS, SlowSandbox

each_way = pytest.mark.parametrize("way", WAYS)
CONFIG: Any = {"configurable": {"thread_id": "t"}}
LONG: list[AnyMessage] = [
    message
    for n in range(12)
    for message in (
        HumanMessage(f"Question {n}. " + "word " * 100, id=f"h{n}"),
        AIMessage(f"Answer {n}. " + "term " * 100, id=f"a{n}"),
    )
]


@each_way
def test_a_request_while_the_sandbox_is_entered(way: str) -> None:
    sandbox = SlowSandbox("entering")
    graph = create_compression_graph(
        FakeModel(),
        summary_model=FakeModel(answer="SUMMARY"),
        settings=CompressionSettings(summary_threshold=2, summary_keep_messages=4),
        workdir=getattr(sandbox, way),
        checkpointer=InMemorySaver(),
    )

    async def main() -> None:
        await sandbox.cancelled(graph.ainvoke({"messages": LONG}, CONFIG))
        assert sandbox.balanced
        assert sandbox.files.written == []
        await graph.ainvoke({"messages": [HumanMessage("Go on", id="on")]}, CONFIG)

    asyncio.run(main())
    assert sandbox.log
    assert sandbox.balanced
    values = graph.get_state(CONFIG).values
    assert [m.id for m in values["messages"]][:-1] == [*(m.id for m in LONG), "on"]
    assert values["_summarization_event"]["file_path"] in sandbox.files.history


@each_way
def test_a_file_tool_while_the_sandbox_is_entered(way: str) -> None:
    sandbox = SlowSandbox("entering")
    tools = {tool.name: tool for tool in file_tools(getattr(sandbox, way))}
    call = {"path": "a.txt", "content": "text"}

    async def main() -> None:
        await sandbox.cancelled(tools["write_file"].ainvoke(call))
        assert sandbox.balanced
        assert sandbox.files.written == []
        assert "Wrote 4" in await tools["write_file"].ainvoke(call)

    asyncio.run(main())
    assert sandbox.log[-2:] == ["enter", "leave"]
    assert sandbox.files.files == {"a.txt": "text"}


@each_way
def test_a_file_tool_while_it_writes(way: str) -> None:
    """What was begun is written whole, then the sandbox is left."""
    sandbox = SlowSandbox("writing")
    tools = {tool.name: tool for tool in file_tools(getattr(sandbox, way))}
    call = {"path": "a.txt", "content": "text"}

    async def main() -> None:
        await sandbox.cancelled(tools["write_file"].ainvoke(call))
        assert sandbox.log == ["enter", "leave"]
        assert sandbox.files.files == {"a.txt": "text"}
        assert "text" in await tools["read_file"].ainvoke({"path": "a.txt"})

    asyncio.run(main())
    assert sandbox.log == ["enter", "leave"] * 2


@each_way
def test_a_file_tool_while_the_sandbox_is_left(way: str) -> None:
    sandbox = SlowSandbox("leaving")
    tools = {tool.name: tool for tool in file_tools(getattr(sandbox, way))}

    async def main() -> None:
        await sandbox.cancelled(tools["list_files"].ainvoke({}))
        assert sandbox.log == ["enter", "leave"]

    asyncio.run(main())
