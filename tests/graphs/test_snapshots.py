"""How often a delta channel stores its whole list: the more rarely the longer the list is."""

from itertools import pairwise
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, _messages_delta_reducer

from langgraph_compression.graphs.schema import ChatState, GrowingDelta

REDUCER: Any = _messages_delta_reducer
CONFIG: Any = {"configurable": {"thread_id": "long"}}


def talk(turns: int) -> tuple[Any, InMemorySaver]:
    """A thread of two messages a turn, each written by a step of its own."""
    builder = StateGraph(ChatState)
    builder.add_node(
        "model", lambda state: {"messages": [AIMessage(f"Answer {len(state['messages'])}")]}
    )
    builder.add_edge(START, "model")
    saver = InMemorySaver()
    graph = builder.compile(checkpointer=saver)
    for turn in range(turns):
        graph.invoke({"messages": [HumanMessage(f"Question {turn}", id=f"h{turn}")]}, CONFIG)
    return graph, saver


def stored_whole(saver: InMemorySaver) -> list[int]:
    """Lengths of the lists that were stored whole, oldest first."""
    values = [found.checkpoint["channel_values"] for found in saver.list(CONFIG)]
    # A list stands in each checkpoint until the channel is written again.
    return sorted({len(held["messages"].value) for held in values if "messages" in held})


def said(turns: int) -> list[str]:
    return [
        text for turn in range(turns) for text in (f"Question {turn}", f"Answer {2 * turn + 1}")
    ]


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short lists behave as long ones do."""
    monkeypatch.setattr(GrowingDelta, "least", 4)
    monkeypatch.setattr(GrowingDelta, "share", 8)


def test_as_langgraph_while_the_list_is_short() -> None:
    assert GrowingDelta(REDUCER) == DeltaChannel(REDUCER)
    assert stored_whole(talk(120)[1]) == [100, 200]


@pytest.mark.parametrize(("messages", "updates"), [(0, 100), (1_600, 100), (3_200, 200)])
def test_updates_between_two_snapshots(messages: int, updates: int) -> None:
    channel = GrowingDelta(REDUCER)
    channel.update([[HumanMessage("a", id=str(number)) for number in range(messages)]])
    assert channel.snapshot_frequency == channel.copy().snapshot_frequency == updates
    channel.update([[RemoveMessage(REMOVE_ALL_MESSAGES)]])
    assert channel.snapshot_frequency == channel.copy().snapshot_frequency == 100


@pytest.mark.usefixtures("often")
def test_what_is_stored_whole_grows_with_the_thread_and_not_with_its_square() -> None:
    lengths = stored_whole(talk(240)[1])
    gaps = [later - earlier for earlier, later in pairwise(lengths)]
    assert gaps == sorted(gaps)
    assert gaps[0] == 4
    assert gaps[-1] > 40
    # The sum of a geometric series: here 1 + 1/8 from one to the next, so 9 times the last.
    assert sum(lengths) <= 10 * lengths[-1]


@pytest.mark.usefixtures("often")
def test_every_checkpoint_still_reads_as_it_was() -> None:
    graph, _ = talk(60)
    held = [
        [message.content for message in found.values.get("messages", [])]
        for found in graph.get_state_history(CONFIG)
    ]
    whole = said(60)
    assert held[0] == whole
    assert all(one == whole[: len(one)] for one in held)
    assert {len(one) for one in held} == set(range(121))


@pytest.mark.usefixtures("often")
def test_a_branch_from_an_old_checkpoint_goes_on_from_there() -> None:
    graph, _ = talk(60)
    old = next(
        found
        for found in graph.get_state_history(CONFIG)
        if len(found.values.get("messages", [])) == 62 and not found.next
    )
    after = graph.invoke({"messages": [HumanMessage("Else?", id="else")]}, old.config)["messages"]
    assert [message.content for message in after] == [*said(31), "Else?", "Answer 63"]
    assert graph.get_state(CONFIG).values["messages"] == after
