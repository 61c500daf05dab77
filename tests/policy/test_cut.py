"""Where the history is cut."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from langgraph_compression.policy.cut import SMALLEST_RANGE, choose_cut
from langgraph_compression.state.pairing import pair
from tests.support.conversations import conversations

PLENTY = 10**9


def call(*ids: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": one} for one in ids])


def result(one: str) -> ToolMessage:
    return ToolMessage("r", tool_call_id=one)


H, A = HumanMessage("h"), AIMessage("a")

# name, messages, tokens of each, messages to keep, room, expected
TABLE: list[tuple[str, list[Any], int, int, int, Any]] = [
    ("keeps the last four", [H, A] * 5, 200, 4, PLENTY, 6),
    ("keeps a group whole", [H, A, H, call("1"), result("1"), A], 200, 2, PLENTY, 3),
    ("a group far apart", [H, call("1"), H, A, H, result("1"), H, A], 200, 3, PLENTY, 1),
    ("parallel calls", [H, call("1", "2"), result("2"), result("1"), H], 200, 2, PLENTY, 1),
    ("forward if nothing were left", [call("1"), result("1"), H, A], 200, 3, PLENTY, 2),
    ("fewer than are to be kept", [H, A, H], 200, 10, PLENTY, 1),
    ("fewer when there is no room", [H, A] * 5, 200, 8, 700, 7),
    ("room for exactly that much is no room", [H, A] * 5, 200, 8, 800, 7),
    ("no room for anything: the newest", [H, A] * 5, 200, 8, 1, 9),
    ("no room: the newest group", [H, A, H, call("1"), result("1")], 200, 8, 1, 3),
    ("negative room", [H, A] * 5, 200, 8, -5000, 9),
    ("pending calls stay", [H, A, call("1")], 200, 1, 1, 2),
    ("half answered calls stay", [H, A, call("1", "2"), result("1")], 200, 1, 1, 2),
    ("an abandoned call may go", [call("1"), H, A, H], 200, 2, PLENTY, 2),
    ("one message", [H], 5000, 1, 1, "insufficient_history"),
    ("one group", [call("1"), result("1")], 5000, 1, 1, "insufficient_history"),
    ("no message", [], 0, 4, PLENTY, "insufficient_history"),
    ("a range of a few words", [H, A] * 5, 10, 4, PLENTY, "nothing_gained"),
]


@pytest.mark.parametrize(
    ("messages", "each", "keep", "room", "expected"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_table(messages: list[AnyMessage], each: int, keep: int, room: int, expected: Any) -> None:
    tokens = [each] * len(messages)
    assert choose_cut(pair(messages).cuts(), tokens, keep=keep, room=room) == expected


def test_the_size_of_each_message_counts() -> None:
    messages: list[AnyMessage] = [H, A, H, A, H]
    assert choose_cut(pair(messages).cuts(), [500, 10, 10, 400, 10], keep=4, room=410) == 4
    assert choose_cut(pair(messages).cuts(), [500, 10, 10, 400, 10], keep=4, room=425) == 2


def test_when_even_the_newest_does_not_fit_a_short_range_is_left_alone() -> None:
    """Else every turn would pay for a summary that does not help."""
    messages: list[AnyMessage] = [H, A, H]
    chosen = [
        choose_cut(
            pair(messages).cuts(), [200, 200, 9000], keep=4, room=100, least_if_hopeless=least
        )
        for least in (400, 401)
    ]
    assert chosen == [2, "nothing_gained"]


@given(
    conversations(),
    st.integers(1, 12),
    st.integers(-100, 3000),
    st.data(),
)
def test_every_cut_keeps_groups_and_the_newest(
    messages: list[AnyMessage], keep: int, room: int, data: Any
) -> None:
    size = len(messages)
    tokens = data.draw(st.lists(st.integers(4, 600), min_size=size, max_size=size))
    pairing = pair(messages)
    cuts = [cut for cut in pairing.cuts() if 0 < cut < size]

    chosen = choose_cut(pairing.cuts(), tokens, keep=keep, room=room)

    if not isinstance(chosen, int):
        assert (chosen == "insufficient_history") == (not cuts)
        return
    assert chosen in cuts
    assert sum(tokens[:chosen]) >= SMALLEST_RANGE
    fits = {cut for cut in cuts if sum(tokens[cut:]) < room}
    preferred = max((cut for cut in cuts if cut <= size - keep), default=cuts[0])
    if fits:
        assert chosen == min(cut for cut in fits if cut >= preferred)
    else:
        assert chosen == cuts[-1]
