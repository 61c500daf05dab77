"""Authentication of LangGraph Server that keeps threads apart and the summaries honest.

    "auth": {"path": "examples.auth:auth"},
    "http": {"app": "langgraph_compression.server.app:app", "enable_custom_route_auth": true}

Put your own check of tokens in `authenticate`. The rest is what compression needs:

- A user reaches his own threads only. The routes under /compression act with the rights of
  their caller, so the same rule holds for them.
- No client sets `_summarization_event`. Who could set it could hide messages from the model
  and put words of his own in their place. Run input does not reach it; a run's command and a
  direct write of the state do, and are refused here.
"""

from typing import Any

from langgraph_sdk import Auth

TOKENS = {"token-of-ada": "ada", "token-of-bob": "bob"}
"""Stands for your identity provider."""

EVENT = "_summarization_event"

auth = Auth()


@auth.authenticate
async def authenticate(authorization: str | None) -> str:
    """Who calls."""
    user = TOKENS.get((authorization or "").removeprefix("Bearer "))
    if user is None:
        raise Auth.exceptions.HTTPException(status_code=401, detail="unknown token")
    return user


@auth.on.threads
async def own_threads(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> dict[str, Any]:
    """Threads and runs belong to who created them."""
    owner = {"owner": ctx.user.identity}
    value.setdefault("metadata", {}).update(owner)
    return owner


@auth.on.threads.create_run
async def no_event_by_command(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> dict[str, Any]:
    """Refuse a run whose command writes the event."""
    command = value["kwargs"].get("command") or {}
    update = command.get("update") or {}
    written = dict(update) if isinstance(update, dict | list) else {}
    if EVENT in written:
        raise Auth.exceptions.HTTPException(status_code=403, detail=f"{EVENT} is read only")
    return await own_threads(ctx, value)


@auth.on.threads.update
async def no_write_of_state(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> dict[str, Any]:
    """Refuse direct writes of the state; metadata may change and runs may be cancelled.

    The server does not say what a direct write would change, so that all are refused.
    """
    if value.get("metadata") is None and value.get("action") is None:
        raise Auth.exceptions.HTTPException(status_code=403, detail="the state is read only")
    return await own_threads(ctx, value)
