"""The behaviours of spec.md through the compiled graph, sync and async.

Oracle: the requests that the models got, the state, the files and the events.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langgraph_compression import (
    CompressionContext,
    CompressionError,
    CompressionSettings,
    Workdir,
    context_status,
    create_compression_graph,
)
from langgraph_compression.workdir.history import read_history
from tests.support.bench import CONFIG, SMALL, Bench
from tests.support.fakes import FakeModel, drive

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


def turns(count: int, *, words: int = 100, start: int = 0) -> list[AnyMessage]:
    """`count` questions with answers, about 260 tokens a turn."""
    return [
        message
        for n in range(start, start + count)
        for message in (
            HumanMessage(f"Question {n}. " + "word " * words, id=f"h{n}"),
            AIMessage(f"Answer {n}. " + "term " * words, id=f"a{n}"),
        )
    ]


def called(n: int, result: Any, name: str = "lookup", **args: Any) -> list[AnyMessage]:
    call = {"name": name, "args": args or {"q": str(n)}, "id": f"c{n}", "type": "tool_call"}
    return [
        AIMessage("", tool_calls=[call], id=f"ca{n}"),
        ToolMessage(result, tool_call_id=f"c{n}", name=name, id=f"r{n}"),
    ]


@BOTH
def test_below_the_threshold_the_view_is_the_state(asynchronous: bool) -> None:
    bench = Bench(system_prompt="Be kind.")
    bench.put(
        [HumanMessage("Hello", id="h"), AIMessage("", id="empty"), HumanMessage("You?", id="i")]
    )

    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)

    assert outcome.events == []
    assert outcome.error is None
    assert bench.workdir.files == {}
    assert bench.summarizer.requests == []
    assert [m.id for m in bench.view[1:]] == ["h", "empty", "i"]
    assert bench.view[0] == SystemMessage("Be kind.")
    reading = bench.values["context_pressure"]
    assert reading["total"] == reading["messages"] + reading["system"] + reading["tools"] < 2048
    assert "_summarization_event" not in bench.values


@BOTH
def test_compacted_below_the_same_threshold(asynchronous: bool) -> None:
    bench = Bench()
    text = "line of a long result\n" * 500
    bench.put([HumanMessage("Look", id="h"), *called(1, text), AIMessage("Seen", id="a"),
               HumanMessage("And now?", id="i")])  # fmt: skip

    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)

    assert outcome.statuses() == ["started", "completed"]
    assert outcome.last("completed")["trigger"] == "threshold"
    assert [done["action"] for done in outcome.last("completed")["actions"]] == ["compacted"]
    assert bench.summarizer.requests == []
    ((path, stored),) = bench.workdir.results.items()
    assert stored == text
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert path == f"outputs/large_tool_results/lookup-{digest[:16]}.txt"
    shown = next(m for m in bench.view if m.id == "r1")
    assert path in shown.content
    assert digest in shown.content
    assert shown.tool_call_id == "c1"
    assert bench.values["messages"][2].content == text
    assert (
        outcome.last("completed")["after_tokens"] < 2048 <= outcome.last("started")["before_tokens"]
    )


@BOTH
def test_unseen_results_are_compacted_last(asynchronous: bool) -> None:
    text, new = "old line\n" * 900, "new line\n" * 500
    bench = Bench()
    bench.put([HumanMessage("Look", id="h"), *called(1, text), *called(2, new)])

    drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)

    view = {m.id: m.content for m in bench.view}
    assert view["r2"] == new
    assert len(view["r1"]) < len(text)


@BOTH
def test_structured_preview(asynchronous: bool) -> None:
    found = {
        "status": "ok",
        "total": 40,
        "host_path": "/srv/secret/index",
        "results": [
            {"id": f"chunk-{n}", "kb_id": "kb-1", "content": "body " * 300, "score": 0.5,
             "internal": "/srv/secret"} for n in range(20)
        ],
    }  # fmt: skip
    bench = Bench()
    asked = called(1, json.dumps(found), "query_kb", query="rules")
    bench.put([HumanMessage("Look", id="h"), *asked, AIMessage("Seen", id="a"),
               HumanMessage("Go on", id="i")])  # fmt: skip

    drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)

    shown = next(m for m in bench.view if m.id == "r1").content
    start = shown.index("{")
    preview, _ = json.JSONDecoder().raw_decode(shown[start:])
    assert preview["kind"] == "knowledge_base"
    assert preview["query"] == "rules"
    assert preview["result_count"] == 20
    assert preview["omitted_results"] == 20 - len(preview["results"])
    assert preview["results"][0]["id"] == "chunk-0"
    assert preview["total"] == 40
    assert "/srv/secret" not in shown
    assert json.loads(next(iter(bench.workdir.results.values()))) == found


@BOTH
def test_summary(asynchronous: bool) -> None:
    bench = Bench()
    messages = turns(12)
    bench.put([*messages, HumanMessage("Last", id="last")])

    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)

    event = bench.values["_summarization_event"]
    cutoff = event["cutoff_index"]
    assert cutoff == 21  # four of 25 messages are kept
    assert [m.id for m in bench.view[1:]] == ["a10", "h11", "a11", "last"]
    assert "SUMMARY" in bench.view[0].content
    assert event["file_path"] in bench.view[0].content
    assert bench.view[0].type == "human"
    text = bench.workdir.files[event["file_path"]]
    assert read_history(text, bench.workdir.read_text) == messages[:21]
    assert [m.id for m in bench.values["messages"][:25]] == [m.id for m in [*messages]] + ["last"]
    (request,) = bench.summarizer.requests
    assert "nostream" in request.tags
    assert all(f"Question {n}." in request.text for n in range(11))
    completed = outcome.last("completed")
    assert (completed["cutoff_index"], completed["file_path"]) == (21, event["file_path"])
    assert "failures" not in completed
    assert not any(word in json.dumps(outcome.events) for word in ("Question", "SUMMARY"))

    again = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)
    assert again.events == []
    assert [m.id for m in bench.view[:5]] == [m.id for m in bench.model.views[0]]


@BOTH
def test_summaries_are_cumulative(asynchronous: bool) -> None:
    bench = Bench(summary_model=FakeModel("FIRST", "SECOND"))
    bench.put([*turns(12), HumanMessage("Last", id="last")])
    drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)
    first = bench.values["_summarization_event"]
    bench.put([*turns(12, start=20), HumanMessage("Later", id="later")])
    drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)
    second = bench.values["_summarization_event"]

    assert second["cutoff_index"] > first["cutoff_index"]
    assert "FIRST" in bench.summarizer.requests[1].text
    assert "Question 0." not in bench.summarizer.requests[1].text
    kept = [m for path in (first["file_path"], second["file_path"])
            for m in read_history(bench.workdir.files[path], bench.workdir.read_text)]  # fmt: skip
    state = bench.values["messages"]
    assert [m.id for m in kept] == [m.id for m in state[: second["cutoff_index"]]]
    assert len(bench.workdir.history) == len(bench.workdir.summaries) == 2
    assert len(bench.workdir.written) == len(set(bench.workdir.written)) == 4


@BOTH
def test_history_cannot_be_written(asynchronous: bool) -> None:
    bench = Bench()
    bench.workdir.fails = lambda path: (
        OSError(28, "No space left on device") if "conversation_history" in path else None
    )
    bench.put([*turns(12), HumanMessage("Last", id="last")])

    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)

    assert outcome.error is None
    assert bench.values["_summarization_event"]["file_path"] is None
    assert "outputs/" not in bench.view[0].content
    assert outcome.last("completed")["failures"] == [{"kind": "history", "error": "OSError"}]


@BOTH
def test_result_cannot_be_written(asynchronous: bool) -> None:
    bench = Bench()
    bench.workdir.fails = lambda path: (
        OSError(28, "No space left on device") if "large_tool_results" in path else None
    )
    text = "line of a long result\n" * 500
    bench.put([HumanMessage("Look", id="h"), *called(1, text)])

    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)

    assert outcome.error is None
    assert {"kind": "result", "error": "OSError"} in outcome.last("completed")["failures"]
    assert next(m for m in bench.view if m.id == "r1").content == text


@BOTH
@pytest.mark.parametrize(
    ("reply", "calls", "kind"),
    [
        (RuntimeError("secret-503"), 2, "RuntimeError"),
        (" \n", 2, "empty"),
        ("<think>only thoughts</think>", 2, "empty"),
        (AIMessage("cut", response_metadata={"finish_reason": "length"}), 1, "cut_off"),
        (AIMessage("", tool_calls=[{"name": "x", "args": {}, "id": "z"}]), 1, "tool_call"),
        ("too long " * 9000, 1, "too_long"),
    ],
    ids=["raises", "empty", "thoughts", "cut", "tool_call", "too_long"],
)
def test_summarizer_fails(reply: Any, calls: int, kind: str, asynchronous: bool) -> None:
    bench = Bench(summary_model=FakeModel(answer=reply))
    bench.put([*turns(12), HumanMessage("Last", id="last")])

    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)

    assert outcome.error is None
    assert len(bench.summarizer.requests) == calls
    assert "_summarization_event" not in bench.values
    assert {"kind": "summary", "error": kind} in outcome.last("completed")["failures"]
    assert kind in bench.view[0].content
    assert "secret-503" not in bench.view[0].content + json.dumps(outcome.events)
    (path,) = bench.workdir.history
    assert path in bench.view[0].content
    assert "Question 0." in bench.view[0].content
    assert bench.view[-1].id == "last"


@BOTH
def test_after_failures_it_waits(asynchronous: bool) -> None:
    bench = Bench(summary_model=FakeModel(answer=RuntimeError("down")))
    bench.put(turns(14))
    asked = []
    for n in range(12):
        drive(bench.graph, {"messages": [("user", f"Turn {n}")]}, CONFIG, asynchronous=asynchronous)
        asked.append(len(bench.summarizer.requests))
    tried = [b > a for a, b in zip([0, *asked], asked, strict=False)]
    # fails, fails, waits 1, fails, waits 2, fails, waits 4
    assert tried == [True, True, False, True, False, False, True, False, False, False, False, True]

    bench.summarizer.answer = "SUMMARY"
    forced = drive(bench.graph, {"messages": []}, CONFIG, context={"mode": "compress"},
                   asynchronous=asynchronous)  # fmt: skip
    assert forced.statuses() == ["started", "completed"]
    assert bench.values["_summary_attempts"] == {}


@BOTH
def test_overflow_leads_to_summary_and_clipping(asynchronous: bool) -> None:
    error = ContextOverflowError("the context window is too small")
    bench = Bench(CompressionSettings(summary_threshold=100), model=FakeModel(error))
    huge = "one very long question " * 2000
    bench.put([*turns(6), *called(1, "unseen line\n" * 2000), HumanMessage(huge, id="huge")])

    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)

    assert outcome.error is None
    assert outcome.statuses() == ["started", "completed"]
    assert outcome.last("completed")["trigger"] == "overflow"
    first, second = bench.model.views
    size = [sum(len(str(m.content)) for m in view) for view in (first, second)]
    assert size[1] * 2 <= size[0] * 1.1
    shown = next(m for m in second if m.id == "huge")
    path = next(p for p in bench.workdir.results if "/message-" in p)
    assert path in shown.content
    assert bench.workdir.results[path] == huge
    assert bench.values["_summarization_event"]["cutoff_index"] > 0


@BOTH
def test_overflow_that_does_not_end(asynchronous: bool) -> None:
    errors = [ContextOverflowError(f"refused {n}") for n in range(9)]
    bench = Bench(CompressionSettings(summary_threshold=100), model=FakeModel(*errors))
    bench.put([*turns(20), HumanMessage("Last", id="last")])

    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)

    assert isinstance(outcome.error, ContextOverflowError)
    assert outcome.error in errors
    assert 1 < len(bench.model.requests) <= 3
    sizes = [sum(len(str(m.content)) for m in view) for view in bench.model.views]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)
    assert outcome.statuses() == ["started", "failed"]
    assert outcome.last("failed")["error"] == "ContextOverflowError"
    assert "refused" not in json.dumps(outcome.events)


@BOTH
def test_nothing_smaller_than_a_short_request(asynchronous: bool) -> None:
    error = ContextOverflowError("no")
    bench = Bench(model=FakeModel(error))
    bench.put([HumanMessage("Hi", id="h")])
    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)
    assert outcome.error is error
    assert len(bench.model.requests) == 1


@BOTH
def test_other_errors_pass_unchanged(asynchronous: bool) -> None:
    error = ValueError("something else")
    bench = Bench(model=FakeModel(error))
    bench.put([*turns(12), HumanMessage("Last", id="last")])
    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)
    assert outcome.error is error
    assert outcome.statuses() == ["started", "failed"]

    # The thread can go on where it stopped: the view is made again from the state.
    drive(bench.graph, None, CONFIG, asynchronous=asynchronous)
    assert bench.view[-1].id == "last"
    assert "SUMMARY" in bench.view[0].content
    assert len(bench.summarizer.requests) == 1


@BOTH
def test_summarizer_overflow_makes_smaller_pieces(asynchronous: bool) -> None:
    def answer(messages: list[Any]) -> Any:
        if len(messages[0].content) > 9000:
            return ContextOverflowError("too large")
        return f"SUMMARY of {len(messages[0].content)}"

    bench = Bench(summary_model=FakeModel(answer=answer))
    bench.put([*turns(25), HumanMessage("Last", id="last")])
    drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)
    texts = [request.text for request in bench.summarizer.requests]
    assert 1 < len(texts) <= 9
    assert len(set(texts)) == len(texts)
    answered = "\n".join(text for text in texts if len(text) <= 9000)
    assert all(f"Question {n}." in answered for n in range(22))
    assert bench.values["_summarization_event"]["cutoff_index"] == 47


@BOTH
def test_usage_is_summed_apart(asynchronous: bool) -> None:
    usage: Any = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    bench = Bench(
        model=FakeModel(answer=AIMessage("Yes", usage_metadata=usage)),
        summary_model=FakeModel(answer=AIMessage("SUMMARY", usage_metadata=usage)),
    )
    bench.put([*turns(12), HumanMessage("Last", id="last")])
    for _ in range(2):
        drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)
    assert bench.values["token_usage"]["FakeModel"]["input_tokens"] == 10
    assert bench.values["summary_token_usage"]["FakeModel"]["input_tokens"] == 5


@pytest.mark.parametrize("provider", ["siliconflow-cn", "siliconflow"])
def test_usage_of_some_providers_is_left_out(provider: str) -> None:
    usage: Any = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    answer = AIMessage("Yes", usage_metadata=usage, response_metadata={"model_provider": provider})
    bench = Bench(model=FakeModel(answer=answer))
    drive(bench.graph, {"messages": [("user", "Hi")]}, CONFIG, asynchronous=False)
    assert not bench.values["token_usage"]


@pytest.mark.parametrize("given", ["siliconflow:m", lambda state, runtime: "siliconflow:m"])
def test_provider_of_a_named_model(given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    usage: Any = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    named = FakeModel(answer=AIMessage("Yes", usage_metadata=usage))
    monkeypatch.setattr("langgraph_compression.nodes.models.named_model", lambda name: named)
    bench = Bench(model=given)
    drive(bench.graph, {"messages": [("user", "Hi")]}, CONFIG, asynchronous=False)
    assert len(named.requests) == 1
    assert not bench.values["token_usage"]


@BOTH
def test_context_overrides_field_by_field(asynchronous: bool) -> None:
    bench = Bench(CompressionSettings(summary_threshold=100, summary_keep_messages=2))
    bench.put([*turns(12), HumanMessage("Last", id="last")])
    context = {"summary_threshold": 2, "system_prompt": "P"}
    drive(bench.graph, {"messages": []}, CONFIG, context=context, asynchronous=asynchronous)
    assert [m.id for m in bench.view[2:]] == ["a11", "last"]
    assert bench.view[0].content == "P"


def test_event_of_a_deleted_history_is_not_applied() -> None:
    bench = Bench()
    bench.put([*turns(12), HumanMessage("Last", id="last")])
    drive(bench.graph, {"messages": []}, CONFIG, asynchronous=False)
    cutoff = bench.values["_summarization_event"]["cutoff_index"]
    bench.put([RemoveMessage(id="h0")])
    drive(bench.graph, {"messages": []}, CONFIG, asynchronous=False)
    assert bench.view[1].id == "a10"  # the same tail, though the index moved

    boundary = bench.values["messages"][cutoff - 2].id
    bench.put([RemoveMessage(id=boundary)])
    drive(bench.graph, {"messages": []}, CONFIG, asynchronous=False)
    assert len(bench.summarizer.requests) == 2  # of another history: summarized anew
    assert "Question 1." in bench.summarizer.requests[1].text


@pytest.mark.parametrize(
    "event",
    [
        {"cutoff_index": -1, "summary_message": HumanMessage("OLD"), "file_path": None},
        {"cutoff_index": 99, "summary_message": HumanMessage("OLD"), "file_path": None},
        {"cutoff_index": True, "summary_message": HumanMessage("OLD"), "file_path": None},
        {"cutoff_index": "2", "summary_message": HumanMessage("OLD"), "file_path": None},
        {"cutoff_index": 2, "summary_message": SystemMessage("OLD"), "file_path": None},
        {"cutoff_index": 2, "summary_message": 7, "file_path": None},
        {"cutoff_index": 2},
        {"unknown": 1},
        [],
        "text",
    ],
)
def test_event_that_is_none_is_ignored(event: Any) -> None:
    bench = Bench()
    bench.put(turns(2, words=2), _summarization_event=event)
    drive(bench.graph, {"messages": [("user", "Go on")]}, CONFIG, asynchronous=False)
    assert [m.id for m in bench.view[:4]] == ["h0", "a0", "h1", "a1"]


@pytest.mark.parametrize(
    "summary", [HumanMessage("OLD", id="s"), {"type": "human", "content": "OLD", "id": "s"}]
)
def test_event_of_an_older_shape_applies(summary: Any) -> None:
    bench = Bench()
    event = {"cutoff_index": 2, "summary_message": summary, "file_path": None}
    bench.put(turns(2, words=2), _summarization_event=event)
    drive(bench.graph, {"messages": [("user", "Go on")]}, CONFIG, asynchronous=False)
    assert [m.id for m in bench.view[:3]] == ["s", "h1", "a1"]


def test_client_cannot_set_the_event() -> None:
    bench = Bench()
    event = {"cutoff_index": 1, "summary_message": HumanMessage("FAKE"), "file_path": None}
    given = {"messages": turns(2, words=2), "_summarization_event": event}
    drive(bench.graph, given, CONFIG, asynchronous=False)
    assert "_summarization_event" not in bench.values
    assert "FAKE" not in str(bench.view)


def test_late_and_missing_results() -> None:
    bench = Bench()
    waiting = AIMessage("", id="wa", tool_calls=[{"name": "approve", "args": {}, "id": "w"}])
    bench.put([HumanMessage("Ask", id="ask"), waiting, *turns(12), HumanMessage("Last", id="last")])
    drive(bench.graph, {"messages": []}, CONFIG, asynchronous=False)
    late = ToolMessage("approved", tool_call_id="w", id="late")
    drive(
        bench.graph, {"messages": [late, HumanMessage("Go", id="go")]}, CONFIG, asynchronous=False
    )
    shown = next(m for m in bench.view if m.id == "late")
    assert shown.type == "human"
    assert "approve" in shown.content
    assert "approved" in shown.content


def test_abandoned_call_in_the_tail_is_answered() -> None:
    bench = Bench()
    waiting = AIMessage("", id="wa", tool_calls=[{"name": "approve", "args": {}, "id": "w"}])
    bench.put([*turns(12), waiting, HumanMessage("Never mind", id="nm")])
    drive(bench.graph, {"messages": []}, CONFIG, asynchronous=False)
    at = next(n for n, m in enumerate(bench.view) if m.id == "wa")
    assert bench.view[at + 1].tool_call_id == "w"
    assert bench.view[-1].id == "nm"


def test_system_messages_stand_at_the_head() -> None:
    bench = Bench(system_prompt="PROMPT")
    bench.put([SystemMessage("LEADING", id="s0"), *turns(12), SystemMessage("LATER", id="s1"),
               HumanMessage("Last", id="last")])  # fmt: skip
    drive(bench.graph, {"messages": []}, CONFIG, asynchronous=False)
    assert [m.type for m in bench.view[:2]] == ["system", "human"]
    assert [m.type for m in bench.view].count("system") == 1
    assert bench.view[0].content == "PROMPT\n\nLEADING\n\nLATER"
    assert "LEADING" not in bench.summarizer.requests[0].text


@pytest.mark.parametrize("messages", [[], [SystemMessage("Only system", id="s")]])
def test_almost_no_messages(messages: list[AnyMessage]) -> None:
    bench = Bench(CompressionSettings(summary_threshold=0.001))
    outcome = drive(bench.graph, {"messages": messages}, CONFIG, asynchronous=False)
    assert outcome.error is None
    assert len(bench.model.requests) == 1


@pytest.mark.parametrize("location", ["memory://pool", Path("here")])
def test_a_bare_location_as_workdir_is_refused_at_once(location: Any) -> None:
    with pytest.raises(CompressionError, match="give Workdir"):
        create_compression_graph(FakeModel(), workdir=location)


def test_tools_without_schema_are_refused() -> None:
    with pytest.raises(CompressionError, match="has no schema"):
        create_compression_graph(FakeModel(), tools=[object()])  # type: ignore[list-item]
    with pytest.raises(CompressionError, match="model is a int"):
        create_compression_graph(7)  # type: ignore[arg-type]


def test_redact_reaches_summarizer_and_files() -> None:
    bench = Bench(redact=lambda text: text.replace("SECRET", "[redacted]"))
    bench.put([HumanMessage("SECRET question", id="s"), *called(1, "SECRET line\n" * 500),
               *turns(12), HumanMessage("Last", id="last")])  # fmt: skip
    drive(bench.graph, {"messages": []}, CONFIG, asynchronous=False)
    assert "SECRET" not in bench.summarizer.requests[0].text
    assert bench.workdir.files
    assert "SECRET" not in "".join(bench.workdir.files.values())
    assert bench.values["messages"][0].content == "SECRET question"


def test_status_of_nothing_and_of_a_thread() -> None:
    empty = context_status({}, SMALL)
    assert (empty.tokens, empty.ratio, empty.unknown) == (0, 0.0, ("system", "tools"))
    assert not empty.suggest_compression
    bench = Bench(CompressionSettings(summary_threshold=2), system_prompt="x" * 400)
    bench.put(turns(7))
    drive(bench.graph, {"messages": [("user", "Hi")]}, CONFIG, asynchronous=False)
    status = context_status(bench.values, SMALL, counter=lambda text: (len(text) + 3) // 4)
    assert status.unknown == ()
    assert status.tokens == status.messages + (status.system or 0) + (status.tools or 0)
    assert status.suggest_compression == (status.ratio >= 0.85)


def test_workdir_is_fresh_for_a_run_without_thread(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("LANGGRAPH_COMPRESSION_HOME", str(tmp_path))
    graph = create_compression_graph("offline", settings=SMALL)
    for _ in range(2):
        graph.invoke({"messages": turns(12)})
    folders = list(tmp_path.iterdir())
    assert len(folders) == 2
    assert all(Workdir(folder).list("outputs/conversation_history") for folder in folders)


@BOTH
@pytest.mark.parametrize("count", [12, 1], ids=["completed", "nothing to do"])
def test_by_hand_both_events_count_the_messages(count: int, asynchronous: bool) -> None:
    bench = Bench(system_prompt="Be kind. " * 50)
    bench.put(turns(count))

    outcome = drive(
        bench.graph,
        {"messages": []},
        CONFIG,
        context=CompressionContext(mode="compress"),
        asynchronous=asynchronous,
    )

    assert outcome.error is None
    before = outcome.last("started")["before_tokens"]
    assert before == outcome.last("completed")["before_tokens"] < count * 300
