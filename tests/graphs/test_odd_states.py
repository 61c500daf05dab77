"""States that no chat would write, and requests that the provider refuses."""

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_compression import (
    CompressionSettings,
    Workdir,
    context_status,
    create_compression_graph,
)
from langgraph_compression.state.event import binding
from tests.support.conversations import faults_of
from tests.support.fakes import FakeModel, Outcome, RecordingWorkdir, drive

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
CONFIG: Any = {"configurable": {"thread_id": "t"}}
SMALL = CompressionSettings(summary_threshold=2, summary_keep_messages=4)


class Bench:
    """A graph with recording parts."""

    def __init__(self, *script: Any, settings: CompressionSettings = SMALL, **fields: Any) -> None:
        self.model = FakeModel(*script, **fields)
        self.summarizer = FakeModel(answer="SUMMARY")
        self.workdir = RecordingWorkdir()
        self.graph = create_compression_graph(
            self.model,
            settings=settings,
            summary_model=self.summarizer,
            workdir=self.workdir,
            counter=lambda text: (len(text) + 3) // 4,
            checkpointer=InMemorySaver(),
        )

    def ask(self, messages: Sequence[Any] = (), asynchronous: bool = False) -> Outcome:
        self.graph.update_state(CONFIG, {"messages": list(messages)}, as_node="model")
        return drive(self.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)

    @property
    def view(self) -> list[Any]:
        return list(self.model.views[-1])

    @property
    def values(self) -> dict[str, Any]:
        return dict(self.graph.get_state(CONFIG).values)


def turns(count: int) -> list[AnyMessage]:
    return [
        message
        for n in range(count)
        for message in (
            HumanMessage(f"Question {n}. " + "word " * 100, id=f"h{n}"),
            AIMessage(f"Answer {n}. " + "term " * 100, id=f"a{n}"),
        )
    ]


ODD: dict[str, list[Any]] = {
    "chat role": [ChatMessage(content="As a critic", role="critic", id="odd")],
    "function without a call": [FunctionMessage(name="f", content="r", id="odd")],
    "old function call": [
        AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}}),
        FunctionMessage(name="f", content="r"),
    ],
    "broken call": [
        AIMessage("", invalid_tool_calls=[
            {"name": "t", "args": "{", "id": "1", "error": "bad", "type": "invalid_tool_call"}]),
        ToolMessage("not valid", tool_call_id="1"),
    ],
    "result blocks": [
        AIMessage([{"type": "tool_use", "id": "1", "name": "t", "input": {}}]),
        HumanMessage([{"type": "tool_result", "tool_use_id": "1", "content": "r"}]),
    ],
    "orphan result": [ToolMessage("r", tool_call_id="none")],
    "system in the middle": [SystemMessage("MIDDLE")],
    "empty": [HumanMessage(""), AIMessage("")],
    "surrogate and NUL": [HumanMessage("a \ud800 b \0 c")],
    "id again": [
        AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "1"}] * 2),
        ToolMessage("r", tool_call_id="1"),
        ToolMessage("r", tool_call_id="1"),
    ],
}  # fmt: skip


@BOTH
@pytest.mark.parametrize("where", ["summarized", "kept"])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_odd_messages(odd: list[Any], where: str, asynchronous: bool) -> None:
    bench, last = Bench(), HumanMessage("Last", id="last")
    given = [*odd, *turns(12), last] if where == "summarized" else [*turns(12), *odd, last]

    outcome = bench.ask(given, asynchronous)

    assert outcome.error is None
    assert outcome.statuses() == ["started", "completed"]
    assert bench.values["_summarization_event"]["cutoff_index"] > 0
    assert faults_of(bench.view) == []
    assert bench.view[-1].id == "last"
    assert len(bench.values["messages"]) == len(given) + 1


