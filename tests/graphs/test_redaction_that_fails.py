"""A `redact` that raises: the turn goes on, the text stays inline, nothing of it is written."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from langgraph_compression import CompressionSettings
from tests.support.bench import CONFIG, SMALL, Bench
from tests.support.fakes import FakeModel, drive

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
SECRET = "SECRET line\n" * 900
OTHER = "other line\n" * 900


def raising(text: str) -> str:
    if "SECRET" in text:
        raise LookupError(text)
    return text


def returning_nothing(text: str) -> Any:
    return None if "SECRET" in text else text


REDACTIONS = pytest.mark.parametrize(
    ("redact", "error"), [(raising, "LookupError"), (returning_nothing, "TypeError")]
)


def called(number: int, result: Any, name: str = "lookup", **args: Any) -> list[AnyMessage]:
    call = {"name": name, "args": args, "id": f"c{number}", "type": "tool_call"}
    return [
        AIMessage("", tool_calls=[call], id=f"ca{number}"),
        ToolMessage(result, tool_call_id=f"c{number}", name=name, id=f"r{number}"),
    ]


def seen(*messages: AnyMessage) -> list[AnyMessage]:
    return [
        HumanMessage("Look", id="h"),
        *messages,
        AIMessage("Seen", id="a"),
        HumanMessage("And now?", id="i"),
    ]


def run(bench: Bench, messages: list[AnyMessage], asynchronous: bool) -> dict[str, Any]:
    """The `completed` event of a turn."""
    bench.put(messages)
    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)
    assert outcome.error is None
    assert outcome.statuses() == ["started", "completed"]
    assert "SECRET" not in str(outcome.events)
    assert not any("SECRET" in text for text in bench.workdir.files.values())
    return outcome.last("completed")


@BOTH
@REDACTIONS
@pytest.mark.parametrize("secret", [SECRET, [{"type": "text", "text": SECRET}, "more"]])
def test_the_result_stays_inline_and_the_others_are_saved(
    redact: Callable[[str], str], error: str, secret: Any, asynchronous: bool
) -> None:
    bench = Bench(CompressionSettings(summary_threshold=4), redact=redact)
    messages = seen(*called(1, secret), *called(2, OTHER))

    completed = run(bench, messages, asynchronous)

    assert completed["failures"] == [{"kind": "result", "error": error}]
    assert list(bench.workdir.results.values()) == [OTHER]
    view = {message.id: message.content for message in bench.view}
    assert view["r1"] == secret
    assert "other line" in view["r2"]
    assert len(view["r2"]) < len(OTHER)


@BOTH
def test_a_query_that_cannot_be_redacted(asynchronous: bool) -> None:
    found = '{"results": [' + ", ".join(f'{{"id": {n}, "text": "word"}}' for n in range(400)) + "]}"
    bench = Bench(CompressionSettings(summary_threshold=4), redact=raising)
    messages = seen(*called(1, found, "query_kb", query="SECRET"), *called(2, OTHER))

    completed = run(bench, messages, asynchronous)

    assert completed["failures"] == [{"kind": "result", "error": "LookupError"}]
    assert list(bench.workdir.results.values()) == [OTHER]
    assert next(m.content for m in bench.view if m.id == "r1") == found


@BOTH
def test_a_result_in_a_block_of_a_human_message(asynchronous: bool) -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": f"c{n}", "content": text}
        for n, text in enumerate((SECRET, OTHER))
    ]
    calls = [{"name": "lookup", "args": {}, "id": f"c{n}", "type": "tool_call"} for n in range(2)]
    bench = Bench(CompressionSettings(summary_threshold=4), redact=raising)
    results = HumanMessage(blocks, id="r")  # type: ignore[arg-type]
    messages = seen(AIMessage("", tool_calls=calls, id="ca"), results)

    completed = run(bench, messages, asynchronous)

    assert completed["failures"] == [{"kind": "result", "error": "LookupError"}]
    first, second = next(m.content for m in bench.view if m.id == "r")
    assert first == blocks[0]
    assert len(second["content"]) < len(OTHER)


@BOTH
def test_each_failure_is_told_once_however_many_rounds_there_are(asynchronous: bool) -> None:
    """Compaction of seen and of unseen results, no summary possible, and compaction again."""
    bench = Bench(SMALL, redact=raising)
    completed = run(bench, [HumanMessage("Look", id="h"), *called(1, SECRET)], asynchronous)
    assert completed["failures"] == [{"kind": "result", "error": "LookupError"}]
    assert [message.content for message in bench.view][-1] == SECRET


@BOTH
def test_after_an_overflow_the_text_is_not_clipped(asynchronous: bool) -> None:
    error, long = ContextOverflowError("too long"), SECRET * 5
    bench = Bench(
        CompressionSettings(summary_threshold=100), model=FakeModel(error), redact=raising
    )
    bench.put([HumanMessage(OTHER * 3, id="h"), *called(1, OTHER), HumanMessage(long, id="s")])

    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)

    assert outcome.error is None
    assert {"kind": "result", "error": "LookupError"} in outcome.last("completed")["failures"]
    assert not any("SECRET" in text for text in bench.workdir.files.values())
    assert bench.model.views[-1][-1].content == long
    assert len(bench.workdir.results) > 0
