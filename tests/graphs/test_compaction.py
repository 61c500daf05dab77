"""Results that come out of a checkpoint anew, with what was found out about them before."""

import tracemalloc
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from langgraph_compression import (
    CompressionSettings,
    Workdir,
    create_compression_graph,
    estimate_tokens,
)
from langgraph_compression.policy.saved_result import save_result
from tests.support.fakes import FakeModel, drive

TEXT = "line of a long result\n" * 500
ROWS = '[{"id": 1, "text": "' + "row " * 2000 + '"}]'
SETTINGS = CompressionSettings(summary_threshold=4)
LEAST = CompressionSettings(summary_threshold=1.5)


def conversation(*results: ToolMessage) -> list[AnyMessage]:
    calls: list[Any] = [
        {"name": r.name, "args": {"query": f"find {r.id}"}, "id": r.tool_call_id} for r in results
    ]
    return [
        HumanMessage("Look", id="h"),
        AIMessage("", tool_calls=calls, id="ca"),
        *results,
        AIMessage("Seen", id="a"),
        HumanMessage("And now?", id="i"),
    ]


def shown(
    results: list[ToolMessage], workdir: Workdir, asynchronous: bool, **options: Any
) -> dict[str | None, Any]:
    """What the model gets of results that are new objects; by id."""
    model = FakeModel()
    graph = create_compression_graph(model, workdir=workdir, **{"settings": SETTINGS, **options})
    anew = [result.model_copy() for result in results]
    drive(graph, {"messages": conversation(*anew)}, asynchronous=asynchronous)
    return {message.id: message for message in model.views[-1] if message.type == "tool"}


def test_the_same_text_is_shown_as_it_was_and_saved_wherever_it_is_missing(tmp_path: Any) -> None:
    results = [
        ToolMessage(TEXT, name="read", tool_call_id="1", id="r1"),
        ToolMessage(TEXT, name="read", tool_call_id="2", id="r2", status="error", artifact=[1]),
        ToolMessage(TEXT, name="list", tool_call_id="3", id="r3"),
        ToolMessage(ROWS, name="web_search", tool_call_id="4", id="r4"),
        ToolMessage(ROWS, name="web_search", tool_call_id="5", id="r5"),
        ToolMessage("short", name="read", tool_call_id="6", id="r6"),
        ToolMessage(TEXT + "\ud800", name="read", tool_call_id="7", id="r7"),
        ToolMessage([{"type": "text", "text": TEXT}], name="read", tool_call_id="8", id="r8"),
    ]
    expected = {
        result.id: save_result(
            result,
            tool=str(result.name),
            limit=SETTINGS.summary_tool_result_token_limit,
            kinds=SETTINGS.structured_result_tools,
            count=estimate_tokens,
            query=f"find {result.id}",
        )
        for result in results
    }
    views = []
    for name in ("one", "one", "other"):
        workdir = Workdir(tmp_path / name)
        view = shown(results, workdir, asynchronous=name == "other")
        views.append(view)
        for result in results:
            saved = expected[result.id]
            assert view[result.id] == (saved.message if saved else result)
            if saved:
                assert workdir.read_text(saved.path) == saved.text
    assert expected["r6"] is None
    assert views[0]["r4"] != views[0]["r5"]  # asked for something else


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_other_settings_give_another_preview(tmp_path: Any, asynchronous: bool) -> None:
    results = [ToolMessage(TEXT, name="read", tool_call_id="1", id="r1")]
    small = LEAST.model_copy(update={"summary_tool_result_token_limit": 50})
    given: list[dict[str, Any]] = [
        {"settings": LEAST},
        {"settings": small},
        {"settings": LEAST, "counter": len},
        {"settings": LEAST, "redact": lambda text: text.replace("long", "LONG")},
        {"settings": LEAST, "redact": lambda text: text.replace("long", "wide")},
    ]
    first, again = (
        [shown(results, Workdir(tmp_path), asynchronous, **options)["r1"] for options in given]
        for _ in range(2)
    )
    assert first == again
    assert len({message.content for message in first}) == len(given)
    assert "LONG result" in first[3].content
    assert "wide result" in first[4].content


def test_a_large_result_is_saved_without_a_second_copy(tmp_path: Any) -> None:
    graph = create_compression_graph(FakeModel(), settings=SETTINGS, workdir=Workdir(tmp_path))
    drive(graph, {"messages": conversation()}, asynchronous=False)  # what is made only once
    text = "gate 7 closed, truck 4711 waits\n" * 600_000
    messages = conversation(ToolMessage(text, name="read", tool_call_id="1", id="r1"))
    tracemalloc.start()
    try:
        drive(graph, {"messages": messages}, asynchronous=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < len(text) / 2
    workdir = Workdir(tmp_path)
    assert [workdir.read_text(path) == text for path in workdir.list()] == [True]


def test_what_redact_left_alone_once_is_redacted_when_it_is_secret(tmp_path: Any) -> None:
    """The same result in two conversations, whose secrets differ."""
    secret = "nothing"

    def redact(text: str) -> str:
        return text.replace(secret, "***")

    texts = []
    for folder, secret in (("a", "nothing"), ("b", "long result")):  # noqa: B007
        workdir = Workdir(tmp_path / folder)
        results = [ToolMessage(TEXT, name="read", tool_call_id="1", id="r1")]
        shown(results, workdir, False, settings=LEAST, redact=redact)
        texts += [workdir.read_text(path) for path in workdir.list()]
    assert texts == [TEXT, TEXT.replace("long result", "***")]


def test_a_result_of_blocks_whose_text_is_mostly_keys_and_links_is_saved(tmp_path: Any) -> None:
    hit = {"type": "search_hit", "url": "https://example.com/" + "page/" * 30, "score": 1}
    workdir = Workdir(tmp_path)
    results = [
        ToolMessage([hit] * 20, name="find", tool_call_id="1", id="r1"),
        ToolMessage(TEXT, name="read", tool_call_id="2", id="r2"),
    ]
    views = shown(results, workdir, False, settings=LEAST)
    assert len(workdir.list()) == 2
    assert "Saved result" in str(views["r1"].content)
