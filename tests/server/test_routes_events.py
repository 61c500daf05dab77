"""GET /compression/threads/{id}/events: server-sent events of all runs of a thread."""

from typing import Any

import pytest

from tests.support.served.client import LONG, User

pytestmark = pytest.mark.server

CUSTOM: dict[str, Any] = {"stream_mode": ["custom"]}


def test_a_listener_learns_the_status_at_once(ada: User) -> None:
    thread = ada.thread()
    with thread.events() as events:
        [(identity, first)] = events.seen
    assert identity is None
    assert (first["type"], first["status"]) == ("context_compression", "measured")
    assert first["context"] == thread.status


def test_compress_now(ada: User) -> None:
    thread = ada.thread()
    with thread.events() as events:
        done = thread.compress()
        seen = events.until_statuses("measured", "started", "completed", "measured")
    assert {event["type"] for event in seen} == {"context_compression"}
    assert seen[2]["trigger"] == "manual"
    for key in ("before_tokens", "after_tokens", "file_path"):
        assert seen[2][key] == done[key]
    assert seen[3]["context"]["tokens"] == done["after_tokens"]


def test_run_with_custom(ada: User) -> None:
    thread = ada.thread(turns=4)
    with thread.events() as events:
        thread.user.api.runs.join(thread.id, thread.start(LONG * 2, **CUSTOM))
        seen = events.until_statuses("measured", "started", "completed", "measured")
    assert seen[1]["trigger"] == seen[2]["trigger"] == "threshold"
    assert seen[3]["context"]["ratio"] < 1


def test_run_without_custom(ada: User) -> None:
    thread = ada.thread(turns=4)
    with thread.events() as events:
        thread.run(LONG * 2)
        _, last = events.until_statuses("measured", "measured")
    assert last["context"]["tokens"] < 4096
    assert last["context"]["tokens"] == thread.status["tokens"]


def test_every_run_of_the_thread(ada: User) -> None:
    thread = ada.thread("Hello", turns=0)
    with thread.events() as events:
        thread.run("One.")
        events.until_statuses("measured", "measured")
        thread.run("Two.")
        seen = events.until_statuses("measured", "measured", "measured")
    tokens = [event["context"]["tokens"] for event in seen]
    assert tokens == sorted(set(tokens))


def test_run_that_fails(ada: User) -> None:
    thread = ada.thread("[summary fails] " + LONG)
    with thread.events() as events:
        thread.compress(502)
        seen = events.until_statuses("measured", "started", "failed", "measured")
    assert seen[2]["failures"] == [{"kind": "summary", "error": "ConnectionError"}]
    assert "away" not in str(seen)
    assert "harbour" not in str(seen)


def test_a_listener_joins_during_a_run(ada: User) -> None:
    thread = ada.thread(turns=4)
    run = thread.start(f"[wait late] {LONG * 2}", **CUSTOM)
    thread.until("running", run)
    with thread.events() as events:
        assert events.seen[0][1]["context"]["thread_status"] == "busy"
        thread.release("late")
        seen = events.until(lambda seen: len(seen) > 1 and seen[-1]["status"] == "measured")
    assert seen[-2]["status"] == "completed"
    assert seen[-1]["context"]["ratio"] < 1


def test_a_listener_comes_back(ada: User) -> None:
    thread = ada.thread()
    with thread.events() as events:
        thread.run("One.")
        events.until_statuses("measured", "measured")
        last = events.seen[-1][0]
    assert last is not None
    thread.compress()  # nobody listens
    with thread.events(last) as events:
        seen = events.until_statuses("measured", "started", "completed", "measured")
        missed = [identity for identity, _ in events.seen[1:]]
    assert seen[2]["trigger"] == "manual"
    assert None not in missed
    assert last not in missed


def test_a_listener_with_an_odd_id(ada: User) -> None:
    thread = ada.thread("Hello", turns=0)
    with thread.events("no such id") as events:
        thread.run("One.")
        events.until(lambda seen: len(seen) > 1 and seen[-1]["status"] == "measured")
