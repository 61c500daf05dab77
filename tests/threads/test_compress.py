"""Compress now in a program: what it does to the thread, and when it refuses."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from langgraph_compression import (
    CompressionError,
    CompressionResult,
    CompressionSettings,
    MemoryGate,
    ThreadBusy,
    acompress_thread,
    add_compression,
    compress_thread,
    context_status,
    create_compression_graph,
)
from tests.support.fakes import FakeModel, RecordingWorkdir

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
CONFIG: Any = {"configurable": {"thread_id": "t"}}
SETTINGS = CompressionSettings(summary_keep_messages=4)


class Thread:
    """A thread of 20 messages, far below the threshold."""

    def __init__(self, *script: Any) -> None:
        self.workdir = RecordingWorkdir()
        self.summarizer = FakeModel(*script, answer="SUMMARY")
        self.model = FakeModel()
        self.graph = create_compression_graph(
            self.model,
            settings=SETTINGS,
            system_prompt="PROMPT",
            summary_model=self.summarizer,
            workdir=self.workdir,
            checkpointer=InMemorySaver(),
        )
        for n in range(10):
            text = f"Question {n}. " + "word " * 100
            self.graph.invoke({"messages": [HumanMessage(text, id=f"h{n}")]}, CONFIG)

    @property
    def state(self) -> Any:
        return self.graph.get_state(CONFIG)

    def compress(self, asynchronous: bool, **options: Any) -> CompressionResult:
        if asynchronous:
            return asyncio.run(acompress_thread(self.graph, CONFIG, **options))
        return compress_thread(self.graph, CONFIG, **options)


@BOTH
def test_completed(asynchronous: bool) -> None:
    thread = Thread()
    before = thread.state.values["messages"]

    result = thread.compress(asynchronous)

    values = thread.state.values
    assert result.status == "completed"
    assert result.reason is None
    assert result.compressed_messages == 16 == values["_summarization_event"]["cutoff_index"]
    assert result.file_path == values["_summarization_event"]["file_path"]
    assert result.file_path in thread.workdir.history
    assert [m.id for m in values["messages"]] == [m.id for m in before]
    status = context_status(values, SETTINGS)
    assert status.unknown == ("system", "tools")
    assert result.after_tokens == status.tokens < result.before_tokens
    assert thread.state.next == ()

    thread.graph.invoke({"messages": [("user", "Go on")]}, CONFIG)
    assert context_status(thread.state.values, SETTINGS).unknown == ()


@BOTH
def test_too_little_history(asynchronous: bool) -> None:
    thread = Thread()
    thread.compress(asynchronous)
    event = thread.state.values["_summarization_event"]
    result = thread.compress(asynchronous)
    assert (result.status, result.reason) == ("no_op", "insufficient_history")
    assert (result.compressed_messages, result.file_path) == (0, None)
    assert thread.state.values["_summarization_event"] == event


@BOTH
@pytest.mark.parametrize("broken", ["summary", "history"])
def test_failure_changes_nothing(broken: str, asynchronous: bool) -> None:
    error = RuntimeError("secret text")
    thread = Thread(*([error, error] if broken == "summary" else []))
    if broken == "history":
        thread.workdir.fails = lambda path: OSError(28, "No space") if "history" in path else None
    before = thread.state

    with pytest.raises(CompressionError, match=f"the {broken} of thread 't' failed") as caught:
        thread.compress(asynchronous)

    assert "secret text" not in str(caught.value)
    assert thread.state.values == before.values
    assert thread.state.next == ()


@BOTH
def test_a_thread_in_use_is_busy(asynchronous: bool) -> None:
    thread, gate = Thread(), MemoryGate()
    with gate.turn("t"), pytest.raises(ThreadBusy) as caught:
        thread.compress(asynchronous, gate=gate)
    assert caught.value.reason == "running"
    assert thread.compress(asynchronous, gate=gate).status == "completed"


@BOTH
def test_the_gate_is_let_go_after_a_failure(asynchronous: bool) -> None:
    error, gate = RuntimeError("down"), MemoryGate()
    thread = Thread(error, error)
    with pytest.raises(CompressionError):
        thread.compress(asynchronous, gate=gate)
    assert thread.compress(asynchronous, gate=gate).status == "completed"


@BOTH
def test_an_interrupt_stays(asynchronous: bool) -> None:
    def ask(state: MessagesState) -> Any:
        return {"messages": [AIMessage(f"person said {interrupt('ok?')}")]}

    builder = StateGraph(MessagesState)
    add_compression(builder, FakeModel(), workdir=RecordingWorkdir(), after_model="ask")
    builder.add_node("ask", ask)
    builder.add_edge(START, "measure")
    graph: Any = builder.compile(checkpointer=InMemorySaver())
    graph.invoke({"messages": [("user", "Hi")]}, CONFIG)

    def compress() -> Any:
        if asynchronous:
            return asyncio.run(acompress_thread(graph, CONFIG))
        return compress_thread(graph, CONFIG)

    with pytest.raises(ThreadBusy) as caught:
        compress()

    assert caught.value.reason == "waiting"
    result = graph.invoke(Command(resume="yes"), CONFIG)
    assert result["messages"][-1].content == "person said yes"


@BOTH
@pytest.mark.parametrize(
    ("stop", "at"),
    [
        ({"interrupt_before": ["model"]}, "model"),
        ({"interrupt_before": ["measure"]}, "measure"),
        ({"interrupt_after": ["measure"]}, "model"),
    ],
)
def test_a_breakpoint_stays(stop: Any, at: str, asynchronous: bool) -> None:
    thread = Thread()
    thread.graph.invoke({"messages": [("user", "Stop")]}, CONFIG, **stop)
    before = thread.state
    assert before.next == (at,)

    with pytest.raises(ThreadBusy) as caught:
        thread.compress(asynchronous)

    assert caught.value.reason == "waiting"
    assert thread.state == before
    assert thread.graph.invoke(None, CONFIG)["messages"][-1].content == "Understood."
    assert thread.compress(asynchronous).status == "completed"


@BOTH
def test_a_failed_request_can_still_be_resumed(asynchronous: bool) -> None:
    thread = Thread()
    thread.model.script.append(ConnectionError("down"))
    with pytest.raises(ConnectionError):
        thread.graph.invoke({"messages": [("user", "And?")]}, CONFIG)

    with pytest.raises(ThreadBusy) as caught:
        thread.compress(asynchronous)

    assert caught.value.reason == "waiting"
    assert thread.graph.invoke(None, CONFIG)["messages"][-1].content == "Understood."
    assert thread.compress(asynchronous).status == "completed"


@BOTH
@pytest.mark.parametrize("then", ["compress", "ask"])
def test_after_a_compression_that_broke_off(then: str, asynchronous: bool) -> None:
    thread = Thread(lambda messages: KeyboardInterrupt())
    before = thread.state.values
    with pytest.raises(KeyboardInterrupt):
        thread.compress(asynchronous)
    assert thread.state.next == ("summarize",)
    assert thread.state.values["messages"] == before["messages"]

    if then == "compress":
        assert thread.compress(asynchronous).compressed_messages == 16
    else:
        thread.graph.invoke({"messages": [("user", "Go on")]}, CONFIG)
        assert len(thread.state.values["messages"]) == len(before["messages"]) + 2
    assert thread.state.next == ()


@BOTH
def test_a_thread_that_was_only_filled(asynchronous: bool) -> None:
    thread = Thread()
    messages = thread.state.values["messages"]
    config: Any = {"configurable": {"thread_id": "filled"}}
    thread.graph.update_state(config, {"messages": messages})
    if asynchronous:
        result = asyncio.run(acompress_thread(thread.graph, config))
    else:
        result = compress_thread(thread.graph, config)
    assert result.compressed_messages == 16


@BOTH
def test_a_failed_summary_that_cost_something_changes_nothing(asynchronous: bool) -> None:
    usage: Any = {"input_tokens": 500, "output_tokens": 1, "total_tokens": 501}
    thread = Thread(*[AIMessage("", usage_metadata=usage) for _ in range(2)])
    before = thread.state
    with pytest.raises(CompressionError, match="summary"):
        thread.compress(asynchronous)
    assert len(thread.summarizer.requests) == 2
    assert thread.state.values == before.values


def test_what_cannot_be_compressed() -> None:
    builder = StateGraph(MessagesState)
    builder.add_node("chat", lambda state: state)
    builder.add_edge(START, "chat")
    with pytest.raises(CompressionError, match="no context_compression"):
        compress_thread(builder.compile(checkpointer=InMemorySaver()), CONFIG)
    with pytest.raises(CompressionError, match="names no thread"):
        compress_thread(Thread().graph, {})
