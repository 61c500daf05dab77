"""A run that crashed goes on where it stopped: the view is made again from the state."""

import json
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_compression import (
    CompressionError,
    CompressionSettings,
    compress_thread,
    create_compression_graph,
)
from tests.support.fakes import FakeModel, RecordingWorkdir, drive

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
CONFIG: Any = {"configurable": {"thread_id": "t"}}
SETTINGS = CompressionSettings(summary_threshold=2, summary_keep_messages=4)


class Crash(Exception):
    """A worker that went away."""


class Crashing:
    """A graph that crashes at the n-th opening of one of its parts."""

    def __init__(self, *, at: int = 0, model: FakeModel | None = None) -> None:
        self.opened, self.at = 0, at
        self.model = model or FakeModel()
        self.summarizer = FakeModel(answer="SUMMARY")
        self.workdir = RecordingWorkdir()
        self.graph = create_compression_graph(
            self._open,
            settings=SETTINGS,
            summary_model=self.summarizer,
            workdir=self.workdir,
            counter=lambda text: (len(text) + 3) // 4,
            checkpointer=InMemorySaver(),
        )

    def _open(self, state: Any, runtime: Any) -> FakeModel:
        """Called by each node in turn: measure, compact, recount, summarize, model."""
        self.opened += 1
        if self.opened == self.at:
            raise Crash
        return self.model


def history() -> list[AnyMessage]:
    return [
        message
        for n in range(14)
        for message in (
            HumanMessage(f"Question {n}. " + "word " * 100, id=f"h{n}"),
            AIMessage(f"Answer {n}. " + "term " * 100, id=f"a{n}"),
        )
    ]


def shape(view: Any) -> list[tuple[Any, ...]]:
    return [(message.type, message.content, message.id) for message in view]


@BOTH
@pytest.mark.parametrize("node", ["measure", "compact", "recount", "summarize", "model"])
def test_resumed_after_a_crash(node: str, asynchronous: bool) -> None:
    messages = [*history(), HumanMessage("Last", id="last")]
    whole = Crashing()
    drive(whole.graph, {"messages": messages}, CONFIG, asynchronous=asynchronous)

    at = ["measure", "compact", "recount", "summarize", "model"].index(node) + 1
    crashing = Crashing(at=at)
    crashed = drive(crashing.graph, {"messages": messages}, CONFIG, asynchronous=asynchronous)
    assert isinstance(crashed.error, Crash)
    assert crashing.graph.get_state(CONFIG).next == (node,)
    assert crashing.model.requests == []

    resumed = drive(crashing.graph, None, CONFIG, asynchronous=asynchronous)

    assert resumed.error is None
    assert len(crashing.summarizer.requests) == 1
    assert shape(crashing.model.views[0]) == shape(whole.model.views[0])
    assert crashing.workdir.files == whole.workdir.files
    values = crashing.graph.get_state(CONFIG).values
    assert [m.id for m in values["messages"][:-1]] == [m.id for m in messages]
    assert "_request" not in values


@BOTH
def test_resumed_after_the_model_failed_behind_a_summary(asynchronous: bool) -> None:
    bench = Crashing(model=FakeModel(ValueError("SECRET down")))
    messages = [*history(), HumanMessage("Last", id="last")]

    failed = drive(bench.graph, {"messages": messages}, CONFIG, asynchronous=asynchronous)

    assert isinstance(failed.error, ValueError)
    assert failed.statuses() == ["started", "failed"]
    assert failed.last("failed")["error"] == "ValueError"
    assert "SECRET" not in json.dumps(failed.events)
    assert bench.graph.get_state(CONFIG).values["_summarization_event"]["cutoff_index"] > 0

    resumed = drive(bench.graph, None, CONFIG, asynchronous=asynchronous)
    assert resumed.error is None
    assert len(bench.summarizer.requests) == 1
    assert shape(bench.model.views[1]) == shape(bench.model.views[0])


@BOTH
def test_resumed_after_an_overflow_that_did_not_end(asynchronous: bool) -> None:
    errors = [ContextOverflowError("no") for _ in range(3)]
    bench = Crashing(model=FakeModel(*errors))
    messages = [*history(), HumanMessage("Last", id="last")]
    failed = drive(bench.graph, {"messages": messages}, CONFIG, asynchronous=asynchronous)
    assert failed.error in errors

    resumed = drive(bench.graph, None, CONFIG, asynchronous=asynchronous)
    assert resumed.error is None
    assert bench.model.views[-1][-1].id == "last"


def test_a_new_question_instead_of_a_resume() -> None:
    bench = Crashing(at=4)
    drive(bench.graph, {"messages": history()}, CONFIG, asynchronous=False)
    drive(bench.graph, {"messages": [HumanMessage("New", id="n")]}, CONFIG, asynchronous=False)
    assert bench.model.views[0][-1].id == "n"


def test_compress_now_reports_a_crash_and_keeps_messages_and_event() -> None:
    bench = Crashing()
    bench.graph.update_state(CONFIG, {"messages": history()}, as_node="model")
    before = bench.graph.get_state(CONFIG).values
    bench.at = bench.opened + 4
    with pytest.raises((Crash, CompressionError)):
        compress_thread(bench.graph, CONFIG)
    after = bench.graph.get_state(CONFIG).values
    assert after["messages"] == before["messages"]
    assert after.get("_summarization_event") == before.get("_summarization_event")
    answered = drive(bench.graph, {"messages": [("user", "Go on")]}, CONFIG, asynchronous=False)
    assert answered.error is None
