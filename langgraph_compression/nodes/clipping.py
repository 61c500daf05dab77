"""After an overflow: clip the kept messages until the request is small enough."""

import logging
from typing import cast

from langchain_core.messages import AnyMessage

from langgraph_compression.nodes.compaction import (
    compact_tail,
    not_redacted,
    unredacted,
    write_missing,
)
from langgraph_compression.nodes.config import Run
from langgraph_compression.nodes.effects import Steps, in_thread
from langgraph_compression.nodes.models import model_window
from langgraph_compression.nodes.pressure import pressure_of, total
from langgraph_compression.nodes.request import fail, note
from langgraph_compression.policy.overflow import overflow_window
from langgraph_compression.policy.saved_result import Saved, save_text
from langgraph_compression.policy.stored_text import RedactionError
from langgraph_compression.state.event import Applied
from langgraph_compression.state.pairing import pair
from langgraph_compression.state.schema import CompressionState, RequestView
from langgraph_compression.state.view import Parts, parts, shaped_view
from langgraph_compression.workdir.workdir import Workdir

logger = logging.getLogger("langgraph_compression")

LEAST_TEXT = 32
"""Tokens of preview below which a text is not clipped further."""


def target_of(run: Run, request: RequestView) -> int:
    """Tokens that the next request may have, after one was refused.

    On the first retry the window named in the error or the model's profile, if that is below
    the estimate of the refused request (else the estimate is too low to be trusted against
    it); else half of that estimate.
    """
    refused = request["refused_tokens"]
    if request.get("overflows", 1) == 1:
        error = getattr(request.get("refusal"), "error", None)
        window = (overflow_window(error) if error else None) or model_window(run.model)
        if window and window < refused:
            return window
    return refused // 2


def clipped_view(
    run: Run,
    workdir: Workdir,
    state: CompressionState,
    request: RequestView,
    applied: Applied | None,
    base: Parts | None = None,
) -> Steps[list[AnyMessage]]:
    """The view with all results compacted and, as far as needed, long texts clipped too.

    Every text may have as many tokens as the target allows, the same for all: the longest
    texts are clipped first.

    Args:
        run: The run.
        workdir: Where clipped texts are saved.
        state: The state.
        request: The request, which holds the refusal.
        applied: The event that applies now.
        base: What to show instead of summary and tail, for a digest.
    """
    messages = state["messages"]
    unsaved = set(request.get("unsaved", ()))
    if base is None:
        base = parts(messages, applied)
        done = yield from compact_tail(run, workdir, base.tail, unseen=True, unsaved=unsaved)
        fail(request, done.failures)
        base = base._replace(tail=done.messages)
    target = target_of(run, request)
    pairing = pair(base.tail)  # clipping changes texts only
    view = shaped_view(messages, base, pairing)
    limit = target
    clipped: dict[int, Saved] = {}
    while total(pressure_of(run, view)) > target and limit > LEAST_TEXT:
        limit //= 2
        clipped = _clip(run, request, base.tail, limit, unsaved)
        view = shaped_view(messages, base._replace(tail=_replaced(base.tail, clipped)), pairing)
    request["unsaved"] = sorted(unsaved)
    if not clipped:
        return view
    files = {saved.path: saved.text for saved in clipped.values()}
    failed: dict[str, str] = yield in_thread(write_missing, workdir, files)
    if failed:
        logger.warning("clipped texts stay in the request: %d files not written", len(failed))
        fail(request, [{"kind": "result", "error": error} for error in failed.values()])
        clipped = {at: saved for at, saved in clipped.items() if saved.path not in failed}
        view = shaped_view(messages, base._replace(tail=_replaced(base.tail, clipped)), pairing)
    note(request, "clipped", messages=len(clipped))
    return view


def _clip(
    run: Run, request: RequestView, tail: list[AnyMessage], limit: int, unsaved: set[str]
) -> dict[int, Saved]:
    """Index in the tail → the saved text of each message that is longer than `limit`.

    Messages that cannot be redacted stay as they are, and are added to `unsaved`.
    """
    clipped = {}
    for index, message in enumerate(tail):
        name = unredacted(message)
        if message.type == "system" or run.counter.message(message) <= limit or name in unsaved:
            continue
        try:
            saved = save_text(message, limit=limit, count=run.count, redact=run.graph.redact)
        except RedactionError as error:
            unsaved.add(name)
            fail(request, [not_redacted(error)])
            continue
        if saved is not None:
            clipped[index] = saved
    return clipped


def _replaced(tail: list[AnyMessage], clipped: dict[int, Saved]) -> list[AnyMessage]:
    return [
        cast("AnyMessage", clipped[index].message) if index in clipped else message
        for index, message in enumerate(tail)
    ]
