"""A summary that was made is not made and paid for again; one of other messages never counts."""

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_compression import (
    CompressionError,
    CompressionSettings,
    Workdir,
    compress_thread,
    create_compression_graph,
)
from tests.support.fakes import FakeModel, RecordingWorkdir, contents, drive

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
SMALL = CompressionSettings(summary_threshold=2, summary_keep_messages=4)


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def turns(count: int, start: int = 0) -> list[AnyMessage]:
    return [
        message
        for n in range(start, start + count)
        for message in (
            HumanMessage(f"Question {n}. " + "word " * 100, id=f"h{n}"),
            AIMessage(f"Answer {n}. " + "term " * 100, id=f"a{n}"),
        )
    ]


class Kept:
    """A graph whose workdir outlives its checkpoints."""

    def __init__(self, checkpointer: Any = None, **options: Any) -> None:
        self.model = FakeModel(answer=AIMessage("Understood.", id="answer"))
        self.summarizer = FakeModel("FIRST", "SECOND", "THIRD")
        self.workdir = options.pop("workdir", None) or RecordingWorkdir()
        self.graph = create_compression_graph(
            self.model,
            settings=SMALL,
            summary_model=self.summarizer,
            workdir=self.workdir,
            checkpointer=checkpointer or InMemorySaver(),
            counter=lambda text: (len(text) + 3) // 4,
            **options,
        )

    def put(self, messages: Sequence[Any], name: str = "t", **values: Any) -> None:
        values = {"messages": messages, **values}
        self.graph.update_state(thread(name), values, as_node="model")

    def ask(self, name: str = "t", *, asynchronous: bool = False) -> list[Any]:
        outcome = drive(self.graph, {"messages": []}, thread(name), asynchronous=asynchronous)
        assert outcome.error is None
        return contents(self.model.views[-1])

    @property
    def summaries(self) -> int:
        return len(self.summarizer.requests)


@BOTH
def test_a_copied_thread(asynchronous: bool) -> None:
    kept = Kept()
    kept.put(turns(12))
    view = kept.ask(asynchronous=asynchronous)
    kept.put(turns(12), "copy")

    again = kept.ask("copy", asynchronous=asynchronous)

    assert again == view
    assert kept.summaries == 1
    event = kept.graph.get_state(thread("copy")).values["_summarization_event"]
    assert event == kept.graph.get_state(thread("t")).values["_summarization_event"]


def test_the_one_that_reaches_furthest() -> None:
    kept = Kept()
    kept.put(turns(12))
    kept.ask()
    kept.put([RemoveMessage("answer"), *turns(12, start=12)])
    view = kept.ask()
    assert kept.summaries == 2
    kept.put(turns(24), "copy")

    assert kept.ask("copy") == view
    assert "SECOND" in view[0]
    assert kept.summaries == 2


def test_a_fork() -> None:
    kept = Kept()
    kept.put(turns(12))
    before = kept.graph.get_state(thread("t")).config
    view = kept.ask()

    kept.graph.invoke(None, kept.graph.update_state(before, {"messages": []}, as_node="__start__"))

    assert contents(kept.model.views[-1]) == view
    assert kept.summaries == 1


class Crashing(InMemorySaver):
    """Loses the writes of the summary's step, as a process that dies does."""

    crashes = 0

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        if self.crashes and any(channel == "_summarization_event" for channel, _ in writes):
            self.crashes -= 1
            raise ConnectionError("lost")
        super().put_writes(config, writes, task_id, task_path)

    async def aput_writes(self, config: Any, writes: Any, task_id: str, path: str = "") -> None:
        self.put_writes(config, writes, task_id, path)


@BOTH
@pytest.mark.parametrize("summary", ["first", "second"])
def test_a_crash_between_summary_and_checkpoint(summary: str, asynchronous: bool) -> None:
    checkpointer = Crashing()
    kept, whole = Kept(checkpointer), Kept()
    for one in (kept, whole):
        one.put(turns(12))
        if summary == "second":
            one.ask()
            one.put([RemoveMessage("answer"), *turns(12, start=12)])
    checkpointer.crashes = 1
    crashed = drive(kept.graph, {"messages": []}, thread("t"), asynchronous=asynchronous)
    assert isinstance(crashed.error, ConnectionError)
    assert checkpointer.crashes == 0
    paid = kept.summaries

    if asynchronous:
        asyncio.run(kept.graph.ainvoke(None, thread("t")))
    else:
        kept.graph.invoke(None, thread("t"))

    assert contents(kept.model.views[-1]) == whole.ask()
    assert kept.summaries == paid == whole.summaries


