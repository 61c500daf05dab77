"""Summaries that are made once: kept beside their history files, and found there again."""

import logging
from collections.abc import Sequence

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.config import get_config

from langgraph_compression.nodes.config import Run
from langgraph_compression.nodes.effects import Steps, in_thread
from langgraph_compression.policy.stored_text import redacted
from langgraph_compression.policy.summary import last_request, summary_message, summary_text
from langgraph_compression.state.event import Applied, binding
from langgraph_compression.state.schema import CompressionState, SummarizationEvent
from langgraph_compression.workdir.kept_summary import (
    KeptSummary,
    find_summary,
    text_mark,
    write_summary,
)
from langgraph_compression.workdir.workdir import Workdir

logger = logging.getLogger("langgraph_compression")

NOT_KEPT = (
    "summaries are not kept: this run has no thread, so the next one finds neither the summary "
    "nor its files. Compile with a checkpointer and name configurable.thread_id, or give a "
    "workdir that stays"
)


def event_of(
    messages: Sequence[AnyMessage],
    cutoff: int,
    message: HumanMessage,
    file_path: str | None,
    covered: str,
) -> SummarizationEvent:
    """A summary as an event, bound to its messages."""
    return {
        "cutoff_index": cutoff,
        "summary_message": message,
        "file_path": file_path,
        "covered": covered,
        **binding(messages, cutoff),  # type: ignore[typeddict-item]
    }


def keep(
    run: Run,
    workdir: Workdir,
    messages: Sequence[AnyMessage],
    applied: Applied | None,
    event: SummarizationEvent,
) -> Steps[None]:
    """Write a summary beside its history file: the host may not carry the event.

    Args:
        run: The run.
        workdir: Where.
        messages: All messages of the state.
        applied: The event that the summary continues.
        event: The summary.
    """
    path = event["file_path"]
    if path is None:
        return
    graph = run.graph
    if graph.workdir is None and not (get_config().get("configurable") or {}).get("thread_id"):
        graph.warn(NOT_KEPT)
    try:
        kept = KeptSummary(
            cutoff_index=event["cutoff_index"],
            covered=event["covered"],
            text=redacted(summary_text(event["summary_message"]), graph.redact),
            file_path=path,
            made_of=len(messages),
            continues=text_mark(summary_text(applied.summary)) if applied else None,
        )
        yield in_thread(write_summary, workdir, kept)
    except Exception as error:  # any store may fail in its own way; the event is there
        logger.warning("summary not kept beside %s: %s", path, type(error).__name__)


def kept_event(
    run: Run, state: CompressionState, applied: Applied | None
) -> Steps[SummarizationEvent | None]:
    """The summary in the workdir that reaches furthest, as an event; None without one.

    An event that was reset stays so. One that applies is continued, or stands.
    """
    if "_summarization_event" in state and state["_summarization_event"] is None:
        return None
    workdir = yield from run.open_workdir()
    messages = state["messages"]
    continues = text_mark(summary_text(applied.summary)) if applied else None
    try:
        kept: KeptSummary | None = yield in_thread(
            find_summary, workdir, messages, applied, continues
        )
    except Exception as error:  # any store may fail in its own way; a new summary is made
        logger.warning("kept summaries not looked for: %s", type(error).__name__)
        return None
    if kept is None:
        return None
    cutoff = kept.cutoff_index
    quote = last_request(messages[: max(cutoff, kept.made_of)], cutoff, run.count)
    message = summary_message(kept.text, file_path=kept.file_path, quote=quote, cutoff=cutoff)
    return event_of(messages, cutoff, message, kept.file_path, kept.covered)
