"""Compress now in the served system: one run that is accepted only on an idle thread."""

from collections.abc import Mapping
from typing import Any

import httpx
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import APIStatusError, ConflictError

from langgraph_compression.errors import CompressionError
from langgraph_compression.server.errors import Incapable, NoSuchThread
from langgraph_compression.threads.compress import CompressionResult, result_of
from langgraph_compression.threads.gate import Reason, ThreadBusy

RUN_KIND = {"kind": "context_compression"}
"""Metadata of the run."""

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
    if await _waits(client, thread):
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
    if await _waits(client, await client.threads.get(thread_id)):
        return "waiting"
    queued = await client.runs.list(thread_id, limit=1, status="pending")
    return "queued" if queued else "running"


async def _waits(client: LangGraphClient, thread: Mapping[str, Any]) -> bool:
    """Whether the thread waits for a person: at an interrupt or a breakpoint.

    A thread whose last run was cancelled is called interrupted, too, and waits for nobody.
    """
    if thread["status"] != "interrupted":
        return False
    if thread.get("interrupts"):
        return True
    last = await client.runs.list(thread["thread_id"], limit=1)
    return not (last and last[0]["status"] == "interrupted")


def _run_error(thread_id: str, data: Any) -> Exception:
    kind = str(data.get("error")) if isinstance(data, Mapping) else "unknown"
    if kind == "ThreadBusy":
        return ThreadBusy(thread_id, "waiting")
    return CompressionError(f"compressing thread {thread_id!r} failed ({kind})")
