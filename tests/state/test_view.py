"""The view of an event: what is shown, in which shape."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langgraph_compression.state.event import Applied
from langgraph_compression.state.pairing import pair
from langgraph_compression.state.view import LATER, parts, plain_view, request_messages
from tests.support.conversations import conversations, faults_of, is_empty, last_speech, open_calls

SUMMARY = HumanMessage("SUMMARY", id="summary")


def viewed(messages: Sequence[Any], cutoff: int) -> list[AnyMessage]:
    return plain_view(messages, Applied(cutoff, SUMMARY, None))


def call(*ids: str, **fields: Any) -> AIMessage:
    calls = [{"name": f"tool_{one}", "args": {}, "id": one, "type": "tool_call"} for one in ids]
    return AIMessage("", tool_calls=calls, **fields)


def test_without_an_event_the_view_is_the_state_whatever_it_is() -> None:
    messages: list[AnyMessage] = [
        HumanMessage(""),
        SystemMessage("late"),
        ToolMessage("orphan", tool_call_id="x"),
        call("1"),
        HumanMessage("h"),
    ]
    view = plain_view(messages, None)
    assert [id(message) for message in view] == [id(message) for message in messages]


def test_what_needs_no_change_is_the_same_object() -> None:
    messages: list[AnyMessage] = [
        HumanMessage("old"), HumanMessage("h"), call("1"), ToolMessage("r", tool_call_id="1"),
        AIMessage("a"), HumanMessage([{"type": "image", "url": "https://x.example/a.png"}]),
    ]  # fmt: skip
    view = viewed(messages, 1)
    assert view[0] is SUMMARY
    assert [id(message) for message in view[1:]] == [id(message) for message in messages[1:]]


@pytest.mark.parametrize(
    "empty",
    [
        HumanMessage(" \n"),
        AIMessage(""),
        AIMessage([]),
        AIMessage([{"type": "text", "text": " "}]),
        AIMessage([{"type": "thinking", "thinking": "hm", "signature": "s"}]),
        HumanMessage(["", " "]),
    ],
)
def test_empty_messages_are_left_out(empty: AnyMessage) -> None:
    messages = [HumanMessage("old"), HumanMessage("h"), empty, AIMessage("a")]
    assert viewed(messages, 1) == [SUMMARY, messages[1], messages[3]]


@pytest.mark.parametrize(
    "kept",
    [
        HumanMessage([{"type": "image", "base64": "AAAA", "mime_type": "image/png"}]),
        call("1"),
        AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}}),
        AIMessage(
            "", invalid_tool_calls=[{"name": "t", "args": "{", "id": "1", "error": None}]
        ),
        ToolMessage("", tool_call_id="0"),
    ],
)  # fmt: skip
def test_messages_without_text_that_say_something_stay(kept: AnyMessage) -> None:
    messages = [HumanMessage("old"), call("0"), kept]
    assert viewed(messages, 1)[-1] is kept


def test_an_abandoned_call_gets_a_short_result() -> None:
    messages = [
        HumanMessage("old"),
        call("1", "2"),
        ToolMessage("r", tool_call_id="1"),
        HumanMessage("h"),
    ]
    view = viewed(messages, 1)
    answered = {m.tool_call_id: m for m in view if isinstance(m, ToolMessage)}
    assert answered.keys() == {"1", "2"}
    assert answered["2"].content == "No result recorded."
    assert (answered["2"].name, answered["2"].status) == ("tool_2", "error")
    assert faults_of(view) == []


def test_an_abandoned_function_call_gets_one_too() -> None:
    old = {"function_call": {"name": "f", "arguments": "{}"}}
    view = viewed([HumanMessage("old"), AIMessage("", additional_kwargs=old), HumanMessage("h")], 1)
    assert view[2] == FunctionMessage(name="f", content="No result recorded.")


@pytest.mark.parametrize(
    "pending",
    [
        [call("1")],
        [call("1", "2"), ToolMessage("r", tool_call_id="1")],
        [call("1"), SystemMessage("note")],
    ],
)
def test_pending_calls_at_the_end_stay_open(pending: list[AnyMessage]) -> None:
    view = viewed([HumanMessage("old"), HumanMessage("h"), *pending], 1)
    assert not any(m.content == "No result recorded." for m in view)


def test_a_result_whose_call_is_summarized_is_a_note() -> None:
    messages = [call("1"), HumanMessage("h"), ToolMessage("late", tool_call_id="1", id="t")]
    assert viewed(messages, 1)[-1] == HumanMessage(
        "[Result of an earlier call of the tool tool_1]\nlate", id="t"
    )


def test_the_note_names_the_tool_of_the_nearest_call() -> None:
    again = AIMessage("", tool_calls=[{"name": "newer", "args": {}, "id": "1"}])
    view = viewed([call("1"), again, HumanMessage("h"), ToolMessage("late", tool_call_id="1")], 2)
    assert "newer" in view[-1].text


def test_a_result_without_any_call_is_a_note_too() -> None:
    view = viewed([HumanMessage("old"), ToolMessage("r", tool_call_id="none", name="look")], 1)
    assert view[-1].type == "human"
    assert "look" in view[-1].text


def test_of_result_blocks_only_the_orphans_become_text() -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    blocks: list[Any] = [
        {"type": "tool_result", "tool_use_id": "1", "content": "late"},
        {"type": "tool_result", "tool_use_id": "2", "content": [image]},
        {"type": "text", "text": "and then?"},
    ]
    messages = [call("1"), call("2"), HumanMessage(blocks, id="m")]
    note = viewed(messages, 1)[-1]
    assert note.id == "m"
    assert note.content == [
        blocks[1],  # results first, as providers demand
        {"type": "text", "text": "[Result of an earlier call of the tool tool_1]"},
        {"type": "text", "text": "late"},
        blocks[2],
    ]


def said(view: Sequence[AnyMessage]) -> list[str]:
    """Who said what, in short."""
    return [f"{message.type} {message.text or 'calls'}" for message in view[1:]]


NOTE = "human [Result of an earlier call of the tool {}]\n{}"


def test_a_result_that_something_came_before_is_a_note_in_its_place() -> None:
    messages = [
        HumanMessage("old"),
        call("1"),
        HumanMessage("h"),
        ToolMessage("late", tool_call_id="1", id="t"),
        AIMessage("a"),
    ]
    view = viewed(messages, 1)
    assert said(view) == [
        "ai calls",
        f"tool {LATER}",
        "human h",
        NOTE.format("tool_1", "late"),
        "ai a",
    ]
    assert view[4].id == "t"


def test_results_that_land_in_each_others_group() -> None:
    results = [ToolMessage(one, tool_call_id=one) for one in "12"]
    view = viewed([HumanMessage("old"), call("1"), call("2"), *results], 1)
    assert said(view) == [
        "ai calls",
        f"tool {LATER}",
        "ai calls",
        f"tool {LATER}",
        NOTE.format("tool_1", "1"),
        NOTE.format("tool_2", "2"),
    ]
    own_first = viewed([HumanMessage("old"), call("1"), call("2"), *reversed(results)], 1)
    assert said(own_first)[2:] == ["ai calls", "tool 2", NOTE.format("tool_1", "1")]


def test_of_a_batch_only_the_late_result_is_a_note() -> None:
    first, second = (ToolMessage(one, tool_call_id=one) for one in "12")
    view = viewed([HumanMessage("old"), call("1", "2"), first, HumanMessage("h"), second], 1)
    assert said(view) == [
        "ai calls",
        f"tool {LATER}",
        "tool 1",
        "human h",
        NOTE.format("tool_2", "2"),
    ]


def test_a_late_result_ends_the_waiting_of_an_open_call() -> None:
    messages = [HumanMessage("old"), call("1"), call("2"), ToolMessage("1", tool_call_id="1")]
    assert said(viewed(messages, 1)) == [
        "ai calls",
        f"tool {LATER}",
        "ai calls",
        "tool No result recorded.",
        NOTE.format("tool_1", "1"),
    ]


def test_a_further_result_of_an_answered_call_is_a_note() -> None:
    results = [ToolMessage(text, tool_call_id="1") for text in ("first", "second")]
    view = viewed([HumanMessage("old"), call("1"), *results], 1)
    assert said(view) == ["ai calls", "tool first", NOTE.format("tool_1", "second")]


def test_what_is_not_shown_in_its_place_does_not_stand_between() -> None:
    result = ToolMessage("r", tool_call_id="1")
    messages = [HumanMessage("old"), call("1"), SystemMessage("s"), HumanMessage(" "), result]
    assert viewed(messages, 1)[-1] is result


def test_system_messages_are_joined_at_the_head() -> None:
    messages = [
        SystemMessage("first", id="s"),
        SystemMessage(""),
        HumanMessage("old"),
        HumanMessage("h"),
        SystemMessage("later"),
    ]
    view = viewed(messages, 3)
    assert view == [SystemMessage("first\n\nlater", id="s"), SUMMARY, messages[3]]


def test_system_blocks_stay_blocks() -> None:
    cached = {"type": "text", "text": "first", "cache_control": {"type": "ephemeral"}}
    messages = [SystemMessage([cached]), HumanMessage("h"), SystemMessage("later")]
    view = viewed(messages, 1)
    assert view[0].content == [cached, {"type": "text", "text": "later"}]


@pytest.mark.parametrize("cutoff", [1, 2])
def test_leading_system_messages_are_shown_whatever_the_cutoff(cutoff: int) -> None:
    messages = [SystemMessage("a"), SystemMessage("b"), HumanMessage("h")]
    view = viewed(messages, cutoff)
    assert [message.text for message in view] == ["a\n\nb", "SUMMARY", "h"]


def test_the_configured_prompt_joins_a_shaped_view_and_precedes_another() -> None:
    state: list[AnyMessage] = [SystemMessage("of the state"), HumanMessage("h")]
    assert request_messages(None, state, shaped=True) == state
    assert request_messages("PROMPT", state, shaped=False) == [SystemMessage("PROMPT"), *state]
    (system, human) = request_messages("PROMPT", state, shaped=True)
    assert system.text == "PROMPT\n\nof the state"
    assert human is state[1]


@given(conversations(), st.data())
def test_every_view_of_a_summary_is_well_formed(messages: list[AnyMessage], data: Any) -> None:
    cuts = pair(messages).cuts()
    cutoff = data.draw(st.sampled_from(cuts))
    before = [message.model_copy(deep=True) for message in messages]

    view = viewed(messages, cutoff)

    def seen(start: int) -> list[AnyMessage]:
        return [m for m in messages[start:] if m.type != "system" and not is_empty(m)]

    start = max((cut for cut in cuts if cut <= cutoff and seen(cut)), default=cutoff)
    tail, shown = messages[start:], seen(start)
    pending = {tail[at].id for at in open_calls(tail) if at >= last_speech(tail)}
    assert faults_of(view, pending) == []
    body = [m for m in view if m.type != "system" and m is not SUMMARY]
    assert [m.id for m in body if m.id] == [m.id for m in shown]
    assert all(m.content in ("No result recorded.", LATER) for m in body if not m.id)
    if shown and shown[-1] is messages[-1]:
        assert view[-1].id == messages[-1].id
    told = view[0].text if view and view[0].type == "system" else ""
    lead = parts(messages, None).leading
    assert all(m.text in told for m in [*lead, *tail] if m.type == "system")
    assert messages == before
