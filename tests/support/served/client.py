"""What a user of the served system sees: threads, runs, and the routes under /compression."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
from langgraph_sdk import get_sync_client

from tests.support.langgraph_server import LangGraphServer

CONFIG = Path(__file__).with_name("langgraph.json")
GRAPH = "steered"
LONG = "The harbour report lists berth 7 and berth 9 with all their ferries. " * 55
"""About 700 tokens."""

Kind = tuple[str | None, int, str]
"""First text, further long turns, graph."""
READY: dict[Kind, int] = {
    (LONG, 2, GRAPH): 27,
    (LONG, 4, GRAPH): 5,
    ("Hello", 0, GRAPH): 8,
    ("Hello", 0, "plain"): 3,
    ("[ask] Close berth 9?", 0, GRAPH): 3,
    (f"[summary fails] {LONG}", 2, GRAPH): 2,
}
"""How many threads of a kind tests need; they are made at once, before."""


class User:
    """Somebody with a token, and with threads that he made before."""

    def __init__(
        self,
        server: LangGraphServer,
        token: str,
        ready: "dict[Kind, list[Thread]] | None" = None,
    ) -> None:
        headers = {"authorization": f"Bearer {token}"}
        self.server, self.token, self._ready = server, token, ready or {}
        self.api = get_sync_client(url=server.url, headers=headers)
        self.http = httpx.Client(base_url=server.url, headers=headers, timeout=30)

    def close(self) -> None:
        """Close all connections."""
        self.api.http.client.close()
        self.http.close()

    def thread(self, first: str | None = LONG, turns: int = 2, graph: str = GRAPH) -> "Thread":
        """A thread; with `first` it has that turn and `turns` more long ones in it."""
        if made := self._ready.get((first, turns, graph)):
            return Thread(self, made.pop().id, graph)
        thread = Thread(self, self.api.threads.create()["thread_id"], graph)
        if first is not None:
            told = [first, *[LONG] * turns]
            messages = [message for text in told for message in (("user", text), ("ai", "Yes."))]
            thread.run(messages[:-1])
        return thread


class Thread:
    """A thread of a user."""

    def __init__(self, user: User, thread_id: str, graph: str = GRAPH) -> None:
        self.user, self.id, self.graph = user, thread_id, graph

    @property
    def url(self) -> str:
        """Where its routes are."""
        return f"/compression/threads/{self.id}"

    def run(self, messages: Any, **fields: Any) -> Any:
        """A turn, waited for; a text is a message of the user."""
        given: Any = {"messages": [messages] if isinstance(messages, str) else messages}
        return self.user.api.runs.wait(self.id, self.graph, input=given, **fields)

    def start(self, text: str, **fields: Any) -> str:
        """A turn that goes on; returns its id."""
        given: Any = {"messages": [text]}
        run = self.user.api.runs.create(self.id, self.graph, input=given, **fields)
        return str(run["run_id"])

    def until(self, status: str, run: str | None = None) -> None:
        """Wait until the thread, or one of its runs, has a status."""
        api = self.user.api

        def now() -> str:
            thing: Any = api.runs.get(self.id, run) if run else api.threads.get(self.id)
            return str(thing["status"])

        wait_until(lambda: now() == status, f"status {status}")

    def compress(self, code: int = 200, **params: Any) -> dict[str, Any]:
        """Compress now; the answer must have this code."""
        answer = self.user.http.post(f"{self.url}/compress", params=params)
        assert answer.status_code == code, answer.text
        return dict(answer.json())

    def get(self, path: str, code: int = 200, **params: Any) -> dict[str, Any]:
        """Ask a route of the thread; the answer must have this code."""
        answer = self.user.http.get(f"{self.url}{path}", params=params)
        assert answer.status_code == code, answer.text
        return dict(answer.json())

    @property
    def status(self) -> dict[str, Any]:
        """What the status route says."""
        return self.get("/status")

    @property
    def values(self) -> dict[str, Any]:
        """Values of its state."""
        values = self.user.api.threads.get_state(self.id)["values"]
        assert isinstance(values, dict)
        return values

    @property
    def texts(self) -> list[str]:
        """Texts of its messages."""
        return [message["content"] for message in self.values["messages"]]

    def release(self, name: str) -> None:
        """Let the models that wait for this name go on."""
        (self.user.server.log.parent / name).touch()

    @contextlib.contextmanager
    def events(self, last_event_id: str | None = None) -> Iterator["Events"]:
        """Listen to its events; the first one has arrived."""
        headers = {"last-event-id": last_event_id} if last_event_id else {}
        with self.user.http.stream(
            "GET", f"{self.url}/events", headers=headers, timeout=None
        ) as answer:
            assert answer.status_code == 200, answer.read()
            events = Events(answer)
            events.until(lambda seen: len(seen) > 0)
            yield events
            events.close()


class Events:
    """Server-sent events as they come in: (id, data)."""

    def __init__(self, answer: httpx.Response) -> None:
        self.seen: list[tuple[str | None, dict[str, Any]]] = []
        self._answer = answer
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def close(self) -> None:
        """Hang up; the reader wakes up and ends."""
        connection = self._answer.extensions["network_stream"].get_extra_info("socket")
        connection.shutdown(socket.SHUT_RDWR)
        self._reader.join()

    def _read(self) -> None:
        identity, name = None, None
        with contextlib.suppress(httpx.TransportError):
            for line in self._answer.iter_lines():
                field, _, value = line.partition(": ")
                if field == "id":
                    identity = value
                elif field == "event":
                    name = value
                elif field == "data" and name == "context_compression":
                    self.seen.append((identity, json.loads(value)))
                elif not line:
                    identity, name = None, None

    def until(self, done: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        """Wait until the data of the events so far are as wanted, and return them."""
        wait_until(lambda: done([data for _, data in self.seen]), "events")
        return [data for _, data in self.seen]

    def until_statuses(self, *wanted: str) -> list[dict[str, Any]]:
        """Wait for exactly these statuses."""
        try:
            return self.until(lambda seen: [data["status"] for data in seen] == list(wanted))
        except AssertionError:
            raise AssertionError([data["status"] for _, data in self.seen]) from None


def wait_until(done: Callable[[], bool], what: str, seconds: float = 15) -> None:
    """Wait until something is so.

    Raises:
        AssertionError: It was not in time.
    """
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, f"no {what} after {seconds} s"
        time.sleep(0.05)
