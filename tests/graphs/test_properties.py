"""What holds for any conversation, over several turns of the compiled graph."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_compression import CompressionSettings, create_compression_graph
from langgraph_compression.workdir.history import read_history
from tests.support.conversations import (
    conversations,
    faults_of,
    is_empty,
    last_speech,
    open_calls,
)
from tests.support.fakes import FakeModel, RecordingWorkdir, drive

CONFIG: Any = {"configurable": {"thread_id": "t"}}
SETTINGS = CompressionSettings(
    summary_threshold=0.6, summary_keep_messages=3, summary_tool_result_token_limit=40
)
FILLER = "The ferry reaches the berth on time. " * 20  # so that most threads are compressed

LOOKED_UP: list[BaseMessage] = [
    AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "look-1"}]),
    ToolMessage(FILLER * 6, tool_call_id="look-1"),
    AIMessage("Seen."),
]


class Thread:
    """A thread whose texts cost a token for each four characters."""

    def __init__(self, asynchronous: bool) -> None:
        self.asynchronous = asynchronous
        self.model = FakeModel()
        self.summarizer = FakeModel(answer="SUMMARY")
        self.workdir = RecordingWorkdir()
        self.graph = create_compression_graph(
            self.model,
            settings=SETTINGS,
            summary_model=self.summarizer,
            workdir=self.workdir,
            counter=lambda text: (len(text) + 3) // 4,
            checkpointer=InMemorySaver(),
        )

    @property
    def values(self) -> dict[str, Any]:
        return dict(self.graph.get_state(CONFIG).values)

    def put(self, messages: Sequence[BaseMessage]) -> None:
        self.graph.update_state(CONFIG, {"messages": messages}, as_node="model")

    def ask(self) -> list[BaseMessage]:
        """One request; its view."""
        outcome = drive(self.graph, {"messages": []}, CONFIG, asynchronous=self.asynchronous)
        assert outcome.error is None, repr(outcome.error)
        return list(self.model.views[-1])


def saved(messages: Sequence[BaseMessage]) -> list[Any]:
    """Messages as they can be compared with those of a file: lone surrogates have no UTF-8."""
    return [m.model_dump_json().encode("utf-8", "replace") for m in messages]


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_any_conversation(asynchronous: bool) -> None:
    seen: Counter[str] = Counter()

    @given(turns=st.lists(conversations(6), min_size=2, max_size=4))
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def check(turns: list[list[AnyMessage]]) -> None:
        thread = converse(turns, asynchronous=asynchronous)
        seen["summaries"] += len(thread.summarizer.requests) > 1
        seen["results"] += bool(thread.workdir.results)

    check()
    assert seen["summaries"] >= 1, "no thread was summarized twice"
    assert seen["results"] >= 1, "no result was saved"


def converse(turns: list[list[AnyMessage]], *, asynchronous: bool) -> Thread:
    """Take the turns, and look at the view, the state and the files after each."""
    thread = Thread(asynchronous)
    restored: list[BaseMessage] = []
    cutoff = 0
    for number, turn in enumerate(turns):
        given_ones = [m.model_copy(update={"id": f"{number}-{m.id}"}) for m in turn]
        filler = LOOKED_UP if number % 2 else [AIMessage(FILLER), AIMessage(FILLER)]
        filler = [m.model_copy(update={"id": f"{number}-filler-{n}"}) for n, m in enumerate(filler)]
        thread.put([*filler, *given_ones, HumanMessage("Go on.", id=f"ask-{number}")])
        before = list(thread.values["messages"])

        view = thread.ask()

        values = thread.values
        messages, event = values["messages"], values.get("_summarization_event")
        assert messages[: len(before)] == before
        now = event["cutoff_index"] if event else 0
        assert cutoff <= now < len(before)
        if event and now > cutoff:
            parts = list(thread.workdir.history)
            latest = parts.index(event["file_path"])
            part = read(thread, parts[latest])
            if len(part) < now - cutoff:  # a long summary: the request was cut twice
                part = read(thread, parts[latest - 1]) + part
            assert len(part) == now - cutoff
            restored += part
        cutoff = now

        if event:
            assert view[1 if view[0].type == "system" else 0].id == event["summary_message"].id
            tail = before[cutoff:]
            pending = {tail[at].id for at in open_calls(tail) if at >= last_speech(tail)}
            assert faults_of(view, pending) == []
            kept = [m.id for m in tail if m.type != "system" and not is_empty(m)]
            ids = {m.id for m in tail}
            assert [m.id for m in view if m.id in ids and m.type != "system"] == kept
        assert view[-1].id == f"ask-{number}"

    # Every message of the state is in a history file or after the cutoff, in order, unchanged.
    assert saved(restored) == saved(thread.values["messages"][:cutoff])
    return thread


def read(thread: Thread, path: str) -> list[BaseMessage]:
    return list(read_history(thread.workdir.files[path], thread.workdir.read_text))


@given(messages=conversations(10))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_an_immediate_second_request_is_identical(messages: list[AnyMessage]) -> None:
    thread = Thread(False)
    filler = [AIMessage(FILLER, id=f"filler-{n}") for n in range(4)]
    thread.put([*filler, *messages, HumanMessage("Go on.", id="ask")])
    first = thread.ask()
    # A summary that is long for its threshold may leave the request above it.
    assume(thread.values["context_pressure"]["total"] < SETTINGS.threshold)
    asked, written = len(thread.summarizer.requests), list(thread.workdir.written)
    thread.graph.update_state(
        CONFIG, {"messages": [_removed(thread.values["messages"][-1])]}, as_node="model"
    )

    second = thread.ask()

    assert [(m.type, m.content, m.id) for m in second if m.id] == [
        (m.type, m.content, m.id) for m in first if m.id
    ]
    assert len(second) == len(first)
    assert len(thread.summarizer.requests) == asked
    assert thread.workdir.written == written


def _removed(message: BaseMessage) -> Any:
    return RemoveMessage(id=str(message.id))