@BOTH
def test_only_system_messages_above_the_threshold(asynchronous: bool) -> None:
    bench = Bench()
    outcome = bench.ask([SystemMessage("rule " * 3000, id="s")], asynchronous)
    assert outcome.error is None
    assert bench.summarizer.requests == []
    assert [m.id for m in bench.view] == ["s"]
    (done,) = outcome.last("completed")["actions"]
    assert done == {"action": "nothing", "reason": "insufficient_history"}


@BOTH
def test_everything_removed_and_begun_anew(asynchronous: bool) -> None:
    bench = Bench()
    bench.ask([*turns(12), HumanMessage("Last", id="last")], asynchronous)
    assert bench.values["_summarization_event"]["cutoff_index"] > 0

    bench.ask([RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage("Anew", id="new")], asynchronous)

    assert [m.id for m in bench.view] == ["new"]
    bench.ask([*turns(10), HumanMessage("Again", id="again")], asynchronous)
    assert bench.view[-1].id == "again"
    assert len(bench.summarizer.requests) == 2
    assert bench.values["_summarization_event"]["cutoff_index"] < 24


@BOTH
def test_fork_before_the_summary(asynchronous: bool) -> None:
    bench = Bench()
    fork = bench.graph.update_state(CONFIG, {"messages": turns(3)}, as_node="model")
    bench.ask([*turns(14)[6:], HumanMessage("Last", id="last")], asynchronous)
    assert "SUMMARY" in bench.view[0].content
    given = {"messages": [HumanMessage("Another way", id="other")]}
    drive(bench.graph, given, fork, asynchronous=asynchronous)
    assert [m.id for m in bench.view] == [*(m.id for m in turns(3)), "other"]


def called(one: str) -> list[AnyMessage]:
    call = AIMessage("", id=f"call-{one}", tool_calls=[{"name": "look", "args": {}, "id": one}])
    return [call, ToolMessage(f"result {one} " * 50, tool_call_id=one, id=f"result-{one}")]


