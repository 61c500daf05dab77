"""The example chat service, started as a service and used over HTTP."""

import concurrent.futures
import contextlib
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from examples.host.app import create_app
from langgraph_compression import CompressionSettings, estimate_tokens
from tests.support.fakes import FakeModel

LONG = " ".join(
    f"The harbour report says: ferry {n} lies at berth {n % 9}, with cargo {n * 37}."
    for n in range(60)
)
"""About 700 tokens."""
SETTINGS = CompressionSettings(
    summary_threshold=3.6 * estimate_tokens(LONG) / 1024, summary_keep_messages=2
)
"""A threshold that is reached by the fourth long turn."""


class Service:
    """The service and the model behind it."""

    def __init__(self, folder: Path) -> None:
        self.go = threading.Event()
        self.entered = threading.Event()
        self.summary_fails = False
        self.model = FakeModel(answer=self._answer)
        self.folder = folder
        self.http = httpx.Client(timeout=20)

    def _answer(self, messages: Any) -> str:
        text = str(messages[-1].content)
        if "HISTORY" in text or len(messages) == 1:  # the summarizer's request
            if self.summary_fails:
                raise ConnectionError("the summarizer is away")
            return "Berth 7 is done, berth 9 is open."
        if text.startswith("wait"):
            self.entered.set()
            assert self.go.wait(20)
        return f"Answer to: {text[:30]}"

    def turn(self, thread: str, text: str) -> list[tuple[str, Any]]:
        """A turn: its events."""
        answer = self.http.post(f"/threads/{thread}/turns", json={"text": text})
        assert answer.status_code == 200
        fields = [line.partition(": ") for line in answer.text.splitlines()]
        names = [value for name, _, value in fields if name == "event"]
        data = [json.loads(value) for name, _, value in fields if name == "data"]
        return list(zip(names, data, strict=True))

    def compress(self, thread: str, code: int = 200) -> dict[str, Any]:
        """Compress now."""
        answer = self.http.post(f"/threads/{thread}/compress")
        assert answer.status_code == code, answer.text
        return dict(answer.json())

    def status(self, thread: str) -> dict[str, Any]:
        """The status of a thread."""
        return dict(self.http.get(f"/threads/{thread}/status").json())


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """The service on a free port of 127.0.0.1."""
    service = Service(tmp_path)
    app = create_app(tmp_path, service.model, SETTINGS)
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < deadline
        assert thread.is_alive()
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    service.http.base_url = httpx.URL(f"http://127.0.0.1:{port}")
    with service.http:
        yield service
    service.go.set()
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()


def answer_of(events: list[tuple[str, Any]]) -> str:
    [text] = [data["text"] for name, data in events if name == "answer"]
    return str(text)


def test_turns_are_answered_and_kept(service: Service) -> None:
    events = service.turn("1", "Hello")
    assert answer_of(events) == "Answer to: Hello"
    assert "".join(data["text"] for name, data in events if name == "token") == answer_of(events)
    before = service.status("1")["tokens"]
    service.turn("1", "And berth 9?")
    assert service.status("1")["tokens"] > before
    assert service.status("2")["tokens"] == 0


def test_events_of_compression_come_with_the_turn(service: Service) -> None:
    for _ in range(3):
        service.turn("1", LONG)
    events = service.turn("1", LONG)
    names = [name for name, _ in events]
    seen = [data["status"] for name, data in events if name == "context_compression"]
    assert seen == ["started", "completed"]
    assert names.index("context_compression") < names.index("token")
    assert "Berth 7 is done" not in str(events)
    assert answer_of(events).startswith("Answer to: The harbour")
    [history] = (service.folder / "files").rglob("*.jsonl")
    assert "harbour" in history.read_text("utf-8")


def test_compress_now(service: Service) -> None:
    for _ in range(3):
        service.turn("1", LONG)
    done = service.compress("1")
    assert done["status"] == "completed"
    assert done["after_tokens"] < done["before_tokens"]
    assert service.status("1")["unknown"] == ["system", "tools"]
    assert service.compress("2")["status"] == "no_op"


def test_one_at_a_time(service: Service) -> None:
    service.turn("1", LONG)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        first = pool.submit(service.turn, "1", "wait for me")
        assert service.entered.wait(10)
        assert service.compress("1", 409) == {"error": "thread_busy", "reason": "running"}
        assert service.compress("2")["status"] == "no_op"  # another thread is free
        second = pool.submit(service.turn, "1", "second")
        deadline = time.monotonic() + 10
        while service.compress("1", 409)["reason"] != "queued":
            assert time.monotonic() < deadline
        assert not second.done()
        service.go.set()
        assert answer_of(first.result()) == "Answer to: wait for me"
        assert answer_of(second.result()) == "Answer to: second"
    asked = [str(request.messages[-1].content) for request in service.model.requests]
    assert asked[-2:] == ["wait for me", "second"]


def test_client_that_goes_away_lets_the_thread_go(service: Service) -> None:
    body = {"text": "wait for nobody"}
    with (
        contextlib.suppress(httpx.ReadTimeout),
        service.http.stream("POST", "/threads/1/turns", json=body, timeout=0.5) as answer,
    ):
        for _ in answer.iter_lines():
            pass
    assert service.entered.wait(10)
    deadline = time.monotonic() + 10
    # Nobody holds it any more; what stopped midway waits to be resumed, or for the next turn.
    while service.compress("1", 409)["reason"] != "waiting":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    service.go.set()
    assert answer_of(service.turn("1", "Still there?")) == "Answer to: Still there?"
    assert service.compress("1")["status"] == "no_op"


def test_failed_summary(service: Service) -> None:
    for _ in range(3):
        service.turn("1", LONG)
    before = service.status("1")
    service.summary_fails = True
    refused = service.compress("1", 502)
    assert refused["error"] == "compression_failed"
    assert "away" not in refused["message"]
    assert service.status("1") == before
    assert answer_of(service.turn("1", "Still there?")) == "Answer to: Still there?"


@pytest.mark.parametrize("thread", ["..%2e", "%00", "a%20b", "x" * 500, "%E6%B8%A1"])
def test_odd_thread_ids_stay_in_the_folder(service: Service, thread: str) -> None:
    assert answer_of(service.turn(thread, "Hello")) == "Answer to: Hello"
    names = {path.name for path in service.folder.iterdir()}
    assert {name.split(".")[0] for name in names} <= {"chat", "gate", "files"}


def test_empty_turn_is_refused(service: Service) -> None:
    answer = service.http.post("/threads/1/turns", json={"text": ""})
    assert answer.status_code == 422
