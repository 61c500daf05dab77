"""Which result belongs to which call, and where a conversation may be cut."""

from typing import Any

import pytest
from hypothesis import given
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    FunctionMessage,
    HumanMessage,
    ToolMessage,
)

from langgraph_compression.state.pairing import calls_of, pair, results_of
from tests.support.conversations import (
    assigned,
    conversations,
    last_speech,
    open_calls,
)


def call(*ids: str) -> AIMessage:
    return AIMessage(
        "", tool_calls=[{"name": "t", "args": {}, "id": one, "type": "tool_call"} for one in ids]
    )


def result(one: str) -> ToolMessage:
    return ToolMessage("r", tool_call_id=one)


HUMAN = HumanMessage("h")
SAID = AIMessage("a")


@pytest.mark.parametrize(
    ("message", "ids"),
    [
        (call("1", "2"), ["1", "2"]),
        (AIMessage("", invalid_tool_calls=[
            {"name": "t", "args": "{", "id": "1", "error": None, "type": "invalid_tool_call"}
        ]), ["1"]),
        (AIMessage("", additional_kwargs={"tool_calls": [
            {"id": "1", "function": {"name": "t", "arguments": "{"}},
            {"id": "2", "type": "function"},
            "no call",
        ]}), ["1", "2"]),
        (AIMessage("", additional_kwargs={"function_call": {"name": "f"}}), ["function_call:f"]),
        (AIMessage([{"type": "tool_use", "id": "1", "name": "t", "input": {}}, "text"]), ["1"]),
        (AIMessage([{"type": "function_call", "id": "fc", "call_id": "1", "name": "t"}]), ["1"]),
        (AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": None}]), []),
        (HumanMessage([{"type": "tool_use", "id": "1", "name": "t", "input": {}}]), []),
    ],
)  # fmt: skip
def test_calls_are_found_wherever_they_stand(message: AnyMessage, ids: list[str]) -> None:
    assert [one.id for one in calls_of(message)] == ids


def test_a_call_that_stands_in_several_places_is_one() -> None:
    raw = {"id": "1", "function": {"name": "t", "arguments": "{}"}}
    block = {"type": "tool_use", "id": "toolu-1", "name": "t", "input": {}}
    message = AIMessage(
        [block], tool_calls=call("1").tool_calls, additional_kwargs={"tool_calls": [raw]}
    )
    assert [one.id for one in calls_of(message)] == ["1"]


@pytest.mark.parametrize(
    ("message", "ids"),
    [
        (result("1"), ["1"]),
        (FunctionMessage(name="f", content="r"), ["function_call:f"]),
        (HumanMessage([
            {"type": "tool_result", "tool_use_id": "1", "content": "r"},
            {"type": "text", "text": "and"},
            {"type": "tool_result", "tool_use_id": "2", "content": []},
        ]), ["1", "2"]),
        (HUMAN, []),
    ],
)  # fmt: skip
def test_results_are_found_wherever_they_stand(message: AnyMessage, ids: list[str]) -> None:
    assert results_of(message) == ids


CUTS: list[tuple[str, list[Any], list[int]]] = [
    ("no messages", [], [0]),
    ("plain", [HUMAN, SAID, HUMAN], [0, 1, 2, 3]),
    ("one group", [HUMAN, call("1"), result("1"), SAID], [0, 1, 3, 4]),
    ("parallel", [call("1", "2"), result("2"), result("1"), HUMAN], [0, 3, 4]),
    ("not adjacent", [call("1"), HUMAN, SAID, result("1"), HUMAN], [0, 4, 5]),
    ("interleaved", [call("1"), call("2"), result("1"), result("2"), HUMAN], [0, 4, 5]),
    ("pending", [HUMAN, call("1")], [0, 1]),
    ("half pending", [HUMAN, call("1", "2"), result("1")], [0, 1]),
    ("abandoned", [HUMAN, call("1"), HUMAN], [0, 1, 2, 3]),
    ("half abandoned", [call("1", "2"), result("1"), HUMAN], [0, 2, 3]),
    ("id again", [call("1"), result("1"), call("1"), result("1")], [0, 2, 4]),
    ("id again, first open", [call("1"), HUMAN, call("1"), result("1"), HUMAN], [0, 1, 2, 4, 5]),
    ("both answered late", [call("1"), call("1"), result("1"), result("1"), HUMAN], [0, 4, 5]),
    ("further result", [call("1"), result("1"), HUMAN, result("1"), HUMAN], [0, 4, 5]),
    ("orphan", [result("1"), HUMAN], [0, 1, 2]),
    ("result before its call", [result("1"), call("1"), HUMAN], [0, 1, 2, 3]),
]


@pytest.mark.parametrize(
    ("messages", "cuts"), [(m, c) for _, m, c in CUTS], ids=[name for name, _, _ in CUTS]
)
def test_cuts(messages: list[AnyMessage], cuts: list[int]) -> None:
    assert pair(messages).cuts() == cuts


def test_one_id_twice_in_a_message_is_two_calls() -> None:
    pairing = pair([call("1", "1"), result("1"), HUMAN])
    assert [one.id for one in pairing.unanswered[0]] == ["1"]


@given(conversations())
def test_results_go_to_the_nearest_open_call(messages: list[AnyMessage]) -> None:
    pairing = pair(messages)
    found: dict[tuple[int, str], int | None] = {
        (at, one.replace("function_call:", "function ")): caller
        for (at, one), caller in pairing.owner.items()
    }
    for at, ids in pairing.orphans.items():
        found |= {(at, one.replace("function_call:", "function ")): None for one in ids}
    assert found == assigned(messages)


@given(conversations())
def test_unanswered_calls_are_those_without_a_result(messages: list[AnyMessage]) -> None:
    found = {
        at: sorted(one.id.replace("function_call:", "function ") for one in calls)
        for at, calls in pair(messages).unanswered.items()
    }
    assert found == {at: sorted(ids) for at, ids in open_calls(messages).items()}


@given(conversations())
def test_a_cut_never_splits_a_group_and_every_other_place_would(messages: list[AnyMessage]) -> None:
    size = len(messages)
    groups = [(caller, at) for (at, _), caller in assigned(messages).items() if caller is not None]
    pending = [at for at in open_calls(messages) if at >= last_speech(messages)]
    groups += [(at, size) for at in pending]
    splitting = {cut for first, last in groups for cut in range(first + 1, last + 1)}
    assert pair(messages).cuts() == [cut for cut in range(size + 1) if cut not in splitting]
