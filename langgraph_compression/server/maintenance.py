"""Compress now in the served system: one run that is accepted only on an idle thread."""

from collections.abc import Mapping
from typing import Any

import httpx
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import APIStatusError, ConflictError

from langgraph_compression.errors import CompressionError
from langgraph_compression.server.errors import Incapable, NoSuchThread, UnknownField
from langgraph_compression.threads.compress import CompressionResult, result_of
from langgraph_compression.threads.gate import ThreadBusy
from langgraph_compression.threads.stop import OF_RUNS, RUN_KIND, Stop, may_be_filled, stop_of

CAPABILITY = "context_compression"
FORCED = "forced"
"""Metadata of a run that may give up a failed request."""


async def compress(
    client: LangGraphClient, thread_id: str, *, force: bool = False
) -> CompressionResult:
    """Compress a thread of the server.

    The run queue is the lock: a run with `reject` is accepted only if no other run is there,
    and requests that come meanwhile wait behind it.

    Args:
        client: With the rights of the caller.
        thread_id: The thread.
        force: Also if its last request failed, which can then no longer be resumed.

    Raises:
        NoSuchThread: The caller has no such thread.
        Incapable: The thread's graph has no compression, or it has no graph yet.
        ThreadBusy: It runs, waits for a person, or has requests in its queue.
        CompressionError: History file or summary failed; the state is as before.
    """
    thread = await thread_of(client, thread_id)
    assistant = await assistant_of(client, thread)
    mode = await _compress_mode(client, assistant)
    stopped = None
    if thread["status"] in ("interrupted", "error"):
        stopped = await refuse_if_waiting(client, thread_id, force=force)
    last: dict[str, Any] = {}
    try:
        stream = client.runs.stream(
            thread_id,
            assistant,
            input={"messages": []},
            context=mode,
            metadata={**RUN_KIND, FORCED: force},
            multitask_strategy="reject",
            stream_mode=["custom"],
            stream_resumable=True,  # for followers that come back later
        )
        async for part in stream:
            if part.event == "error":
                raise await _run_error(client, thread_id, part.data)
            data: Any = part.data
            if isinstance(data, Mapping) and data.get("type") == CAPABILITY:
                last = dict(data)
    except (ConflictError, APIStatusError, httpx.HTTPStatusError) as error:
        if error.response.status_code == 409:
            raise await busy(client, thread_id) from None
        raise
    return result_of(thread_id, last, ended=stopped is not None)


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
    """The assistant that ran last on the thread, else the default one of its graph.

    Raises:
        Incapable: It has no graph yet.
    """
    metadata = thread.get("metadata") or {}
    if assistant := metadata.get("assistant_id"):
        return str(assistant)
    if graph := metadata.get("graph_id"):
        default = {"created_by": "system"}
        for found in await client.assistants.search(graph_id=graph, metadata=default, limit=1):
            return found["assistant_id"]
    raise Incapable(str(thread["thread_id"]), "no graph has run on it yet")


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


async def busy(client: LangGraphClient, thread_id: str) -> ThreadBusy:
    """Why a run was refused: the thread waits, has requests in its queue, or runs."""
    thread = await client.threads.get(thread_id)
    if thread["status"] == "interrupted" and (stop := await stop_at(client, thread_id)):
        return stop.busy(thread_id)
    queued = await client.runs.list(thread_id, limit=1, status="pending")
    return ThreadBusy(thread_id, "queued" if queued else "running")


async def refuse_if_waiting(client: LangGraphClient, thread_id: str, *, force: bool) -> Stop | None:
    """Refuse a thread, on which no request runs, that a new run would take something from.

    Returns:
        The failed request that `force` gives up.

    Raises:
        ThreadBusy: It waits to be resumed.
    """
    stop = await stop_at(client, thread_id)
    if stop and not (force and stop.forceable):
        raise stop.busy(thread_id)
    return stop


async def stop_at(client: LangGraphClient, thread_id: str) -> Stop | None:
    """Where a thread on which no request runs waits to be resumed.

    It waits at an interrupt, at a breakpoint, and at a node that failed. A thread whose run
    was cancelled, whose compression broke off, or that was only filled, waits for nobody.
    """
    state = await client.threads.get_state(thread_id)
    tasks, metadata = state["tasks"], state.get("metadata") or {}
    stop = stop_of(
        state["next"],
        asks=bool(state.get("interrupts")) or any(task.get("interrupts") for task in tasks),
        failed=any(task.get("error") for task in tasks),
        metadata=metadata,
    )
    if stop is None or stop.why == "asked":
        return stop
    if may_be_filled(stop, metadata) and not await _ran(client, thread_id):
        return None
    status = await _status_of_run(client, thread_id, metadata.get("run_id"))
    if status == "interrupted":  # cancelled by somebody
        return None
    return stop._replace(why="failed") if status in ("error", "timeout") else stop


async def _ran(client: LangGraphClient, thread_id: str) -> bool:
    """Whether a run made a checkpoint of the thread."""
    for source in OF_RUNS:
        if await client.threads.get_history(thread_id, limit=1, metadata={"source": source}):
            return True
    return False


async def _status_of_run(client: LangGraphClient, thread_id: str, run: Any) -> str | None:
    """The status of a run, None if there is no such run any more."""
    if not run:
        return None
    try:
        return (await client.runs.get(thread_id, str(run)))["status"]
    except (APIStatusError, httpx.HTTPStatusError) as error:
        if error.response.status_code == 404:
            return None
        raise


async def _run_error(client: LangGraphClient, thread_id: str, data: Any) -> Exception:
    kind = str(data.get("error")) if isinstance(data, Mapping) else "unknown"
    if kind == "ThreadBusy":
        stop = await stop_at(client, thread_id)
        return stop.busy(thread_id) if stop else ThreadBusy(thread_id, "waiting")
    if kind == UnknownField.__name__:  # of the assistant's context; says nothing else
        return CompressionError(f"compressing thread {thread_id!r} failed: {data['message']}")
    return CompressionError(f"compressing thread {thread_id!r} failed ({kind})")
