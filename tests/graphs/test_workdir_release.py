"""A workdir that is a sandbox: entered when files are needed, released on every path."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_compression import (
    CompressionError,
    CompressionSettings,
    acompress_thread,
    compress_thread,
    create_compression_graph,
    file_tools,
)
from tests.support.fakes import FakeModel, RecordingWorkdir, drive

CONFIG: Any = {"configurable": {"thread_id": "t"}}
LONG: list[AnyMessage] = [
    message
    for n in range(12)
    for message in (
        HumanMessage(f"Question {n}. " + "word " * 100, id=f"h{n}"),
        AIMessage(f"Answer {n}. " + "term " * 100, id=f"a{n}"),
    )
]


class Sandbox:
    """What happened to a sandbox, and the ways to enter it."""

    def __init__(self, *, fails_to: str = "") -> None:
        self.files = RecordingWorkdir()
        self.log: list[str] = []
        self.fails_to = fails_to

    def _note(self, what: str) -> None:
        self.log.append(what)
        if self.fails_to == what:
            raise RuntimeError("secret text")

    @contextmanager
    def sync(self, config: Any) -> Iterator[RecordingWorkdir]:
        self._note("enter")
        try:
            yield self.files
        finally:
            self._note("leave")

    @asynccontextmanager
    async def asynchronous(self, config: Any) -> AsyncIterator[RecordingWorkdir]:
        self._note("enter")
        try:
            yield self.files
        finally:
            await asyncio.sleep(0)
            self._note("leave")

    @property
    def balanced(self) -> bool:
        """Whether it was entered, and left after each time."""
        return bool(self.log) and self.log == ["enter", "leave"] * (len(self.log) // 2)


WAYS = [("sync", False), ("sync", True), ("asynchronous", True)]
each_way = pytest.mark.parametrize(
    ("way", "loop"), WAYS, ids=["sync", "sync on a loop", "async on a loop"]
)


def graph_of(workdir: Callable[[Any], Any], **options: Any) -> Any:
    options = {"model": FakeModel(), "summary_model": FakeModel(answer="SUMMARY"), **options}
    return create_compression_graph(
        settings=CompressionSettings(summary_threshold=2, summary_keep_messages=4),
        workdir=workdir,
        checkpointer=InMemorySaver(),
        **options,
    )


@each_way
@pytest.mark.parametrize("case", ["success", "summarizer", "write", "provider", "overflow"])
def test_released_after_a_request(way: str, loop: bool, case: str) -> None:
    sandbox = Sandbox()
    options: dict[str, Any] = {
        "summarizer": {"summary_model": FakeModel(answer=RuntimeError("down"))},
        "provider": {"model": FakeModel(answer=RuntimeError("down"))},
        "overflow": {"model": FakeModel(answer=ContextOverflowError("too large"))},
    }.get(case, {})
    if case == "write":
        sandbox.files.fails = lambda path: OSError(28, "full")

    outcome = drive(
        graph_of(getattr(sandbox, way), **options), {"messages": LONG}, CONFIG, asynchronous=loop
    )

    assert (outcome.error is not None) == (case in ("provider", "overflow"))
    assert sandbox.balanced


@each_way
def test_not_entered_below_the_threshold(way: str, loop: bool) -> None:
    sandbox = Sandbox()
    graph = graph_of(getattr(sandbox, way))
    assert drive(graph, {"messages": LONG[:2]}, CONFIG, asynchronous=loop).error is None
    assert sandbox.log == []


@each_way
def test_failing_release_hides_nothing(
    way: str, loop: bool, caplog: pytest.LogCaptureFixture
) -> None:
    sandbox = Sandbox(fails_to="leave")
    graph = graph_of(getattr(sandbox, way))

    outcome = drive(graph, {"messages": LONG}, CONFIG, asynchronous=loop)

    assert outcome.error is None
    assert "failures" not in outcome.last("completed")
    assert graph.get_state(CONFIG).values["_summarization_event"]["file_path"] in (
        sandbox.files.history
    )
    assert "RuntimeError" in caplog.text
    assert "secret text" not in caplog.text


@each_way
def test_failing_release_does_not_replace_the_error(way: str, loop: bool) -> None:
    sandbox = Sandbox(fails_to="leave")
    graph = graph_of(
        getattr(sandbox, way),
        summary_model=FakeModel(answer=RuntimeError("refused")),
        is_overflow=lambda error: 1 / 0,
    )
    outcome = drive(graph, {"messages": LONG}, CONFIG, asynchronous=loop)
    assert isinstance(outcome.error, ZeroDivisionError)
    assert sandbox.balanced


@each_way
def test_sandbox_that_does_not_start(
    way: str, loop: bool, caplog: pytest.LogCaptureFixture
) -> None:
    sandbox = Sandbox(fails_to="enter")
    graph = graph_of(getattr(sandbox, way))

    outcome = drive(graph, {"messages": LONG}, CONFIG, asynchronous=loop)

    assert outcome.error is None
    assert [one["kind"] for one in outcome.last("completed")["failures"]] == ["history"]
    event = graph.get_state(CONFIG).values["_summarization_event"]
    assert (event["cutoff_index"], event["file_path"]) == (20, None)
    assert "secret text" not in caplog.text


def test_async_sandbox_of_a_sync_run_is_refused_clearly() -> None:
    outcome = drive(
        graph_of(Sandbox().asynchronous), {"messages": LONG}, CONFIG, asynchronous=False
    )
    assert "ainvoke" in str(outcome.error)


@each_way
@pytest.mark.parametrize("case", ["success", "summarizer", "write"])
def test_released_after_compress_now(way: str, loop: bool, case: str) -> None:
    sandbox = Sandbox()
    summarizer = FakeModel(answer=RuntimeError("down") if case == "summarizer" else "SUMMARY")
    graph = graph_of(getattr(sandbox, way), summary_model=summarizer)
    graph.update_state(CONFIG, {"messages": LONG}, as_node="model")
    before = graph.get_state(CONFIG).values
    if case == "write":
        sandbox.files.fails = lambda path: OSError(28, "full")

    def compress() -> Any:
        if loop:
            return asyncio.run(acompress_thread(graph, CONFIG))
        return compress_thread(graph, CONFIG)

    if case == "success":
        assert compress().status == "completed"
    else:
        with pytest.raises(CompressionError):
            compress()
        assert graph.get_state(CONFIG).values == before
    assert sandbox.balanced


@pytest.mark.parametrize("way", ["sync", "asynchronous"])
def test_released_after_a_cancellation(way: str) -> None:
    sandbox = Sandbox()
    began = asyncio.Event()

    class Hanging(FakeModel):
        async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> AIMessage:
            began.set()
            await asyncio.sleep(60)
            raise AssertionError("not cancelled")

    async def main() -> None:
        graph = graph_of(getattr(sandbox, way), summary_model=Hanging())
        task = asyncio.create_task(graph.ainvoke({"messages": LONG}, CONFIG))
        await began.wait()
        assert sandbox.log[-1] == "enter"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert sandbox.balanced


@each_way
def test_released_after_a_file_tool(way: str, loop: bool) -> None:
    sandbox = Sandbox()
    tools = {tool.name: tool for tool in file_tools(getattr(sandbox, way))}

    def call(name: str, **args: Any) -> str:
        if loop:
            return str(asyncio.run(tools[name].ainvoke(args)))
        return str(tools[name].invoke(args))

    assert "Wrote 4" in call("write_file", path="a.txt", content="text")
    assert "text" in call("read_file", path="a.txt")
    assert "Error" in call("read_file", path="b.txt")
    assert sandbox.log == ["enter", "leave"] * 3


def test_log_names_no_text(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        sandbox = Sandbox(fails_to="enter")
        tools = {tool.name: tool for tool in file_tools(sandbox.sync)}
        assert "RuntimeError" in tools["list_files"].invoke({})
    assert "secret text" not in caplog.text
