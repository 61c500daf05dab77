"""Everything that happens to the context of a thread, as server-sent events."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from langgraph_sdk.client import LangGraphClient
from sse_starlette import ServerSentEvent

from langgraph_compression.server.maintenance import CAPABILITY
from langgraph_compression.server.state import status_of

EVENT = "context_compression"


async def follow(
    client: LangGraphClient, thread_id: str, last_event_id: str | None
) -> AsyncIterator[ServerSentEvent]:
    """Follow every run of a thread.

    A run that was created with stream mode `custom` sends its compression events as they
    happen; after every run, also of others, comes the thread's status as an event with
    `status: "measured"`. A reader that joins late or comes back passes the id of the last
    event it has seen.
    """
    yield ServerSentEvent(event=EVENT, data=await _measured(client, thread_id))
    stream = await client.threads.join_stream(thread_id, last_event_id=last_event_id)
    async for part in stream:
        name = part.event.split("|", 1)[0]
        data: Any = part.data
        if name == "custom" and isinstance(data, Mapping) and data.get("type") == CAPABILITY:
            yield ServerSentEvent(event=EVENT, data=_json(dict(data)), id=part.id)
        elif _run_ended(name, data):
            yield ServerSentEvent(event=EVENT, data=await _measured(client, thread_id), id=part.id)


def _run_ended(name: str, data: Any) -> bool:
    return name == "metadata" and isinstance(data, Mapping) and data.get("status") == "run_done"


async def _measured(client: LangGraphClient, thread_id: str) -> str:
    status = await status_of(client, thread_id)
    return _json({"type": CAPABILITY, "status": "measured", "context": status.model_dump()})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
