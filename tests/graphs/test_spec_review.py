"""Sentences of spec.md that a review found not to hold; what each test shows."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)

from langgraph_compression import CompressionSettings
from langgraph_compression.policy.summary import answer_text
from langgraph_compression.tokens.counter import MessageCounter
from tests.support.bench import CONFIG, Bench
from tests.support.fakes import FakeModel, drive

LONG = "line of a long result\n" * 600


class Asked(Bench):
    """A bench whose last events are at hand."""

    def ask(self, messages: Sequence[AnyMessage | RemoveMessage]) -> list[Any]:
        """The view that the model gets of these messages."""
        self.put(messages)
        self.events = drive(self.graph, {"messages": []}, CONFIG, asynchronous=False).events
        return self.view


def called(args: Any, result: str, *, name: str = "lookup") -> list[AnyMessage]:
    call = {"name": name, "args": args, "id": "c1", "type": "tool_call"}
    return [
        HumanMessage("Look", id="h"),
        AIMessage("", tool_calls=[call], id="ca"),
        ToolMessage(result, tool_call_id="c1", name=name, id="r"),
        AIMessage("Seen", id="a"),
        HumanMessage("And now?", id="i"),
    ]


def turns(count: int) -> list[AnyMessage]:
    return [
        message
        for n in range(count)
        for message in (
            HumanMessage(f"Question {n}. " + "word " * 100, id=f"h{n}"),
            AIMessage(f"Answer {n}. " + "term " * 100, id=f"a{n}"),
        )
    ]


@pytest.mark.parametrize(
    "args",
    [
        {"files": [{"path": "outputs/large_tool_results/x.txt"}]},
        {"request": json.dumps({"file": "/outputs/large_tool_results/x.txt"})},
    ],
    ids=["nested", "as JSON"],
)
def test_result_that_reads_a_saved_file_is_not_saved_again(args: Any) -> None:
    bench = Asked()

    view = bench.ask(called(args, LONG, name="cat"))

    assert bench.workdir.results == {}
    assert [m.content for m in view if m.id == "r"] in ([LONG], [])


def test_results_in_blocks_of_a_human_message_are_saved() -> None:
    bench = Asked()
    blocks: list[Any] = [
        {"type": "tool_result", "tool_use_id": "c1", "content": LONG},
        {"type": "tool_result", "tool_use_id": "c2", "content": "short"},
        {"type": "text", "text": "Both came."},
    ]
    uses: list[Any] = [
        {"type": "tool_use", "id": call_id, "name": "lookup", "input": {}}
        for call_id in ("c1", "c2")
    ]
    messages: list[AnyMessage] = [
        HumanMessage("Look", id="h"),
        AIMessage(uses, id="ca"),
        HumanMessage(blocks, id="r"),
        AIMessage("Seen", id="a"),
        HumanMessage("And now?", id="i"),
    ]

    view = bench.ask(messages)

    ((path, stored),) = bench.workdir.results.items()
    assert stored == LONG
    shown = next(m for m in view if m.id == "r").content
    assert path in shown[0]["content"]
    assert "lookup" in shown[0]["content"]
    assert shown[0]["tool_use_id"] == "c1"
    assert shown[1:] == blocks[1:]
    assert bench.events[-1]["actions"] == [{"action": "compacted", "results": 1, "arguments": 0}]


def test_result_block_that_cannot_be_written_stays() -> None:
    bench = Asked()
    bench.workdir.fails = lambda path: OSError() if "large_tool_results" in path else None
    blocks: list[Any] = [{"type": "tool_result", "tool_use_id": "c1", "content": LONG}]
    use = {"type": "tool_use", "id": "c1", "name": "lookup", "input": {}}

    bench.ask(
        [
            HumanMessage("Look", id="h"),
            AIMessage([use], id="ca"),
            HumanMessage(blocks, id="r"),
            AIMessage("Seen", id="a"),
            HumanMessage("And now?", id="i"),
        ]
    )

    assert bench.workdir.results == {}
    assert bench.events[-1]["failures"][0]["kind"] == "result"
    assert not any("outputs/large_tool_results" in str(m.content) for m in bench.model.views[-1])


def test_pieces_of_many_short_messages_fill_half_of_the_window() -> None:
    bench = Asked(CompressionSettings(summary_threshold=24, summary_keep_messages=4))
    short: list[AnyMessage] = [
        HumanMessage(f"ok {n}", id=str(n)) if n % 2 else AIMessage(f"ok {n}", id=str(n))
        for n in range(6001)
    ]

    bench.ask(short)

    assert len(bench.summarizer.requests) > 1
    assert max(len(r.text) for r in bench.summarizer.requests) <= 4 * 16 * 1024


def test_previous_summary_is_redacted_for_the_summarizer() -> None:
    bench = Asked(redact=lambda text: text.replace("SECRET", "-"))
    event = {"cutoff_index": 2, "summary_message": HumanMessage("A SECRET."), "file_path": None}
    bench.graph.update_state(
        CONFIG, {"messages": turns(12), "_summarization_event": event}, as_node="model"
    )

    drive(bench.graph, {"messages": []}, CONFIG, asynchronous=False)

    (request,) = bench.summarizer.requests
    assert "A -." in request.text
    assert "SECRET" not in request.text


def test_payloads_in_arguments_are_left_out_for_the_summarizer() -> None:
    bench = Asked()
    payload = "iVBORw0KGgo" * 1000

    bench.ask([*called({"image": payload, "title": "cat"}, "done"), *turns(6)])

    (request,) = bench.summarizer.requests
    assert "cat" in request.text
    assert payload[:300] not in request.text


def test_everything_a_message_tells_is_redacted_in_files() -> None:
    bench = Asked(redact=lambda text: text.replace("SECRET", "-"))
    messages = called({}, "done")
    messages[1].response_metadata = {"raw": "SECRET"}
    messages[2].artifact = {"raw": ["SECRET"], "odd": ("SECRET",), "set": {"SECRET"}}  # type: ignore[union-attr]

    bench.ask([*messages, *turns(12)])

    (stored,) = bench.workdir.history.values()
    assert '"artifact"' in stored
    assert "SECRET" not in stored


def test_a_request_that_overflows_twice_counts_one_failure_of_the_summarizer() -> None:
    bench = Asked(
        CompressionSettings(summary_threshold=100, summary_keep_messages=4),
        summary_model=FakeModel(answer=RuntimeError("down")),
    )
    bench.model.script[:] = [ContextOverflowError("too large"), ContextOverflowError("too large")]

    bench.ask(turns(12))

    attempts = bench.graph.get_state(CONFIG).values["_summary_attempts"]
    assert (attempts["failures"], attempts["wait"]) == (1, 0)


@pytest.mark.parametrize(
    ("said", "summary"),
    [
        ("<think>hm</think>The summary.", "The summary."),
        ("hm\n</think>\n\nThe summary.", "The summary."),
        ("The user asks what <think> means. Budget: 42.", None),
        ("<think>hm, and then it was over", ""),
    ],
)
def test_reasoning_is_stripped_and_nothing_else(said: str, summary: str | None) -> None:
    assert answer_text(AIMessage(said)) == (said if summary is None else summary)


@pytest.mark.parametrize(
    ("block", "least", "most"),
    [
        (
            {
                "type": "tool_result",
                "tool_use_id": "c",
                "content": [{"type": "image", "source": {"type": "base64", "data": "A" * 9999}}],
            },
            1000,
            1100,
        ),
        ({"type": "text", "text": "data: one event\n" * 1000}, 4000, 4100),
        ({"type": "document", "source": {"type": "text", "data": "word " * 4000}}, 5000, 6100),
    ],
    ids=["payload in a result", "text that begins with data:", "document of text"],
)
def test_payloads_are_not_counted_and_texts_are(block: Any, least: int, most: int) -> None:
    counter = MessageCounter(lambda text: (len(text) + 3) // 4)
    assert least <= counter.message(HumanMessage([block])) <= most


def test_after_an_overflow_of_the_summarizer_eight_further_calls_serve_the_whole_range() -> None:
    def window_of_ten_thousand(messages: Any) -> str | Exception:
        size = sum(len(str(message.content)) for message in messages)
        return ContextOverflowError("too large") if size > 40_000 else "So far."

    bench = Asked(
        CompressionSettings(summary_threshold=64, summary_keep_messages=4),
        summary_model=FakeModel(answer=window_of_ten_thousand),
    )

    bench.ask(turns(400))

    assert len(bench.summarizer.requests) == 1 + 8
    assert bench.values.get("_summarization_event") is None
    assert bench.events[-1]["failures"] == [{"kind": "summary", "error": "overflow"}]


def test_result_of_the_old_function_call_is_saved() -> None:
    bench = Asked()
    old = {"function_call": {"name": "lookup", "arguments": "{}"}}

    view = bench.ask(
        [
            HumanMessage("Look", id="h"),
            AIMessage("", additional_kwargs=old, id="ca"),
            FunctionMessage(content=LONG, name="lookup", id="r"),
            AIMessage("Seen", id="a"),
            HumanMessage("And now?", id="i"),
        ]
    )

    ((path, stored),) = bench.workdir.results.items()
    assert stored == LONG
    (shown,) = [m for m in view if m.id == "r"]
    assert (type(shown), shown.name) == (FunctionMessage, "lookup")
    assert path in str(shown.content)


def test_after_a_long_summary_an_immediate_second_request_is_identical() -> None:
    long_summary = FakeModel(answer="A long summary with facts. " * 60)
    bench = Asked(
        CompressionSettings(summary_threshold=2, summary_keep_messages=14),
        summary_model=long_summary,
    )

    view = bench.ask(turns(12))
    asked = len(long_summary.requests)
    answer = bench.values["messages"][-1].id
    again = bench.ask([RemoveMessage(id=answer)])

    assert bench.values["context_pressure"]["total"] < 2048
    assert [m.content for m in again] == [m.content for m in view]
    assert len(long_summary.requests) == asked == 2
    # Both ranges are in files, one after the other.
    lines = [line for file in bench.workdir.history.values() for line in file.splitlines()]
    ids = [json.loads(line)["data"]["id"] for line in lines]
    kept = [m.id for m in view if m.id]
    assert [*ids, *kept][: len(ids)] == [m.id for m in turns(12)][: len(ids)]
