"""Full chats on the Postgres checkpointer: over restarts, and of many processes at once."""

import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, message_to_dict
from langgraph.checkpoint.postgres import PostgresSaver

from langgraph_compression import PostgresGate
from langgraph_compression.workdir.history import read_history
from tests.support.fakes import FakeModel
from tests.threads.chat_process import CONFIG, Chats, Operation, chat, use_one_thread
from tests.threads.chat_turns import LENGTH, whole_chat
from tests.threads.gate_process import SECONDS, Other, process
from tests.threads.gate_stores import busy_reason
from tests.threads.gate_witness import Witness

pytestmark = pytest.mark.postgres

OPERATIONS = 50
"""Of each of four processes."""


@pytest.fixture
def chats(postgres_schema: str, tmp_path: Path) -> Chats:
    """An empty place for chats."""
    with PostgresSaver.from_conn_string(postgres_schema) as saver:
        saver.setup()
    return Chats(postgres_schema, tmp_path)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Processes that end with the test."""
    with ExitStack() as stack:
        yield stack


def state_of(chats: Chats) -> dict[str, Any]:
    """The values of the thread, as a new process finds them."""
    with chats.graph(FakeModel(), FakeModel()) as graph:
        state = graph.get_state(CONFIG)
    assert state.next == ()
    return dict(state.values)


def published(chats: Chats) -> list[dict[str, Any]]:
    """All events of the thread that ever were in force, oldest first."""
    with PostgresSaver.from_conn_string(chats.postgres) as saver:
        seen = [
            saved.checkpoint["channel_values"].get("_summarization_event")
            for saved in saver.list(CONFIG)
        ]
    events = [event for event in reversed(seen) if event]
    return [event for event, _ in itertools.groupby(events)]


def said(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """Everything of the messages."""
    return [message_to_dict(message) for message in messages]


def check_history(chats: Chats, state: dict[str, Any]) -> int:
    """Events, files and state tell one and the same story; returns how many events there were.

    The cutoffs strictly grow, each file starts where the one before ended, no other file was
    written, and all of them with the rest of the state are the whole conversation.
    """
    events = published(chats)
    assert events[-1] == state["_summarization_event"]
    cutoffs = [0] + [event["cutoff_index"] for event in events]
    assert all(before < after for before, after in itertools.pairwise(cutoffs)), cutoffs

    paths = [event["file_path"] for event in events]
    ranges = [re.findall(r"(\d{6})-(\d{6})-\w+\.jsonl$", path) for path in paths]
    assert ranges == [[(f"{a:06d}", f"{b:06d}")] for a, b in itertools.pairwise(cutoffs)]
    workdir = chats.workdir
    files = workdir.list("outputs/conversation_history/")
    summaries = [path for path in files if path.endswith(".summary.json")]
    assert [file for file in files if file not in summaries] == sorted(paths)
    assert [f"{path.split('.')[0]}.jsonl" for path in summaries] == sorted(paths)

    history: list[BaseMessage] = []
    for path in paths:
        history += read_history(workdir.read_text(path), workdir.read_text)
    tail = state["messages"][cutoffs[-1] :]
    assert said([*history, *tail]) == said(state["messages"])
    return len(events)


def test_chat_with_tools_survives_restarts_and_a_crash_in_a_summary(
    chats: Chats, stack: ExitStack
) -> None:
    def started() -> Other:
        other = stack.enter_context(process(chat, chats))
        assert other.says() == "ready"
        return other

    def takes_turns(other: Other, number: int) -> None:
        for _ in range(number):
            other.hears("turn")
            cutoffs.append(other.says())

    cutoffs: list[int] = []
    first = started()
    takes_turns(first, 9)
    first.kill()
    before = state_of(chats)
    assert said(before["messages"]) == said(whole_chat(9))
    assert check_history(chats, before) >= 2

    second = started()
    takes_turns(second, 4)
    second.hears("crash")
    second.child.join(SECONDS)
    assert second.child.exitcode == 1
    # What was said is saved, and nothing of the summary is.
    assert [event["cutoff_index"] for event in published(chats)][-1] == cutoffs[-1]

    third = started()
    third.hears("resume")
    cutoffs.append(third.says())
    assert cutoffs[-1] > cutoffs[-2], "the summary was made up for"
    takes_turns(third, 9)
    third.kill()

    after = state_of(chats)
    messages = after["messages"]
    assert said(messages) == said(whole_chat(len(messages) // LENGTH))
    assert len(messages) >= LENGTH * len(cutoffs)
    assert cutoffs == sorted(cutoffs)
    assert check_history(chats, after) >= 6


def test_four_processes_use_one_thread(chats: Chats, stack: ExitStack) -> None:
    names = ["ada", "bob", "eve", "joe"]
    others = [stack.enter_context(process(use_one_thread, chats, n, OPERATIONS)) for n in names]
    assert [other.says() for other in others] == ["ready"] * len(others)
    for other in others:
        other.hears("go")
    done: dict[str, list[Operation]] = {}
    answers = summaries = 0
    for name, other in zip(names, others, strict=True):
        done[name], main_requests, summary_requests = other.says()
        answers, summaries = answers + main_requests, summaries + summary_requests

    # Nothing interleaved, and each turn was answered to who asked, with his own answer.
    turns = {name: [one for one in each if one.kind == "turn"] for name, each in done.items()}
    assert Witness(chats.folder).visits() == answers + summaries
    assert answers == sum(map(len, turns.values())) == 140
    for name, each in done.items():
        numbers = [number for number, one in enumerate(each) if one.kind == "turn"]
        assert [one.outcome for one in turns[name]] == [f"Answer to {name}-{n}" for n in numbers]

    # Each message is in the state once, followed by its answer, and each one's are in order.
    state = state_of(chats)
    asked, answered = state["messages"][::2], state["messages"][1::2]
    assert [m.content for m in answered] == [f"Answer to {m.id}" for m in asked]
    for name, each in done.items():
        numbers = [number for number, one in enumerate(each) if one.kind == "turn"]
        own = [message.id for message in asked if message.id.startswith(name)]
        assert own == [f"{name}-{number}" for number in numbers]
    assert len(asked) == answers

    # No summary was made twice, and none was lost.
    assert check_history(chats, state) == summaries
    compressed = [one for each in done.values() for one in each if one.outcome == "completed"]
    assert 0 < len(compressed) <= summaries

    check_refusals(done)
    # Now that nobody is in, nobody is refused.
    assert busy_reason(PostgresGate(chats.postgres)) is None


def check_refusals(done: dict[str, list[Operation]]) -> None:
    """Compress now was refused, and only while another process was in or in the queue."""
    refused = 0
    for name, each in done.items():
        others = [one for other, theirs in done.items() if other != name for one in theirs]
        for one in each:
            if one.kind == "turn" or one.outcome in ("completed", "no_op"):
                continue
            refused += 1
            assert one.outcome in ("running", "queued")
            meanwhile = [o for o in others if o.asked < one.left and one.asked < o.left]
            assert meanwhile, f"{name} was refused for nothing: {one}"
            # Only turns stand in the queue.
            assert one.outcome == "running" or any(o.kind == "turn" for o in meanwhile)
    assert refused > 0
