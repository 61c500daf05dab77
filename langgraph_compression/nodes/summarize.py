"""The `summarize` node: let a summary stand for the older part of the history."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from langchain_core.messages import AnyMessage, HumanMessage

from langgraph_compression.nodes.clipping import clipped_view, target_of
from langgraph_compression.nodes.config import Run
from langgraph_compression.nodes.effects import Steps, in_thread
from langgraph_compression.nodes.kept import event_of, keep, kept_event
from langgraph_compression.nodes.pressure import pressure_of, total
from langgraph_compression.nodes.report import Update, completed, emit
from langgraph_compression.nodes.request import (
    applied_now,
    begin,
    compacted,
    compacted_view,
    fail,
    fill_in,
    note,
    presses,
    show,
)
from langgraph_compression.nodes.summarizer import Summary, SummaryFailed, ask_for_summary
from langgraph_compression.policy.cut import SMALLEST_RANGE, Reason, choose_cut
from langgraph_compression.policy.digest import digest
from langgraph_compression.policy.saved_result import Saved
from langgraph_compression.policy.stored_text import RedactionError, redacted
from langgraph_compression.policy.summary import (
    last_request,
    notice_message,
    rendered,
    summary_message,
    summary_text,
)
from langgraph_compression.state.event import Applied, covered_since
from langgraph_compression.state.reducers import add_usage
from langgraph_compression.state.schema import (
    CompressionState,
    RequestView,
    SummarizationEvent,
    SummaryAttempts,
)
from langgraph_compression.state.view import Parts, cuts_that_show, parts, plain_view, shaped_view
from langgraph_compression.workdir.history import write_history
from langgraph_compression.workdir.workdir import Workdir

logger = logging.getLogger("langgraph_compression")

DIGEST_TOKENS = 2000
"""Bound of a digest, also of one that serves as summary."""


@dataclass
class Work:
    """One visit of the node."""

    run: Run
    state: CompressionState
    request: RequestView
    workdir: Workdir
    applied: Applied | None
    base: Parts
    tail: list[AnyMessage]
    """The tail, compacted."""
    saved: dict[int, Saved]
    """Results of the tail that are in files, by index in it."""
    cuts: list[int]
    """Where no group of the tail is cut in two, and something is left to show."""
    tokens: list[int]
    """Tokens of each message of the tail, compacted."""

    @property
    def messages(self) -> Sequence[AnyMessage]:
        """All messages of the state."""
        return self.state["messages"]

    @property
    def manual(self) -> bool:
        """Whether the thread is compressed now, without an answer."""
        return self.run.mode == "compress"

    @property
    def attempts(self) -> SummaryAttempts:
        """What is remembered of summaries that failed."""
        return self.state.get("_summary_attempts") or {}


def summarize(run: Run, state: CompressionState, request: RequestView) -> Steps[Update]:
    """Write the older part to a history file, summarize it, and build the view anew.

    Returns:
        The event and the new view; without a usable summary the view with a digest and the
        count of failures; in mode `compress` no view.
    """
    yield from fill_in(run, state, request)
    if not presses(run, request):  # a kept summary was taken up, after a crash
        return _viewed(run, request)
    begin(run, request)
    kept = yield from kept_event(run, state, applied_now(state))
    work = yield from _open(run, state, request)
    if kept is not None:  # made and paid for already: before a crash, or in another graph
        if work.manual:
            return (yield from _continued(work, kept))
        state["_summarization_event"] = kept
        show(run, request, plain_view(state["messages"], applied_now(state)))
        cutoff, path = kept["cutoff_index"], kept["file_path"]
        note(request, "summarized", messages=cutoff, cutoff_index=cutoff, file_path=path)
        if total(request["reading"]) < _goal(run, request):
            return _viewed(run, request)
        work = yield from _open(run, state, request)
    waiting = work.attempts.get("wait", 0)
    if waiting and not request.get("forced"):
        position = work.attempts.get("cutoff_index", 0) - work.base.start
        if position in work.cuts and 0 < position < len(work.tokens):
            return (yield from _wait(work, position))
    cut = _cut(work)
    if not isinstance(cut, int):
        return (yield from _nothing(work, cut))
    update = yield from _summarized(work, cut)
    if work.manual or "refusal" in request or "_summarization_event" not in update:
        return update
    if total(request["reading"]) < run.settings.threshold:
        return update
    # The summary is longer than the room left for it. The next request would cut again, now
    # that its length is known; so this one does, and both are the same.
    work = yield from _open(run, {**state, **update}, request)  # type: ignore[typeddict-item]
    cut = _cut(work)
    if not isinstance(cut, int):
        return update
    later = yield from _summarized(work, cut)
    usage = add_usage(update.get("summary_token_usage", {}), later.get("summary_token_usage", {}))
    return _with_usage({**update, **later}, usage)


def _continued(work: Work, kept: SummarizationEvent) -> Steps[Update]:
    """Compress now from a kept summary on: the event changes once, or not at all."""
    state: CompressionState = {**work.state, "_summarization_event": kept}
    show(work.run, work.request, plain_view(work.messages, applied_now(state)))
    further = yield from _open(work.run, state, work.request)
    cut = _cut(further)
    if not isinstance(cut, int):
        return (yield from _succeed(work, kept))
    return (yield from _summarized(further, cut))


def _summarized(work: Work, cut: int) -> Steps[Update]:
    """Archive and summarize the tail up to the cut."""
    path: str | None = None
    try:
        path, error = yield from _archive(work, cut)
        if error and work.manual:
            return _refused(work, "history", error)
        summary = yield from _summary(work, cut)
        message = _message(work, cut, summary, path)
    except (SummaryFailed, RedactionError) as failure:
        if work.manual:
            return _refused(work, "summary", failure.kind)
        update = yield from _fall_back(work, cut, failure.kind, path)
        return _with_usage(update, failure.usage if isinstance(failure, SummaryFailed) else {})
    position = work.base.start + cut
    (covered,) = covered_since(work.messages, work.applied, [position])
    event = event_of(work.messages, position, message, path, covered)
    yield from keep(work.run, work.workdir, work.messages, work.applied, event)
    return _with_usage((yield from _succeed(work, event)), summary.usage)


def _open(run: Run, state: CompressionState, request: RequestView) -> Steps[Work]:
    workdir = yield from run.open_workdir()
    applied = applied_now(state)
    base = parts(state["messages"], applied)
    done = yield from compacted(run, workdir, request, base.tail, unseen=run.mode == "chat")
    tokens = [run.counter.message(message) for message in done.messages]
    cuts = cuts_that_show(done.messages, done.pairing)
    return Work(
        run, state, request, workdir, applied, base, done.messages, done.saved, cuts, tokens
    )


def _goal(run: Run, request: RequestView) -> int:
    """Tokens that the request should stay below."""
    return target_of(run, request) if "refusal" in request else run.settings.threshold


def _cut(work: Work) -> int | Reason:
    run, forced = work.run, bool(work.request.get("forced"))
    threshold = run.settings.threshold
    few = len(work.tokens) <= run.settings.summary_keep_messages
    full = total(work.request["reading"]) >= run.settings.suggestion_ratio * threshold
    if work.manual and few and not full:
        return "insufficient_history"  # all of it would be kept, and nothing presses
    goal = _goal(run, work.request)
    # Room for the summary itself: as long as the one it follows, if there is one.
    fixed = run.system_tokens() + run.tools_tokens() + run.counter.messages(work.base.leading)
    return choose_cut(
        work.cuts,
        work.tokens,
        keep=run.settings.summary_keep_messages,
        room=goal - fixed - max(min(1024, goal // 16), run.counter.messages(work.base.front)),
        least_if_hopeless=SMALLEST_RANGE if forced else threshold // 16,
    )


def _archive(work: Work, cut: int) -> Steps[tuple[str | None, str | None]]:
    """Write the range to a history file.

    Returns:
        Its path, or None and the class of the error.
    """
    start = work.base.start
    saved = {
        start + at: (result.path, result.text) for at, result in work.saved.items() if at < cut
    }
    try:
        path: str = yield in_thread(
            write_history,
            work.workdir,
            work.messages,
            start,
            start + cut,
            saved,
            _redact(work),
        )
    except RedactionError:  # nothing is written, and nothing goes to the summarizer
        raise
    except Exception as error:  # any store may fail in its own way; the summary goes on
        kind = type(error).__name__
        logger.warning("history of messages %d to %d not written: %s", start, start + cut, kind)
        if not work.manual:
            fail(work.request, [{"kind": "history", "error": kind}])
        return None, kind
    return path, None


def _redact(work: Work) -> Callable[[str], str]:
    return partial(redacted, redact=work.run.graph.redact)


def _summary(work: Work, cut: int) -> Steps[Summary]:
    run = work.run
    if run.summarizer is None:
        return Summary(_digest(work, 0, cut), {})
    redact = _redact(work)
    texts = (
        redact(rendered(message, work.base.start + at))
        for at, message in enumerate(islice(work.tail, cut))
    )
    so_far = redact(summary_text(work.applied.summary)) if work.applied else None
    return (yield from ask_for_summary(run, texts, so_far))


def _digest(work: Work, start: int, cut: int) -> str:
    """The digest of the messages from `start` (index in the state) to the cut."""
    limit = max(64, min(DIGEST_TOKENS, sum(work.tokens[:cut]) // 2))
    return digest(work.messages[start : work.base.start + cut], limit, work.run.count)


def _message(work: Work, cut: int, summary: Summary, path: str | None) -> HumanMessage:
    """The summary as a message.

    Raises:
        SummaryFailed: It is no smaller than what it replaces.
    """
    run, position = work.run, work.base.start + cut
    message = summary_message(
        summary.text,
        file_path=path,
        quote=last_request(work.messages, position, run.count),
        cutoff=position,
    )
    replaced = run.counter.messages(work.base.front) + sum(work.tokens[:cut])
    if run.counter.message(message) >= replaced:
        raise SummaryFailed("too_long", summary.usage)
    return message


def _succeed(work: Work, event: SummarizationEvent) -> Steps[Update]:
    run, request = work.run, work.request
    position, path = event["cutoff_index"], event["file_path"]
    applied, cut = Applied(position, event["summary_message"], path), position - work.base.start
    view = plain_view(work.messages, applied)
    note(request, "summarized", messages=cut, cutoff_index=position, file_path=path)
    update: Update = {"_summarization_event": event}
    if work.attempts.get("failures"):
        update["_summary_attempts"] = {}
    reading = pressure_of(run, view)
    if work.manual:
        completed(request, reading["messages"] or 0, event, compressed_messages=cut)
        unknown = {"system": None, "tools": None, "total": None}
        return {**update, "context_pressure": {**reading, **unknown}, "_request": {}}
    if "refusal" in request:
        view = yield from clipped_view(run, work.workdir, work.state, request, applied)
    elif total(reading) >= run.settings.threshold:
        view = yield from compacted_view(run, work.workdir, work.state, request, applied)
    return {**update, **_viewed(run, request, view)}


def _fall_back(work: Work, cut: int, kind: str, path: str | None) -> Steps[Update]:
    """The summarizer failed: show a digest, and remember not to try too often."""
    # A request that overflows twice asks twice, and is one failure all the same.
    again = any(failure["kind"] == "summary" for failure in work.request.get("failures", ()))
    failures = work.attempts.get("failures", 0) + (0 if again else 1)
    fail(work.request, [{"kind": "summary", "error": kind}])
    attempts: SummaryAttempts = {
        "failures": failures,
        "wait": 0 if failures == 1 else 2 ** (failures - 2),
        "cutoff_index": work.base.start + cut,
        "file_path": path,
        "error": kind,
    }
    update = yield from _digested(work, cut, kind, path)
    return {**update, "_summary_attempts": attempts}


def _wait(work: Work, cut: int) -> Steps[Update]:
    attempts = work.attempts
    kind = attempts.get("error", "unknown")
    fail(work.request, [{"kind": "summary", "error": kind}])
    update = yield from _digested(work, cut, kind, attempts.get("file_path"))
    return {**update, "_summary_attempts": {**attempts, "wait": attempts["wait"] - 1}}


def _digested(work: Work, cut: int, kind: str, path: str | None) -> Steps[Update]:
    run, request, start = work.run, work.request, work.base.start
    notice = notice_message(
        _digest(work, start, cut),
        kind=kind,
        file_path=path,
        cutoff=start + cut,
    )
    note(work.request, "digested", messages=cut, cutoff_index=start + cut, file_path=path)
    base = Parts(
        work.base.leading,
        [*work.base.front, notice],
        start + cut,
        work.tail[cut:],
    )
    view = shaped_view(work.messages, base)
    if "refusal" in work.request:
        view = yield from clipped_view(
            run, work.workdir, work.state, work.request, work.applied, base
        )
    return _viewed(run, request, view)


def _nothing(work: Work, reason: Reason) -> Steps[Update]:
    """Nothing can be summarized: the model gets the compacted view."""
    run, request = work.run, work.request
    note(request, "nothing", reason=reason)
    if work.manual:
        completed(request, request["before_tokens"], None, compressed_messages=0)
        return {"_request": {}}
    if "refusal" in request:
        view = yield from clipped_view(run, work.workdir, work.state, request, work.applied)
    else:
        view = shaped_view(work.messages, work.base._replace(tail=work.tail))
    return _viewed(run, request, view)


def _refused(work: Work, what: str, kind: str) -> Update:
    """Compress now failed: the state stays as it was."""
    emit("failed", work.request, error=kind, failures=[{"kind": what, "error": kind}])
    return {"_request": {}}


def _viewed(run: Run, request: RequestView, view: list[AnyMessage] | None = None) -> Update:
    if view is not None:
        show(run, request, view)
    return {"_request": request, "context_pressure": request["reading"]}


def _with_usage(update: Update, usage: dict[str, object]) -> Update:
    return {**update, "summary_token_usage": usage} if usage else update
