"""Gates of several processes."""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from langgraph_compression import ThreadBusy
from tests.threads.gate_process import (
    Other,
    hold_or_wait,
    process,
    take_turns_when_told,
    visit_often,
)
from tests.threads.gate_stores import Store, busy_reason, wait_until_queued
from tests.threads.gate_witness import Witness

SOON = 2.0
"""Seconds in which a thread is free after a crash: a person hardly notices."""


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Processes that end with the test."""
    with ExitStack() as stack:
        yield stack


def start(stack: ExitStack, store: Store) -> Other:
    other = stack.enter_context(process(hold_or_wait, store))
    assert other.says() == "ready"
    return other


def test_four_processes_with_fifty_visits_each_never_interleave(
    shared_store: Store, stack: ExitStack, tmp_path: Path
) -> None:
    """They also create the store at the same moment."""
    others = [
        stack.enter_context(process(visit_often, shared_store, tmp_path, 50)) for _ in range(4)
    ]
    assert [other.says() for other in others] == ["ready"] * 4
    for other in others:
        other.hears("go")
    inside, refusals = zip(*(other.says() for other in others), strict=True)
    assert sum(inside) + sum(map(len, refusals)) == 200
    assert sum(inside) >= 160, "no ordinary turn is refused"
    assert {reason for told in refusals for reason in told} <= {"running", "queued"}
    assert Witness(tmp_path).visits() == sum(inside)
    assert busy_reason(shared_store.open()) is None


def test_the_queue_keeps_its_order_across_processes(
    shared_store: Store, stack: ExitStack, tmp_path: Path
) -> None:
    gate, log = shared_store.open(), tmp_path / "log"
    others = [
        stack.enter_context(process(take_turns_when_told, shared_store, log)) for _ in range(2)
    ]
    assert [other.says() for other in others] == ["ready"] * 2
    words = [f"{number}" for number in range(8)]
    with gate.turn("t"):
        # Not in turn: the second process has three that came before the first one's last.
        for word, number in zip(words, [0, 1, 1, 1, 0, 0, 1, 0], strict=True):
            others[number].hears(word)
            time.sleep(0.1)
        assert not log.exists()
    for other in others:
        other.hears("end")
        assert other.says() == "written"
    assert log.read_text().split() == words


def test_another_process_is_busy(shared_store: Store, stack: ExitStack) -> None:
    gate, other = shared_store.open(), start(stack, shared_store)
    other.hears("go")
    assert other.says() == "inside"
    assert busy_reason(gate) == "running"
    with pytest.raises(ThreadBusy), gate.turn("t", timeout=0.1):
        pytest.fail("entered")
    other.hears("leave")
    assert other.says() == "left"
    assert busy_reason(gate) is None


@pytest.mark.parametrize("end", ["exit", "kill"])
def test_a_holder_that_crashes_frees_the_thread(
    shared_store: Store, stack: ExitStack, end: str
) -> None:
    gate = shared_store.open()
    holder, waiting = (start(stack, shared_store) for _ in range(2))
    holder.hears("go")
    assert holder.says() == "inside"
    waiting.hears("go")
    wait_until_queued(gate)
    crashed = time.monotonic()
    if end == "kill":
        holder.kill()
    else:
        holder.hears("exit")
    assert waiting.says() == "inside"
    assert time.monotonic() - crashed < SOON
    waiting.hears("leave")
    assert waiting.says() == "left"
    assert busy_reason(gate) is None


def test_compress_now_after_a_crash(shared_store: Store, stack: ExitStack) -> None:
    gate, holder = shared_store.open(), start(stack, shared_store)
    holder.hears("go")
    assert holder.says() == "inside"
    assert busy_reason(gate) == "running"
    holder.kill()
    deadline = time.monotonic() + SOON
    while busy_reason(gate):
        assert time.monotonic() < deadline


def test_who_crashes_in_the_queue_does_not_hold_it_up(
    shared_store: Store, stack: ExitStack
) -> None:
    gate, waiting = shared_store.open(), start(stack, shared_store)
    with gate.turn("t"):
        waiting.hears("go")
        wait_until_queued(gate)
        waiting.kill()
    # Postgres has no lock of those who wait, only the time when they were last seen.
    with gate.turn("t", timeout=SOON if shared_store.kind == "sqlite" else 3 + SOON):
        pass
    assert busy_reason(gate) is None


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # Of Python 3.12.
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_does_not_release_what_its_parent_holds(shared_store: Store) -> None:
    gate = shared_store.open()
    with gate.turn("t"):
        hold = gate.turn("another")
        with hold:
            child = os.fork()
            if child == 0:
                # The child leaves its parent's context, and uses the gate itself.
                try:
                    hold.__exit__(None, None, None)
                    told = busy_reason(gate)
                    with gate.turn("of the child", timeout=SOON):
                        os._exit(0 if told == "running" else 2)
                finally:
                    os._exit(3)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert busy_reason(gate) == "running"
            with pytest.raises(ThreadBusy), gate.maintenance("another"):
                pytest.fail("entered")
    assert busy_reason(gate) is None
