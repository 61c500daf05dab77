"""The status of a thread of the server."""

import asyncio
from collections.abc import Mapping
from typing import Any, Literal

from langchain_core.messages import convert_to_messages
from langgraph_sdk.client import LangGraphClient
from pydantic import BaseModel, Field

from langgraph_compression.server.maintenance import assistant_of, is_capable, thread_of
from langgraph_compression.state.settings import CompressionContext, CompressionSettings
from langgraph_compression.threads.status import context_status


class Status(BaseModel):
    """How full the context of a thread is. Approximate tokens, no bill."""

    tokens: int = Field(description="Known parts of the next request, estimated tokens.")
    threshold: int = Field(description="Tokens from which a request is compressed.")
    ratio: float = Field(description="tokens over threshold; may exceed 1.")
    messages: int = Field(description="Tokens of the messages as the next request shows them.")
    system: int | None = Field(description="Tokens of the system prompt; null = not known.")
    tools: int | None = Field(description="Tokens of the tool schemas; null = not known.")
    unknown: list[str] = Field(description="Parts that are not known.")
    suggest_compression: bool = Field(description="A hint to compress by hand.")
    capable: bool = Field(description="Whether the thread's graph can be compressed.")
    thread_status: Literal["idle", "busy", "interrupted", "error"]
    token_usage: dict[str, Any] = Field(description="Reported usage of the main model.")
    summary_token_usage: dict[str, Any] = Field(description="Reported usage of the summarizer.")


async def status_of(client: LangGraphClient, thread_id: str) -> Status:
    """The status of a thread, counted anew from its state.

    Raises:
        NoSuchThread: The caller has no such thread.
    """
    thread = await thread_of(client, thread_id)
    metadata = thread.get("metadata") or {}
    capable, settings = False, CompressionSettings()
    values: Mapping[str, Any] = {}
    if metadata.get("assistant_id") or metadata.get("graph_id"):
        assistant = await assistant_of(client, thread)
        capable = await is_capable(client, assistant)
        settings = settings.overridden(await _context(client, assistant))
        state = await client.threads.get_state(thread_id)
        values = state["values"] if isinstance(state["values"], Mapping) else {}
    # Counting a long thread takes a while; the event loop goes on.
    counted = await asyncio.to_thread(_counted, values, settings)
    return Status(capable=capable, thread_status=thread["status"], **counted)


def _counted(values: Mapping[str, Any], settings: CompressionSettings) -> dict[str, Any]:
    threshold = (values.get("context_pressure") or {}).get("threshold")
    if isinstance(threshold, int) and threshold > 0:  # the one that the last request had
        settings = settings.model_copy(update={"summary_threshold": threshold / 1024})
    messages = convert_to_messages(values.get("messages") or [])
    status = context_status({**values, "messages": messages}, settings)
    fields = vars(status)
    return {**fields, "unknown": list(status.unknown)}


async def _context(client: LangGraphClient, assistant: str) -> CompressionContext | None:
    context: Any = (await client.assistants.get(assistant)).get("context")
    if not isinstance(context, Mapping):
        return None
    own = context.get("compression", context)
    known = {k: v for k, v in own.items() if k in CompressionContext.model_fields}
    return CompressionContext.model_validate(known)
