"""The graph with a real model: what it was asked, what it answered, what that cost.

See conftest.py for how the answers were recorded.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    ToolMessage,
    messages_from_dict,
)
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_compression import CompressionSettings, Workdir, create_compression_graph

pytestmark = pytest.mark.recorded

WINDOW = 4096
"""Tokens of the recorded server."""
PROMPT = "{messages}\n\nSummary of the conversation in one paragraph:"


def thirds(text: str) -> int:
    """A counter that stays as it is, so that a better estimate needs no new recording."""
    return len(text) // 3 + 1


def graph_of(
    model: ChatOpenAI, folder: Path, counter: Callable[[str], int] | None, **settings: Any
) -> Any:
    return create_compression_graph(
        model,
        settings=CompressionSettings(summary_prompt=PROMPT, **settings),
        counter=counter,
        workdir=Workdir(str(folder)),
        checkpointer=InMemorySaver(),
    )


def small_talk(turns: int) -> list[AnyMessage]:
    """A conversation of about 85 tokens a turn that ends with a question."""
    messages: list[AnyMessage] = []
    for turn in range(turns):
        messages += [
            HumanMessage(
                f"Ferry {turn} leaves Ostend at {turn % 24}:15 with {40 + turn} cars on board. "
                "Please put it on the list for the harbour office, and check the tide.",
                id=f"h{turn}",
            ),
            AIMessage(
                f"Ferry {turn} is on the list. The tide at {turn % 24}:15 is high enough for it.",
                id=f"a{turn}",
            ),
        ]
    return [*messages, HumanMessage("Is the list complete?", id="last")]


def saved_messages(folder: Path, path: str) -> list[AnyMessage]:
    lines = (folder / path).read_text("utf-8").splitlines()
    return messages_from_dict([json.loads(line) for line in lines])  # type: ignore[return-value]


def texts(messages: list[AnyMessage]) -> list[tuple[str | None, Any]]:
    return [(message.id, message.content) for message in messages]


@pytest.mark.parametrize("name", ["compaction_only", "summary", "overflow"])
def test_cassette_names_no_host_and_no_secret(name: str) -> None:
    text = (Path(__file__).parent / f"{name}.yaml").read_text("utf-8")
    assert set(re.findall(r"uri: (\S+)", text)) == {"http://model.test/v1/chat/completions"}
    assert not re.search(r"authorization|127\.0\.0\.1|localhost|/root|/home", text, re.IGNORECASE)


def test_the_overflow_is_a_real_one() -> None:
    text = (Path(__file__).parent / "overflow.yaml").read_text("utf-8")
    assert "exceed_context_size_error" in text
    assert "code: 400" in text


def test_compaction_only(real_model: ChatOpenAI, asked: Any, run: Any, tmp_path: Path) -> None:
    listing = "\n".join(f"Berth {n} is free when the morning ferry leaves." for n in range(400))
    call = {"name": "read_file", "args": {"path": "berths.txt"}, "id": "call-1"}
    conversation: list[AnyMessage] = [
        HumanMessage("Read berths.txt."),
        AIMessage("", tool_calls=[call]),
        ToolMessage(listing, tool_call_id="call-1", name="read_file"),
        AIMessage("The file lists 400 berths."),
        HumanMessage("What does the file say about berth 3?"),
    ]
    state, events = run(graph_of(real_model, tmp_path, None, summary_threshold=2), conversation)

    assert [event["status"] for event in events] == ["started", "completed"]
    assert events[1]["before_tokens"] > 2048 > events[1]["after_tokens"]
    assert state.get("_summarization_event") is None
    assert [message.content for message in state["messages"][:-1]] == [
        message.content for message in conversation
    ]

    [body] = asked
    preview = body["messages"][2]["content"]
    [saved] = (tmp_path / "outputs" / "large_tool_results").iterdir()
    assert saved.read_text("utf-8") == listing
    assert f"outputs/large_tool_results/{saved.name}" in preview

    answer = state["messages"][-1]
    assert answer.text
    # The estimate, made before, against the count of the model, reported after.
    counted = answer.usage_metadata["input_tokens"]
    assert counted == pytest.approx(events[1]["after_tokens"], rel=0.5)
    assert [u["input_tokens"] for u in state["token_usage"].values()] == [counted]


def test_summary(real_model: ChatOpenAI, asked: Any, run: Any, tmp_path: Path) -> None:
    conversation = small_talk(24)
    graph = graph_of(real_model, tmp_path, thirds, summary_threshold=1, summary_keep_messages=3)
    state, events = run(graph, conversation)

    assert [event["status"] for event in events] == ["started", "completed"]
    assert events[1]["trigger"] == "threshold"
    event = state["_summarization_event"]
    assert event["cutoff_index"] == events[1]["cutoff_index"] == 46
    history = saved_messages(tmp_path, event["file_path"])
    assert texts(history) == texts(conversation[:46])

    to_summarizer, to_model = asked
    assert [message["role"] for message in to_summarizer["messages"]] == ["user"]
    assert "tools" not in to_summarizer
    summary, *tail = to_model["messages"]
    assert summary["content"] == event["summary_message"].content
    assert event["file_path"] in summary["content"]
    assert [message["content"] for message in tail] == [m.content for m in conversation[46:]]

    answer = state["messages"][-1]
    [main_usage] = state["token_usage"].values()
    [summary_usage] = state["summary_token_usage"].values()
    assert main_usage["input_tokens"] == answer.usage_metadata["input_tokens"] < 1024
    assert 1024 < summary_usage["input_tokens"] < WINDOW


def test_overflow(real_model: ChatOpenAI, asked: Any, run: Any, tmp_path: Path) -> None:
    conversation = small_talk(60)
    state, events = run(graph_of(real_model, tmp_path, thirds), conversation)

    assert [event["status"] for event in events] == ["started", "completed"]
    assert events[1]["trigger"] == "overflow"
    assert [message["content"] for message in asked[0]["messages"]] == [
        message.content for message in conversation
    ]
    event = state["_summarization_event"]
    history = saved_messages(tmp_path, event["file_path"])
    assert texts(history) == texts(conversation[: event["cutoff_index"]])
    assert asked[-1]["messages"][0]["content"] == event["summary_message"].content

    answer = state["messages"][-1]
    assert answer.type == "ai"
    assert answer.text
    assert answer.usage_metadata["input_tokens"] < WINDOW
    assert texts(state["messages"][:-1]) == texts(conversation)
