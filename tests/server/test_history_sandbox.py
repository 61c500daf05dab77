"""The history routes over a sandbox: entered for the request, left after it."""

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from langgraph_compression import Workdir
from langgraph_compression.server import caller
from langgraph_compression.server.app import create_app

PATH = "outputs/conversation_history/a.jsonl"


@pytest.mark.parametrize("way", ["sync", "async"])
def test_released_after_a_request(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The transport of the server itself wants its whole configuration.
    monkeypatch.setattr(caller, "get_asgi_transport", lambda: httpx.ASGITransport)
    files, log = Workdir(f"memory://{uuid.uuid4().hex}"), []
    files.write_text(PATH, "text")

    @contextmanager
    def sync(config: Any) -> Iterator[Workdir]:
        log.append(config["configurable"]["thread_id"])
        try:
            yield files
        finally:
            log.append("left")
            raise RuntimeError("release failed")

    @asynccontextmanager
    async def asynchronous(config: Any) -> AsyncIterator[Workdir]:
        with sync(config) as workdir:
            yield workdir

    app = create_app(sync if way == "sync" else asynchronous)

    @app.get("/threads/{thread_id}")
    def thread(thread_id: str) -> dict[str, str]:
        return {"thread_id": thread_id}

    thread_id = str(uuid.uuid4())
    url = f"/compression/threads/{thread_id}/history"
    with TestClient(app) as client:
        assert client.get(url).json() == {"files": [PATH]}
        assert client.get(f"{url}/{PATH}").json()["text"] == "text"
        assert client.get(f"{url}/outputs/none.txt").status_code == 404
    assert log == [thread_id, "left"] * 3
