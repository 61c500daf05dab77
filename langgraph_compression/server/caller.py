"""The server's own API, called from inside a route with the rights of the route's caller.

The in-process client of the SDK bypasses authentication; this one sends the caller's
headers with every call, so that a user reaches no thread that is not his.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from fastapi import Request
from langgraph_sdk._shared.utilities import get_asgi_transport
from langgraph_sdk.client import LangGraphClient

OF_THE_REQUEST = frozenset(
    {"accept", "accept-encoding", "connection", "content-encoding", "content-length"}
    | {"content-type", "expect", "host", "last-event-id", "range", "te", "trailer"}
    | {"transfer-encoding", "upgrade"}
)
"""Headers that describe one request; any other may say who the caller is."""


@asynccontextmanager
async def caller_of(request: Request) -> AsyncIterator[LangGraphClient]:
    """A client for the server that this request reached, with the request's credentials."""
    headers = [pair for pair in request.headers.items() if pair[0] not in OF_THE_REQUEST]
    transport = get_asgi_transport()(app=request.app, root_path=request.scope.get("root_path", ""))
    async with httpx.AsyncClient(
        base_url="http://langgraph", transport=transport, headers=headers, timeout=None
    ) as http:
        yield LangGraphClient(http)
