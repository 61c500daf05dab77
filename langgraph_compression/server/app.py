"""The routes that LangGraph Server mounts: `"http": {"app": "…server.app:app"}`."""

import asyncio
import re
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Header, Query, Request, Response
from fastapi.responses import JSONResponse
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from langgraph_compression.errors import CompressionError, WorkdirError
from langgraph_compression.server.caller import caller_of
from langgraph_compression.server.errors import Incapable, NoSuchThread
from langgraph_compression.server.follow import follow
from langgraph_compression.server.maintenance import compress, thread_of
from langgraph_compression.server.panel import Panel
from langgraph_compression.server.state import Status, status_of
from langgraph_compression.threads.gate import ThreadBusy
from langgraph_compression.workdir.kept_summary import is_kept_summary
from langgraph_compression.workdir.lease import WorkdirSource, aopened
from langgraph_compression.workdir.workdir import Workdir

SLICE = 20_000
"""Characters of an archived file per answer."""

EVENT_ID = re.compile(r"\d{1,20}-\d{1,20}")
"""An id that the server gave to an event, or 0-0 for all that it still has; the server
refuses any other, so that those are left out."""


class Compressed(BaseModel):
    """What compress now did."""

    status: Literal["completed", "no_op"]
    reason: str | None = Field(description="insufficient_history when nothing was compressed.")
    before_tokens: int
    after_tokens: int = Field(description="Of the view that the next request will see.")
    compressed_messages: int
    file_path: str | None


class Refusal(BaseModel):
    """Why a request was refused. It never holds text of the conversation."""

    error: str = Field(description="thread_busy, not_found, no_capability, compression_failed …")
    reason: str | None = Field(
        default=None, description="running, waiting or queued for a busy thread."
    )
    message: str
    resumable_at: list[str] = Field(
        default=[], description="Nodes at which a waiting thread goes on when it is resumed."
    )
    forceable: bool = Field(
        default=False,
        description="Its last request failed there, and force=true compresses all the same.",
    )


class Files(BaseModel):
    """The archived files of a thread."""

    files: list[str]


class FileSlice(BaseModel):
    """Part of an archived file."""

    path: str
    offset: int = Field(description="Characters before this part.")
    text: str
    next_offset: int | None = Field(description="Where the next part starts; null at the end.")


_REFUSALS: dict[int | str, dict[str, Any]] = {
    404: {"model": Refusal, "description": "The caller has no such thread or file."},
    409: {"model": Refusal, "description": "thread_busy, with the reason; nothing was changed."},
    422: {"model": Refusal, "description": "The thread's graph cannot compress."},
    502: {"model": Refusal, "description": "History file or summary failed; state as before."},
}


def _some(*codes: int) -> dict[int | str, dict[str, Any]]:
    return {code: _REFUSALS[code] for code in codes}


def create_app(workdir: WorkdirSource | None = None) -> FastAPI:
    """The app for langgraph.json's `http.app`.

    Args:
        workdir: Where the graphs keep their files, as given to them.
    """
    app = FastAPI(title="langgraph-compression", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(Panel)
    _add_routes(app, workdir)
    for kind, (code, name) in {
        ThreadBusy: (409, "thread_busy"),
        NoSuchThread: (404, "not_found"),
        Incapable: (422, "no_capability"),
        WorkdirError: (404, "not_found"),
        CompressionError: (502, "compression_failed"),
    }.items():
        app.add_exception_handler(kind, _refuse(code, name))
    return app


def _refuse(code: int, name: str) -> Any:
    def handler(request: Request, error: Exception) -> Response:
        body = Refusal(error=name, message=str(error))
        if isinstance(error, ThreadBusy):
            body.reason, body.forceable = error.reason, error.forceable
            body.resumable_at = list(error.resumable_at)
        return JSONResponse(body.model_dump(), status_code=code)

    return handler


def _add_routes(app: FastAPI, workdir: WorkdirSource | None) -> None:
    # On the app itself: LangGraph Server puts its authentication around each route, and
    # cannot do so for an included router.
    @app.post("/compression/threads/{thread_id}/compress", responses=_some(404, 409, 422, 502))
    async def compress_now(
        thread_id: uuid.UUID, request: Request, force: bool = False
    ) -> Compressed:
        """Summarize the older part of an idle thread now.

        With `?force=true` also one whose last request failed: its messages stay, but that
        request can no longer be resumed. An interrupt or a breakpoint is never forced away.
        """
        async with caller_of(request) as client:
            return Compressed(**vars(await compress(client, str(thread_id), force=force)))

    @app.get("/compression/threads/{thread_id}/status", responses=_some(404))
    async def status(thread_id: uuid.UUID, request: Request) -> Status:
        """How full the thread's context is."""
        async with caller_of(request) as client:
            return await status_of(client, str(thread_id))

    @app.get(
        "/compression/threads/{thread_id}/events",
        responses=_some(404),
        response_class=EventSourceResponse,
    )
    async def events(
        thread_id: uuid.UUID,
        request: Request,
        last_event_id: Annotated[str | None, Header()] = None,
    ) -> EventSourceResponse:
        """Server-sent events `context_compression` of all runs of the thread.

        First the status (`status: "measured"`), again after every run, and between them
        `started`, `completed` and `failed` of runs with stream mode `custom`. With
        Last-Event-ID follows what came after that event, with 0-0 all that the server still
        has: the events of runs that were created with `stream_resumable`.
        """
        async with caller_of(request) as client:
            await thread_of(client, str(thread_id))

        async def stream() -> AsyncIterator[ServerSentEvent]:
            async with caller_of(request) as client:
                seen = last_event_id if EVENT_ID.fullmatch(last_event_id or "") else None
                async for event in follow(client, str(thread_id), seen):
                    yield event

        return EventSourceResponse(stream())

    @app.get("/compression/threads/{thread_id}/history", responses=_some(404))
    async def history(thread_id: uuid.UUID, request: Request) -> Files:
        """The archived files: history and saved tool results."""
        async with _opened(request, thread_id) as files:
            found = await asyncio.to_thread(files.list, "outputs/")
        return Files(files=[path for path in found if not is_kept_summary(path)])

    @app.get("/compression/threads/{thread_id}/history/{path:path}", responses=_some(404))
    async def read(
        thread_id: uuid.UUID,
        path: str,
        request: Request,
        offset: Annotated[int, Query(ge=0)] = 0,
        limit: Annotated[int, Query(ge=1, le=SLICE)] = SLICE,
    ) -> FileSlice:
        """Part of an archived file."""
        if not path.startswith("outputs/"):
            raise WorkdirError(f"no archived file {path!r}: archived files are under outputs/")
        async with _opened(request, thread_id) as files:
            text, end = await asyncio.to_thread(files.read_slice, path, offset, limit)
        following = None if end else offset + len(text)
        return FileSlice(path=path, offset=offset, text=text, next_offset=following)

    @asynccontextmanager
    async def _opened(request: Request, thread_id: uuid.UUID) -> AsyncIterator[Workdir]:
        async with caller_of(request) as client:
            await thread_of(client, str(thread_id))
        config: RunnableConfig = {"configurable": {"thread_id": str(thread_id)}}
        async with aopened(workdir, config) as files:
            yield files


app = create_app()
