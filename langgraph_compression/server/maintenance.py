"""Compress now in the served system: one run that is accepted only on an idle thread."""

from collections.abc import Mapping
from typing import Any

import httpx
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import APIStatusError, ConflictError

from langgraph_compression.errors import CompressionError
from langgraph_compression.server.errors import Incapable, NoSuchThread
from langgraph_compression.threads.compress import (
    RUN_KIND,
    CompressionResult,
    result_of,
    stopped_midway,
)
from langgraph_compression.threads.gate import Reason, ThreadBusy

CAPABILITY = "context_compression"


async def compress(client: LangGraphClient, thread_id: str) -> CompressionResult:
    """Compress a thread of the server.

    The run queue is the lock: a run with `reject` is accepted only if no other run is there,
    and requests that come meanwhile wait behind it.

    Raises:
        NoSuchThread: The caller has no such thread.
        Incapable: The thread's graph has no compression, or it has no graph yet.
        ThreadBusy: It runs, waits for a person, or has requests in its queue.
        CompressionError: History file or summary failed; the state is as before.
    """
    thread = await thread_of(client, thread_id)
    assistant = await assistant_of(client, thread)
    mode = await _compress_mode(client, assistant)
    if thread["status"] in ("interrupted", "error") and await waits(client, thread_id):
        raise ThreadBusy(thread_id, "waiting")
    last: dict[str, Any] = {}
    try:
        stream = client.runs.stream(
            thread_id,
            assistant,
            input={"messages": []},
            context=mode,
            metadata=RUN_KIND,
            multitask_strategy="reject",
            stream_mode=["custom"],
            stream_resumable=True,  # for followers that come back later
        )
        async for part in stream:
            if part.event == "error":
                raise _run_error(thread_id, part.data)
            data: Any = part.data
            if isinstance(data, Mapping) and data.get("type") == CAPABILITY:
                last = dict(data)
    except (ConflictError, APIStatusError, httpx.HTTPStatusError) as error:
        if error.response.status_code == 409:
            raise ThreadBusy(thread_id, await busy_reason(client, thread_id)) from None
        raise
    return result_of(thread_id, last)


async def thread_of(client: LangGraphClient, thread_id: str) -> Mapping[str, Any]:
    """The thread, as its owner sees it.

    Raises:
        NoSuchThread: The caller has none of this id.
    """
    try:
        return await client.threads.get(thread_id)
    except (APIStatusError, httpx.HTTPStatusError) as error:
        if error.response.status_code in (403, 404, 422):
            raise NoSuchThread(thread_id) from None
        raise


async def assistant_of(client: LangGraphClient, thread: Mapping[str, Any]) -> str:
    """The assistant, else the graph, that ran last on the thread.

    Raises:
        Incapable: Nothing ran yet.
    """
    metadata = thread.get("metadata") or {}
    assistant = metadata.get("assistant_id") or metadata.get("graph_id")
    if not assistant:
        raise Incapable(str(thread["thread_id"]), "no graph has run on it yet")
    return str(assistant)


async def is_capable(client: LangGraphClient, assistant: str) -> bool:
    """Whether the assistant's graph declares that it can compress its threads."""
    drawn = await client.assistants.get_graph(assistant)
    return any(
        (node.get("metadata") or {}).get("capability") == CAPABILITY
        for node in drawn.get("nodes", ())
    )


async def _compress_mode(client: LangGraphClient, assistant: str) -> dict[str, Any]:
    """The run's context, in the place where the graph's context schema has it."""
    if not await is_capable(client, assistant):
        raise Incapable(assistant, "its graph has no node with the capability")
    schemas = await client.assistants.get_schemas(assistant)
    fields = (schemas.get("context_schema") or {}).get("properties") or {}
    if "mode" in fields:
        return {"mode": "compress"}
    # The server joins a run's context with the assistant's, but no deeper than its fields.
    own: Any = (await client.assistants.get(assistant)).get("context") or {}
    return {"compression": {**(own.get("compression") or {}), "mode": "compress"}}


async def busy_reason(client: LangGraphClient, thread_id: str) -> Reason:
    """Why a run was refused: the thread waits, has requests in its queue, or runs."""
    thread = await client.threads.get(thread_id)
    if thread["status"] == "interrupted" and await waits(client, thread_id):
        return "waiting"
    queued = await client.runs.list(thread_id, limit=1, status="pending")
    return "queued" if queued else "running"


async def waits(client: LangGraphClient, thread_id: str) -> bool:
    """Whether a thread on which no request runs waits: a new run would destroy what with.

    It waits at an interrupt, at a breakpoint, and at a node that failed, until it is resumed.
    A thread whose run was cancelled, or whose compression broke off, waits for nobody.
    """
    state = await client.threads.get_state(thread_id)
    if state.get("interrupts") or any(task.get("interrupts") for task in state["tasks"]):
        return True
    metadata: Mapping[str, Any] = state.get("metadata") or {}
    if not stopped_midway(state["next"], metadata):
        return False
    run = metadata.get("run_id")
    if not run:
        return True
    try:
        return (await client.runs.get(thread_id, str(run)))["status"] != "interrupted"
    except (APIStatusError, httpx.HTTPStatusError) as error:
        if error.response.status_code == 404:
            return True
        raise


def _run_error(thread_id: str, data: Any) -> Exception:
    kind = str(data.get("error")) if isinstance(data, Mapping) else "unknown"
    if kind == "ThreadBusy":
        return ThreadBusy(thread_id, "waiting")
    return CompressionError(f"compressing thread {thread_id!r} failed ({kind})")
