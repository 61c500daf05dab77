"""A small chat service on FastAPI: one graph, one gate, server-sent events.

    uvicorn examples.host.app:app

| call | what it does |
|---|---|
| `POST /threads/{id}/turns` `{"text": "…"}` | a turn, streamed: `context_compression`, `token`, `answer`, `error` |
| `POST /threads/{id}/compress` | compress now; 409 when the thread is in use |
| `GET /threads/{id}/status` | how full the context is |

Turns and compress now take the same gate, so that they never meet on a thread. Several
processes take a `PostgresGate` and a Postgres checkpointer; nothing else changes.
"""

import hashlib
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import BaseModel, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from langgraph_compression import (
    CompressionError,
    CompressionSettings,
    SqliteGate,
    ThreadBusy,
    Workdir,
    acompress_thread,
    context_status,
    create_chatbot_graph,
)

QUEUE_SECONDS = 60.0
"""How long a turn waits for the one before it."""


class Turn(BaseModel):
    """What a user says."""

    text: str = Field(min_length=1, max_length=100_000)


def create_app(
    folder: Path, model: Any = "offline", settings: CompressionSettings | None = None
) -> FastAPI:
    """The service.

    Args:
        folder: For its database, its gate and the files of the conversations.
        model: A chat model or "provider:name".
        settings: How to compress.
    """
    settings = settings or CompressionSettings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        folder.mkdir(parents=True, exist_ok=True)
        async with AsyncSqliteSaver.from_conn_string(str(folder / "chat.sqlite")) as checkpointer:
            app.state.graph = create_chatbot_graph(
                model,
                system_prompt="Answer briefly.",
                settings=settings,
                workdir=lambda config: Workdir(folder / "files" / _thread_of(config)),
                checkpointer=checkpointer,
            )
            app.state.gate = SqliteGate(folder / "gate.sqlite")
            yield

    app = FastAPI(title="Chat", lifespan=lifespan)

    @app.post("/threads/{thread_id}/turns", response_class=EventSourceResponse)
    async def turn(thread_id: str, said: Turn, request: Request) -> EventSourceResponse:
        return EventSourceResponse(_answer(request.app, thread_id, said.text))

    @app.post("/threads/{thread_id}/compress")
    async def compress(thread_id: str, request: Request) -> dict[str, Any]:
        state = request.app.state
        done = await acompress_thread(state.graph, _config(thread_id), state.gate)
        return asdict(done)

    @app.get("/threads/{thread_id}/status")
    async def status(thread_id: str, request: Request) -> dict[str, Any]:
        snapshot = await request.app.state.graph.aget_state(_config(thread_id))
        return asdict(context_status(snapshot.values, settings))

    @app.exception_handler(ThreadBusy)
    async def busy(request: Request, error: ThreadBusy) -> JSONResponse:
        return JSONResponse({"error": "thread_busy", "reason": error.reason}, 409)

    @app.exception_handler(CompressionError)
    async def failed(request: Request, error: CompressionError) -> JSONResponse:
        return JSONResponse({"error": "compression_failed", "message": str(error)}, 502)

    return app


async def _answer(app: FastAPI, thread_id: str, text: str) -> AsyncIterator[ServerSentEvent]:
    """A turn as events. A client that goes away ends the turn and lets the thread go."""
    graph, config = app.state.graph, _config(thread_id)
    given = {"messages": [("user", text)]}
    try:
        async with app.state.gate.turn(thread_id, timeout=QUEUE_SECONDS):
            async for mode, part in graph.astream(
                given, config, stream_mode=["custom", "messages"]
            ):
                if mode == "custom":
                    yield _event("context_compression", part)
                elif part[0].type in ("ai", "AIMessageChunk") and part[0].text:
                    yield _event("token", {"text": str(part[0].text)})
            state = await graph.aget_state(config)
        yield _event("answer", {"text": str(state.values["messages"][-1].text)})
    except ThreadBusy as error:
        yield _event("error", {"error": "thread_busy", "reason": error.reason})
    except Exception as error:  # the answer has begun: the client learns it here
        yield _event("error", {"error": type(error).__name__})


def _event(name: str, data: Any) -> ServerSentEvent:
    return ServerSentEvent(event=name, data=json.dumps(data, ensure_ascii=False))


def _config(thread_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id}}


def _thread_of(config: RunnableConfig) -> str:
    """A folder's name for a thread; any text may be an id."""
    thread_id = str(config["configurable"]["thread_id"])
    return hashlib.sha256(thread_id.encode("utf-8", "backslashreplace")).hexdigest()


app = create_app(
    Path(os.environ.get("CHAT_FOLDER", "chat")), os.environ.get("CHAT_MODEL", "offline")
)
