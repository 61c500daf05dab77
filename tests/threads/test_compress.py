"""Compress now in a program: what it does to the thread, and when it refuses."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
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

    def __init__(self, *script: Any, saver: Any = None) -> None:
        self.config = CONFIG
        self.workdir = RecordingWorkdir()
        self.summarizer = FakeModel(*script, answer="SUMMARY")
        self.model = FakeModel()
        self.graph = create_compression_graph(
            self.model,
            settings=SETTINGS,
            system_prompt="PROMPT",
            summary_model=self.summarizer,
            workdir=self.workdir,
            checkpointer=saver or InMemorySaver(),
        )
        for n in range(10):
            text = f"Question {n}. " + "word " * 100
            self.graph.invoke({"messages": [HumanMessage(text, id=f"h{n}")]}, CONFIG)

    @property
    def state(self) -> Any:
        return self.graph.get_state(self.config)

    @property
    def values(self) -> Any:
        return self.state.values

    @property
    def next(self) -> Any:
        return self.state.next

    @property
    def messages(self) -> list[Any]:
        return [message.content for message in self.values["messages"]]

    def update(self, values: Any, as_node: str | None) -> None:
        self.graph.update_state(self.config, values, as_node=as_node)

    def compress(self, asynchronous: bool, **options: Any) -> CompressionResult:
        if asynchronous:
            return asyncio.run(acompress_thread(self.graph, self.config, **options))
        return compress_thread(self.graph, self.config, **options)


class SqliteInBoth(SqliteSaver):
    """One SQLite file for sync and async callers; the async calls wait in a thread."""

    async def aget_tuple(self, *args: Any) -> Any:
        return await asyncio.to_thread(self.get_tuple, *args)

    async def alist(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        for found in await asyncio.to_thread(lambda: list(self.list(*args, **options))):
            yield found

    async def aput(self, *args: Any) -> Any:
        return await asyncio.to_thread(self.put, *args)

    async def aput_writes(self, *args: Any) -> None:
        await asyncio.to_thread(self.put_writes, *args)


@contextmanager
def stored(saver: str, folder: Path) -> Iterator[Thread]:
    """A thread in a checkpointer of this kind."""
    if saver == "memory":
        yield Thread()
        return
    with closing(sqlite3.connect(folder / "t.sqlite", check_same_thread=False)) as connection:
        yield Thread(saver=SqliteInBoth(connection))


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
def test_a_breakpoint_of_the_graph_is_never_forced_away(asynchronous: bool) -> None:
    thread = Thread()
    graph = thread.graph.builder.compile(
        checkpointer=thread.graph.checkpointer, interrupt_before=["model"]
    )
    graph.invoke({"messages": [("user", "Stop")]}, CONFIG)
    with pytest.raises(ThreadBusy, match="never forced") as caught:
        compressed(graph, asynchronous, force=True)
    assert (caught.value.resumable_at, caught.value.forceable) == (("model",), False)


@BOTH
def test_a_failed_request_can_still_be_resumed(asynchronous: bool) -> None:
    thread = Thread()
    fail(thread)

    with pytest.raises(ThreadBusy, match="stopped at 'model' and can be resumed there") as caught:
        thread.compress(asynchronous)

    busy = caught.value
    assert (busy.reason, busy.resumable_at, busy.forceable) == ("waiting", ("model",), True)
    assert thread.graph.invoke(None, CONFIG)["messages"][-1].content == "Understood."
    assert thread.compress(asynchronous).status == "completed"


def fail(thread: Thread) -> None:
    """A request that the model does not answer."""
    thread.model.script.append(ConnectionError("down"))
    with pytest.raises(ConnectionError):
        thread.graph.invoke({"messages": [HumanMessage("And?", id="and")]}, CONFIG)


@pytest.mark.parametrize("saver", ["memory", "sqlite"])
@BOTH
def test_a_failed_request_is_given_up_by_force(
    asynchronous: bool, saver: str, tmp_path: Path
) -> None:
    with stored(saver, tmp_path) as thread:
        before = thread.messages
        fail(thread)

        result = thread.compress(asynchronous, force=True)

        assert result.status == "completed"
        assert thread.messages == [*before, "And?"]
        assert thread.next == ()
        answer = thread.graph.invoke({"messages": [("user", "Go on")]}, CONFIG)
        assert answer["messages"][-1].content == "Understood."
        view = [message.content for message in thread.model.views[-1]]
        assert view[-2:] == ["And?", "Go on"]
        assert "SUMMARY" in view[1]
        assert thread.compress(asynchronous, force=True).status == "no_op"  # nothing to give up


@BOTH
@pytest.mark.parametrize("broken", ["summary", "history"])
def test_a_forced_compression_that_fails_says_what_it_ended(
    broken: str, asynchronous: bool
) -> None:
    error = RuntimeError("secret text")
    thread = Thread(*([error, error] if broken == "summary" else []))
    fail(thread)
    if broken == "history":
        thread.workdir.fails = lambda path: OSError(28, "No space") if "history" in path else None
    before = thread.state.values
    with pytest.raises(CompressionError, match="resumed was ended, nothing else was"):
        thread.compress(asynchronous, force=True)
    assert thread.state.values == before
    assert thread.state.next == ()


@BOTH
def test_a_forced_compression_keeps_what_other_branches_have_done(asynchronous: bool) -> None:
    def fails(state: MessagesState) -> Any:
        raise ConnectionError("down")

    def works(state: MessagesState) -> Any:
        return {"messages": [AIMessage("Done.", id="done")]}

    builder = StateGraph(MessagesState)
    workdir = RecordingWorkdir()
    add_compression(builder, FakeModel(), workdir=workdir, after_model=lambda s: ["a", "b"])
    builder.add_node("a", works)
    builder.add_node("b", fails)
    builder.add_edge(START, "measure")
    graph: Any = builder.compile(checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        graph.invoke({"messages": [("user", "Hi")]}, CONFIG)
    with pytest.raises(ThreadBusy) as caught:
        compressed(graph, asynchronous)
    assert caught.value.resumable_at == ("b",)
    compressed(graph, asynchronous, force=True)
    assert graph.get_state(CONFIG).values["messages"][-1].id == "done"
    assert graph.get_state(CONFIG).next == ()


def compressed(graph: Any, asynchronous: bool, **options: Any) -> CompressionResult:
    if asynchronous:
        return asyncio.run(acompress_thread(graph, CONFIG, **options))
    return compress_thread(graph, CONFIG, **options)


@BOTH
def test_a_cancelled_request_is_given_up_by_force(asynchronous: bool) -> None:
    thread = Thread()
    thread.model.script.append(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        thread.graph.invoke({"messages": [HumanMessage("And?", id="and")]}, CONFIG)
    with pytest.raises(ThreadBusy, match=r"stopped at 'model'.*no longer be resumed") as caught:
        thread.compress(asynchronous)
    assert (caught.value.resumable_at, caught.value.forceable) == (("model",), True)
    assert thread.compress(asynchronous, force=True).status == "completed"
    assert thread.messages[-1] == "And?"


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


@pytest.mark.parametrize("saver", ["memory", "sqlite"])
@pytest.mark.parametrize("as_node", [None, "measure", "recount", "model", "__start__"])
@pytest.mark.parametrize("updates", [1, 2, 5])
@BOTH
def test_a_thread_that_was_only_filled(
    asynchronous: bool, updates: int, as_node: str | None, saver: str, tmp_path: Path
) -> None:
    with stored(saver, tmp_path) as thread:
        messages = [m for m in thread.values["messages"] if m.id]
        thread.config = {"configurable": {"thread_id": "filled"}}
        size = len(messages) // updates
        for n in range(updates):
            some = messages[n * size : (n + 1) * size]
            thread.update({"messages": some}, as_node)
        assert thread.compress(asynchronous).compressed_messages == 16

        # From now on it is a thread like any other.
        thread.graph.invoke({"messages": ["Stop"]}, thread.config, interrupt_before=["model"])
        thread.update({"messages": ["Edited"]}, None)
        with pytest.raises(ThreadBusy) as caught:
            thread.compress(asynchronous)
        assert caught.value.reason == "waiting"


@pytest.mark.parametrize("stop", ["measure", "model"])
@BOTH
def test_a_filled_thread_at_its_first_breakpoint_waits(asynchronous: bool, stop: str) -> None:
    thread = Thread()
    thread.config = {"configurable": {"thread_id": "filled"}}
    for n in range(3):
        thread.update({"messages": [f"Note {n}"]}, None)
    thread.graph.invoke({"messages": ["Stop"]}, thread.config, interrupt_before=[stop])
    for _ in range(2):
        with pytest.raises(ThreadBusy) as caught:
            thread.compress(asynchronous)
        assert caught.value.resumable_at == (stop,)
        thread.update({"messages": ["Edited"]}, None)
        stop = thread.next[0]
    assert thread.graph.invoke(None, thread.config)["messages"][-1].content == "Understood."
    assert thread.compress(asynchronous).status in ("completed", "no_op")


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