@BOTH
@pytest.mark.parametrize(
    ("last", "shown"),
    [
        ([], ["a9"]),
        (called("1"), ["call-1", "result-1"]),
        ([*called("1"), AIMessage(" ", id="blank")], ["call-1", "result-1"]),
        ([*called("1"), SystemMessage("rule", id="s")], ["call-1", "result-1"]),
    ],
    ids=["text", "group", "blank", "system"],
)
def test_everything_behind_the_summary_removed(
    last: list[AnyMessage], shown: list[str], asynchronous: bool
) -> None:
    bench = Bench()
    history = [*turns(10), *last]
    summary = HumanMessage("SUMMARY", id="summary")
    event = {"cutoff_index": len(history), "summary_message": summary, "file_path": None}
    event.update(binding(history, len(history)))
    more = [HumanMessage("More", id="more"), AIMessage("Yes", id="yes")]
    values = {"messages": [*history, *more], "_summarization_event": event}
    bench.graph.update_state(CONFIG, values, as_node="model")
    removed = [RemoveMessage(str(m.id)) for m in more]

    for _ in range(2):
        bench.ask(removed, asynchronous)
        assert [m.id for m in bench.view if m.type != "system"] == ["summary", *shown]
        removed = [RemoveMessage(str(bench.values["messages"][-1].id))]

    bench.graph.update_state(CONFIG, {"messages": removed}, as_node="model")
    status = context_status(bench.values, SMALL, lambda text: (len(text) + 3) // 4)
    assert status.messages == bench.values["context_pressure"]["messages"]
    assert bench.summarizer.requests == []
    assert bench.values["_summarization_event"] == event
    later = [HumanMessage("word " * 3000, id="later")]
    bench.ask([*removed, *later], asynchronous)
    assert [m.id for m in bench.view if m.type != "system"][1:] == ["later"]


@BOTH
def test_a_history_that_ends_blank_keeps_its_newest_message(asynchronous: bool) -> None:
    bench = Bench(settings=CompressionSettings(summary_threshold=2, summary_keep_messages=1))
    last = HumanMessage("Long " * 2000, id="last")
    given = [*turns(12), last, AIMessage("", id="blank"), SystemMessage("rule", id="s")]
    bench.ask(given, asynchronous)
    assert [m.id for m in bench.view][2:] == ["last"]
    first = bench.view
    removed = [RemoveMessage(str(bench.values["messages"][-1].id))]
    bench.ask(removed, asynchronous)
    assert bench.view == first
    assert len(bench.summarizer.requests) == 1


WINDOW = "maximum context length is 3000 tokens. However, your messages resulted in 9000 tokens"


def tokens(view: Sequence[Any]) -> int:
    return sum(4 + (len(str(m.content)) + 3) // 4 for m in view)


@BOTH
@pytest.mark.parametrize(
    ("error", "profile", "most"),
    [
        (ContextOverflowError(WINDOW), None, 3000),
        (ContextOverflowError("too large"), {"max_input_tokens": 2500}, 2500),
        (ContextOverflowError("too large"), None, None),
        (ContextOverflowError("too large"), {"max_input_tokens": 10**6}, None),
    ],
    ids=["window of the error", "profile", "half", "a profile above the estimate"],
)
def test_target_of_the_first_retry(
    error: Exception, profile: Any, most: int | None, asynchronous: bool
) -> None:
    bench = Bench(error, settings=CompressionSettings(), profile=profile)
    outcome = bench.ask([*turns(20), HumanMessage("x y " * 3000, id="last")], asynchronous)
    assert outcome.error is None
    first, second = bench.model.views
    assert tokens(second) <= (tokens(first) // 2 if most is None else most)
    assert second[-1].id == "last"
    assert bench.values["messages"][40].content == "x y " * 3000


@BOTH
def test_an_overflow_above_the_threshold_starts_once(asynchronous: bool) -> None:
    bench = Bench(ContextOverflowError("a"), ContextOverflowError("b"))
    outcome = bench.ask([*turns(20), HumanMessage("Last " * 900, id="last")], asynchronous)
    assert outcome.error is None
    assert outcome.statuses() == ["started", "completed"]
    assert outcome.last("completed")["trigger"] == "threshold"
    sizes = [tokens(view) for view in bench.model.views]
    assert sizes[0] > sizes[1] > sizes[2]


def test_a_summarizer_whose_window_takes_hardly_anything_is_not_asked_for_ever(
    tmp_path: Any,
) -> None:
    for window in range(1_000, 1_400, 40):
        script = ["s"] * 500 + [RuntimeError("asked for ever")] * 2
        summarizer = FakeModel(*script, profile={"max_input_tokens": window})
        graph = create_compression_graph(
            FakeModel(),
            summary_model=summarizer,
            settings=CompressionSettings(
                summary_threshold=8, summary_keep_messages=2, summary_prompt="sum {messages}"
            ),
            workdir=Workdir(tmp_path / str(window)),
            counter=lambda text: 3 * len(text),
        )
        turns = [(HumanMessage(f"q{n} " + "word " * 100), AIMessage("a")) for n in range(6)]
        graph.invoke({"messages": [*(m for turn in turns for m in turn), HumanMessage("next")]})
        assert len(summarizer.views) < 400  # 18,000 tokens in pieces of 64 and more


def test_long_answers_of_a_summarizer_do_not_multiply_its_calls(tmp_path: Any) -> None:
    long = FakeModel(answer="word " * 3_000, profile={"max_input_tokens": 8_000})
    graph = create_compression_graph(
        FakeModel(),
        summary_model=long,
        settings=CompressionSettings(summary_threshold=60),
        workdir=Workdir(tmp_path),
        counter=lambda text: len(text) // 4,
    )
    turns = [(HumanMessage(f"q{n} " + "text " * 800), AIMessage("a")) for n in range(80)]
    graph.invoke({"messages": [*(m for turn in turns for m in turn), HumanMessage("next")]})
    assert 1 <= len(long.views) <= 8 * 80_000 // 4_000