FOREIGN: dict[str, Callable[[list[AnyMessage]], list[AnyMessage]]] = {
    "a covered message was edited": lambda messages: [
        *messages[:6],
        messages[6].model_copy(update={"content": f"{messages[6].content}!"}),
        *messages[7:],
    ],
    "a covered message was deleted": lambda messages: [*messages[:6], *messages[7:]],
    "another stands before": lambda messages: [HumanMessage("Hello", id="new"), *messages],
    "of another conversation": lambda messages: turns(12, start=50),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_not_of_these_messages(case: str) -> None:
    kept = Kept()
    kept.put(turns(12))
    kept.ask()
    kept.put(FOREIGN[case](turns(12)), "other")

    view = kept.ask("other")

    assert kept.summaries == 2
    assert "SECOND" in view[0]


def test_a_shorter_history_that_ends_within_the_range() -> None:
    kept = Kept()
    kept.put(turns(20))
    kept.ask()
    kept.put(turns(12), "other")
    assert "SECOND" in kept.ask("other")[0]


DAMAGES: dict[str, Callable[[str], str]] = {
    "cut off": lambda text: text[:-20],
    "other text": lambda text: text.replace("FIRST", "NEVER"),
    "no JSON": lambda text: "{",
    "empty": lambda text: "",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file(damage: str, tmp_path: Path) -> None:
    kept = Kept(workdir=Workdir(tmp_path))
    kept.put(turns(12))
    kept.ask()
    (file,) = tmp_path.rglob("*.summary.json")
    file.write_text(DAMAGES[damage](file.read_text()))
    kept.put(turns(12), "copy")

    assert "SECOND" in kept.ask("copy")[0]


def test_its_history_file_is_gone(tmp_path: Path) -> None:
    kept = Kept(workdir=Workdir(tmp_path))
    kept.put(turns(12))
    kept.ask()
    (file,) = tmp_path.rglob("*.jsonl")
    file.unlink()
    kept.put(turns(12), "copy")

    assert "SECOND" in kept.ask("copy")[0]


def test_an_event_that_was_reset_stays_so() -> None:
    kept = Kept()
    kept.put(turns(12))
    kept.ask()
    kept.put([RemoveMessage("answer")], _summarization_event=None)

    assert "SECOND" in kept.ask()[0]


def test_a_reset_holds_for_the_summaries_that_follow() -> None:
    kept = Kept()
    kept.put(turns(20))
    kept.ask()  # FIRST reaches further than the next one
    kept.put([RemoveMessage("answer")], _summarization_event=None)
    kept.put([RemoveMessage(m.id) for m in turns(8, start=12)])  # type: ignore[arg-type]
    kept.ask()
    kept.put([RemoveMessage("answer"), *turns(8, start=12)])

    assert "FIRST" not in kept.ask()[0]


def test_the_file_holds_nothing_that_is_redacted() -> None:
    kept = Kept(redact=lambda text: text.replace("FIRST", "-").replace("Question", "-"))
    kept.put(turns(12))
    kept.ask()
    (text,) = kept.workdir.summaries.values()
    assert "FIRST" not in text
    assert "Question" not in text
    (line,) = text.splitlines()
    assert json.loads(line)["data"]["content"] == "-"


def test_a_summary_that_is_redacted_to_nothing_stands_for_nothing() -> None:
    kept = Kept(redact=lambda text: "" if text == "FIRST" else text)
    kept.put(turns(12))
    assert "FIRST" in kept.ask()[0]
    kept.put(turns(12), "copy")

    assert "SECOND" in kept.ask("copy")[0]


def test_below_the_threshold_no_file_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept()
    kept.put(turns(12))
    kept.ask()
    kept.put(turns(2), "short")
    monkeypatch.setattr(kept.workdir, "list", lambda *_: pytest.fail("looked for"))
    assert len(kept.ask("short")) == 4


def test_compress_now_takes_it_up_and_goes_on_from_it() -> None:
    kept = Kept()
    kept.put(turns(12))
    kept.ask()
    kept.put(turns(16), "copy")

    result = compress_thread(kept.graph, thread("copy"))

    assert result.status == "completed"
    assert kept.summaries == 2
    assert "FIRST" in kept.summarizer.requests[1].text
    assert "Question 0." not in kept.summarizer.requests[1].text


def test_what_was_edited_or_deleted_since_an_earlier_summary_does_not_come_back() -> None:
    kept = Kept()
    kept.put(turns(12))
    kept.ask()  # FIRST tells what h0 says now
    kept.put([HumanMessage("Forgotten.", id="h0"), RemoveMessage("answer")])
    kept.put(turns(12, start=12))
    assert "SECOND" in kept.ask()[0]  # it continues FIRST
    messages = [m for m in kept.graph.get_state(thread("t")).values["messages"] if m.id != "answer"]
    kept.put(messages, "copy")

    assert "THIRD" in kept.ask("copy")[0]
    assert "Forgotten." in kept.summarizer.requests[2].text


@BOTH
def test_a_crash_after_an_edit_behind_the_summary(asynchronous: bool) -> None:
    checkpointer = Crashing()
    kept = Kept(checkpointer)
    kept.put(turns(12))
    kept.ask()
    kept.put([HumanMessage("Forgotten.", id="h0"), RemoveMessage("answer")])
    kept.put(turns(12, start=12))
    checkpointer.crashes = 1
    drive(kept.graph, {"messages": []}, thread("t"), asynchronous=asynchronous)
    assert checkpointer.crashes == 0

    kept.graph.invoke(None, thread("t"))

    assert "SECOND" in contents(kept.model.views[-1])[0]
    assert kept.summaries == 2


def test_compress_now_that_fails_takes_nothing_up() -> None:
    kept = Kept()
    kept.put(turns(12))
    kept.ask()
    kept.put(turns(24), "copy")
    kept.summarizer.script[:] = [ValueError(), ValueError()]
    before = kept.graph.get_state(thread("copy")).values

    with pytest.raises(CompressionError, match="nothing was changed"):
        compress_thread(kept.graph, thread("copy"))

    assert kept.graph.get_state(thread("copy")).values == before


def test_compress_now_with_a_kept_summary_and_no_more_to_do() -> None:
    kept = Kept()
    kept.put(turns(12))
    kept.ask()
    kept.put(turns(12), "copy")

    result = compress_thread(kept.graph, thread("copy"))

    assert result.status == "completed"
    assert result.compressed_messages > 0
    assert result.after_tokens < result.before_tokens
    assert kept.summaries == 1
    event = kept.graph.get_state(thread("copy")).values["_summarization_event"]
    assert event == kept.graph.get_state(thread("t")).values["_summarization_event"]


@BOTH
@pytest.mark.parametrize("method", ["list", "read_text", "exists"])
@pytest.mark.parametrize("error", [OSError("/host/path"), KeyError("x"), TimeoutError()])
def test_a_workdir_that_fails_in_its_own_way_stops_no_turn(
    error: Exception, method: str, asynchronous: bool, monkeypatch: Any, caplog: Any
) -> None:
    kept = Kept()
    kept.put(turns(12))
    kept.ask()
    kept.put(turns(12), "copy")

    def fails(path: str = "") -> Any:
        if path.endswith(("conversation_history/", ".json", ".jsonl")):
            raise error
        return getattr(Workdir, method)(kept.workdir, path)

    monkeypatch.setattr(kept.workdir, method, fails)
    with caplog.at_level(logging.WARNING, "langgraph_compression"):
        view = kept.ask("copy", asynchronous=asynchronous)

    assert sum(map(len, view)) < 4 * SMALL.threshold
    assert "/host/path" not in caplog.text


def test_another_one_is_taken_up_where_a_file_cannot_be_read(tmp_path: Path) -> None:
    kept = Kept(workdir=Workdir(tmp_path))
    kept.put(turns(12))
    first = kept.ask()[0]
    kept.put([RemoveMessage("answer"), *turns(12, start=12)])
    kept.ask()
    _, second = sorted(tmp_path.rglob("*.summary.json"))
    second.write_bytes(b"\xff\xfe")
    kept.put(turns(12), "copy")
    kept.put(turns(24), "longer")

    assert kept.ask("copy")[0] == first
    kept.ask("longer")
    assert "FIRST" in kept.summarizer.requests[-1].text


@BOTH
def test_without_a_thread_a_warning_says_that_summaries_are_not_kept(
    asynchronous: bool, tmp_path: Path, monkeypatch: Any, caplog: Any
) -> None:
    monkeypatch.setenv("LANGGRAPH_COMPRESSION_HOME", str(tmp_path))
    graph = create_compression_graph(
        FakeModel(), settings=SMALL, summary_model=FakeModel(answer="SUMMARY")
    )
    with caplog.at_level(logging.WARNING, "langgraph_compression"):
        for _ in range(2):
            drive(graph, {"messages": turns(12)}, asynchronous=asynchronous)

    (warning,) = [record for record in caplog.records if "not kept" in record.message]
    assert "thread_id" in warning.message
    assert "workdir" in warning.message


def test_redact_that_raises_stops_no_turn_and_no_text_goes_out() -> None:
    def redact(text: str) -> str:
        raise LookupError("SECRET")

    kept = Kept(redact=redact)
    kept.put(turns(12))

    outcome = drive(kept.graph, {"messages": []}, thread("t"), asynchronous=False)

    assert outcome.error is None
    assert kept.summaries == 0
    assert kept.workdir.files == {}
    assert outcome.last("completed")["failures"] == [{"kind": "summary", "error": "LookupError"}]
    assert "SECRET" not in str(outcome.events)
    assert "_summarization_event" not in kept.graph.get_state(thread("t")).values
    assert len(kept.model.views) == 1
