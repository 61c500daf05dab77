"""What a client downloads: streams show the view in small, at any length of history.

The measure is the server's own JSON. A plain graph of one node is the yardstick.
"""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph_api.serde import json_dumpb  # type: ignore[import-untyped]

from langgraph_compression import (
    CompressionSettings,
    add_compression,
    compression_node,
    create_compression_graph,
)
from tests.support.fakes import FakeModel, RecordingWorkdir

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
CONFIG: Any = {"configurable": {"thread_id": "t"}}
NODES = ("measure", "compact", "recount", "summarize", "model")
KILOBYTE = 1024
CALL = {"name": "lookup", "args": {}, "id": "c", "type": "tool_call"}


def history(length: int) -> list[AnyMessage]:
    """About 120 bytes a message, and one large tool result."""
    talk: list[AnyMessage] = [
        message
        for n in range(length // 2)
        for message in (
            HumanMessage(f"Question {n}. " + "word " * 20, id=f"h{n}"),
            AIMessage(f"Answer {n}. " + "term " * 20, id=f"a{n}"),
        )
    ]
    result = ToolMessage("found it " * 2000, tool_call_id="c", id="r")
    return [*talk[:4], AIMessage("", tool_calls=[CALL], id="call"), result, *talk[4:]]


def plain() -> Any:
    """A graph of one node that asks the model."""
    model = FakeModel()
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_edge(START, "model")
    return builder


def flat(**options: Any) -> Any:
    """The five nodes in a host graph."""
    builder = StateGraph(MessagesState)
    add_compression(builder, FakeModel(), summary_model=FakeModel(answer="SUMMARY"), **options)
    builder.add_edge(START, "measure")
    return builder


def streamed(
    builder: Any, messages: Sequence[AnyMessage], mode: str, asynchronous: bool, **options: Any
) -> list[int]:
    """Bytes of each chunk of a turn."""
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.update_state(CONFIG, {"messages": messages}, as_node="model")
    given = {"messages": [HumanMessage("Now?", id="now")]}

    async def arun() -> list[Any]:
        if mode == "events":
            return [event async for event in graph.astream_events(given, CONFIG, **options)]
        return [chunk async for chunk in graph.astream(given, CONFIG, stream_mode=mode, **options)]

    if asynchronous or mode == "events":  # events are async only
        chunks = asyncio.run(arun())
    else:
        chunks = list(graph.stream(given, CONFIG, stream_mode=mode, **options))
    return [len(json_dumpb(chunk)) for chunk in chunks]


CASES = {
    "below the threshold": 1e6,
    "compacted": 64,
    "summarized": 8,
}


@BOTH
@pytest.mark.parametrize("length", [40, 600])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("mode", ["updates", "tasks", "events"])
def test_a_turn_is_at_most_a_kilobyte_per_node_larger(
    mode: str, case: str, length: int, asynchronous: bool
) -> None:
    messages = history(length)
    ours = flat(
        settings=CompressionSettings(summary_threshold=CASES[case]), workdir=RecordingWorkdir()
    )

    mine = sum(streamed(ours, messages, mode, asynchronous))

    assert mine <= sum(streamed(plain(), messages, mode, asynchronous)) + len(NODES) * KILOBYTE


@BOTH
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("mode", ["values", "debug"])
def test_no_chunk_is_more_than_a_kilobyte_larger(mode: str, case: str, asynchronous: bool) -> None:
    # These modes repeat the state after every step of any graph; each time only once.
    messages = history(600)
    ours = flat(
        settings=CompressionSettings(summary_threshold=CASES[case]), workdir=RecordingWorkdir()
    )

    largest = max(streamed(ours, messages, mode, asynchronous))

    assert largest <= max(streamed(plain(), messages, mode, asynchronous)) + 2 * KILOBYTE


@BOTH
@pytest.mark.parametrize("mode", ["updates", "tasks"])
def test_with_subgraphs(mode: str, asynchronous: bool) -> None:
    settings, messages = CompressionSettings(summary_threshold=8), history(600)
    inner = create_compression_graph(
        FakeModel(),
        settings=settings,
        summary_model=FakeModel(answer="SUMMARY"),
        workdir=RecordingWorkdir(),
    )

    def host(node: Any) -> Any:
        builder = StateGraph(MessagesState)
        builder.add_node("model", node)
        builder.add_edge(START, "model")
        return builder

    mine = streamed(host(compression_node(inner)), messages, mode, asynchronous, subgraphs=True)
    theirs = streamed(host(plain().compile()), messages, mode, asynchronous, subgraphs=True)
    assert sum(mine) <= sum(theirs) + len(NODES) * KILOBYTE


@BOTH
def test_the_view_is_seen_in_small(asynchronous: bool) -> None:
    builder = flat(settings=CompressionSettings(summary_threshold=8), workdir=RecordingWorkdir())
    graph = builder.compile()
    given = {"messages": [*history(400), HumanMessage("Now?")]}

    async def arun() -> list[Any]:
        return [chunk async for chunk in graph.astream(given, stream_mode="updates")]

    chunks = (
        asyncio.run(arun()) if asynchronous else list(graph.stream(given, stream_mode="updates"))
    )
    shown = [json.loads(json_dumpb(chunk)) for chunk in chunks]
    assert shown[0]["measure"]["_request"]["messages"] == 403
    assert shown[0]["measure"]["_request"]["reading"]["total"] > 8192
    last = shown[-2]["summarize"]["_request"]
    assert last["messages"] < 403
    assert [done["action"] for done in last["actions"]] == ["compacted", "summarized"]
    assert shown[-1]["model"]["_request"] is None
