"""To which messages an event applies."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_compression.state.event import applied_event, binding, message_digest
from langgraph_compression.state.pairing import pair
from tests.support.conversations import conversations

SUMMARY = HumanMessage("SUMMARY", id="summary")
FILE = "outputs/conversation_history/x.jsonl"
CALL = AIMessage("", tool_calls=[{"name": "t", "args": {"q": "x"}, "id": "1"}], id="m2")
MESSAGES: list[AnyMessage] = [
    HumanMessage("a", id="m0"),
    AIMessage("b", id="m1"),
    CALL,
    ToolMessage("r", tool_call_id="1", id="m3"),
    HumanMessage("c", id="m4"),
    AIMessage("d", id="m5"),
]


def event(cutoff: Any, **fields: Any) -> dict[str, Any]:
    return {"cutoff_index": cutoff, "summary_message": SUMMARY, "file_path": FILE, **fields}


def bound(cutoff: int) -> dict[str, Any]:
    return event(cutoff, **binding(MESSAGES, cutoff))


def place(given_event: Any, messages: list[AnyMessage] = MESSAGES) -> int | None:
    applied = applied_event(given_event, messages)
    return applied and applied.cutoff


@pytest.mark.parametrize(
    ("cutoff", "applies_to"),
    [
        (1, 1), (2, 2), (4, 4), (5, 5),
        (3, 2),  # between a call and its result: back to where no group is cut
        (6, None), (7, None), (10**30, None), (0, None), (-1, None),
        (True, None), ("2", None), (2.0, None), (None, None), ([2], None),
    ],
)  # fmt: skip
def test_unbound_event(cutoff: Any, applies_to: int | None) -> None:
    assert place(event(cutoff)) == applies_to


def test_unbound_event_within_the_first_group_applies_to_nothing() -> None:
    assert place(event(1), [CALL, *MESSAGES[3:]]) is None


@pytest.mark.parametrize("cutoff", [1, 2, 4, 5, 6])
def test_bound_event(cutoff: int) -> None:
    assert place(bound(cutoff)) == cutoff
    more = [*MESSAGES, HumanMessage("later", id="m9"), AIMessage("more", id="m10")]
    assert place(bound(cutoff), more) == cutoff


CHANGES: list[tuple[str, Callable[[list[AnyMessage]], list[AnyMessage]], int | None]] = [
    ("an earlier one deleted", lambda m: m[1:], 4),
    ("two earlier ones deleted", lambda m: m[2:], 3),
    ("an earlier one edited", lambda m: [HumanMessage("A", id="m0"), *m[1:]], 5),
    ("a later one edited", lambda m: [*m[:5], AIMessage("D", id="m5")], 5),
    ("the tail deleted", lambda m: m[:5], 5),
    ("the last one deleted", lambda m: [*m[:4], m[5]], None),
    ("the last one edited", lambda m: [*m[:4], HumanMessage("C", id="m4"), m[5]], None),
    ("the last one with another id", lambda m: [*m[:4], HumanMessage("c", id="x"), m[5]], None),
    ("everything deleted", lambda m: [], None),
    ("begun anew", lambda m: [HumanMessage("a", id="n0"), AIMessage("b", id="n1")], None),
    ("forked before the cut", lambda m: [*m[:2], *(HumanMessage(str(n)) for n in range(6))], None),
]


@pytest.mark.parametrize(
    ("change", "applies_to"), [(c, a) for _, c, a in CHANGES], ids=[name for name, _, _ in CHANGES]
)
def test_bound_event_of_a_changed_history(change: Any, applies_to: int | None) -> None:
    assert place(bound(5), change(list(MESSAGES))) == applies_to


@pytest.mark.parametrize("key", ["last_id", "last_digest"])
def test_bound_event_of_other_messages(key: str) -> None:
    assert place({**bound(5), key: "other"}) is None


@pytest.mark.parametrize("cutoff", [0, -3, True, "5", None])
def test_binding_does_not_make_up_for_a_cutoff(cutoff: Any) -> None:
    assert place({**bound(5), "cutoff_index": cutoff}) is None


@pytest.mark.parametrize("other", [None, [], "text", 7, {}, {"summary_message": SUMMARY}])
def test_what_is_no_event(other: Any) -> None:
    assert place(other) is None


@pytest.mark.parametrize(
    "summary",
    [
        None, "SUMMARY", 7, [], {}, {"type": "human"}, {"type": "alien", "content": "x"},
        SystemMessage("SUMMARY"), AIMessage("SUMMARY"), HumanMessage(""),
        {"role": "system", "content": "SUMMARY"}, {"content": "SUMMARY"},
        ToolMessage("SUMMARY", tool_call_id="1"),
    ],
)  # fmt: skip
def test_without_a_summary_there_is_no_event(summary: Any) -> None:
    assert place({**event(2), "summary_message": summary}) is None


@pytest.mark.parametrize(
    "summary",
    [
        SUMMARY,
        SUMMARY.model_dump(),
        json.loads(SUMMARY.model_dump_json()),
        {"role": "user", "content": "SUMMARY", "id": "summary"},
        HumanMessage([{"type": "text", "text": "SUMMARY"}], id="summary"),
    ],
)
def test_summary_messages_of_any_form_are_read(summary: Any) -> None:
    applied = applied_event({**event(2), "summary_message": summary}, MESSAGES)
    assert applied is not None
    assert (applied.summary.text, applied.summary.id) == ("SUMMARY", "summary")


@pytest.mark.parametrize(
    ("path", "read"), [(FILE, FILE), (None, None), (7, None), (["x"], None)]
)  # fmt: skip
def test_the_file_is_a_path_or_nothing(path: Any, read: str | None) -> None:
    applied = applied_event({**event(2), "file_path": path}, MESSAGES)
    assert applied is not None
    assert applied.file_path == read


def test_an_event_of_deepagents() -> None:
    """Three fields, and the history in a markdown file with a leading slash."""
    given_event = event(2, file_path="/conversation_history/session.md")
    applied = applied_event(given_event, MESSAGES)
    assert applied is not None
    assert (applied.cutoff, applied.summary) == (2, SUMMARY)


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage("你好 \ud800 \0 \N{GRINNING FACE}"),
        HumanMessage([{"type": "text", "text": "x"}, {"type": "image", "base64": "AAAA"}]),
        CALL,
        AIMessage("", invalid_tool_calls=[{"name": "t", "args": "{", "id": "1", "error": "e"}]),
        ToolMessage([{"type": "text", "text": "r"}], tool_call_id="1"),
    ],
)
def test_the_digest_survives_a_checkpoint(message: BaseMessage) -> None:
    serde = JsonPlusSerializer()
    stored = serde.loads_typed(serde.dumps_typed(message))
    assert message_digest(stored) == message_digest(message)


@given(conversations(), st.data())
def test_a_bound_event_applies_after_a_checkpoint_and_more_messages(
    messages: list[AnyMessage], data: Any
) -> None:
    cutoff = data.draw(st.sampled_from([cut for cut in pair(messages).cuts() if cut] or [0]))
    if not cutoff:
        return
    serde = JsonPlusSerializer()
    stored = serde.loads_typed(
        serde.dumps_typed([messages, event(cutoff, **binding(messages, cutoff))])
    )
    later = data.draw(conversations(4))
    later = [m.model_copy(update={"id": f"later-{n}"}) for n, m in enumerate(later)]
    assert place(stored[1], [*stored[0], *later]) == cutoff


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just(SUMMARY),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["cutoff_index", "summary_message", "file_path", "last_id",
                         "last_digest", "type", "content", "role"]),
        inner,
    ),
    max_leaves=12,
))  # fmt: skip
def test_whatever_stands_in_the_channel_is_read_without_an_error(value: Any) -> None:
    applied = applied_event(value, MESSAGES)
    assert applied is None or applied.cutoff in pair(MESSAGES).cuts()[1:]
