"""The request in preparation, which the nodes hand on; rebuilt from the state when missing."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableLambda

from langgraph_compression.nodes.compaction import Compacted, compact_tail
from langgraph_compression.nodes.config import Compression, Run, open_run
from langgraph_compression.nodes.effects import Steps, arun, run
from langgraph_compression.nodes.kept import kept_event
from langgraph_compression.nodes.pressure import pressure_of, total
from langgraph_compression.nodes.report import Update, emit, reporting
from langgraph_compression.state.event import Applied, applied_event
from langgraph_compression.state.reducers import cutoff_of
from langgraph_compression.state.request import PreparedRequest, parts_of
from langgraph_compression.state.schema import (
    CompressionState,
    RequestView,
    SummarizationEvent,
)
from langgraph_compression.state.view import parts, plain_view, shaped_view
from langgraph_compression.workdir.workdir import Workdir

logger = logging.getLogger("langgraph_compression")

Logic = Callable[[Run, CompressionState, RequestView], Steps[Update]]


def as_node(name: str, graph: Compression, logic: Logic) -> RunnableLambda[Any, Update]:
    """A node that reads a `NodeState` and works sync and async, from one piece of logic."""

    def steps(read: Any) -> Steps[Update]:
        state: CompressionState = read.values.copy()
        state.setdefault("messages", [])  # a delta channel without messages is not there
        request: RequestView = {**parts_of(state)}
        standing = state.get("_summarization_event")
        update = yield from reporting(_opened(state, request), request)
        event = update.get("_summarization_event", state.get("_summarization_event"))
        if event and event is not standing:
            update["_summarization_event"] = _in_place_of(standing, event)
        if "_request" in update:
            update["_request"] = PreparedRequest(request) if update["_request"] else None
        return update

    def _opened(state: CompressionState, request: RequestView) -> Steps[Update]:
        this_run = yield from open_run(graph, state)
        failure: BaseException | None = None
        try:
            return (yield from logic(this_run, state, request))
        except BaseException as error:
            failure = error
            raise
        finally:
            if isinstance(failure, GeneratorExit):  # nobody waits for what is yielded
                this_run.lease.release(failure)
            else:
                yield from this_run.release_workdir(failure)

    def sync(read: Any) -> Update:
        return run(steps(read))

    async def asynchronous(read: Any) -> Update:
        return await arun(steps(read))

    return RunnableLambda(sync, afunc=asynchronous, name=name)


def _in_place_of(standing: Any, event: SummarizationEvent) -> SummarizationEvent:
    """The event as a write to its channel, also where one stands that does not apply any more."""
    reached = cutoff_of(standing)
    if reached is None or reached < event["cutoff_index"]:
        return event
    return {**event, "replaces": reached}


def applied_now(state: Mapping[str, Any]) -> Applied | None:
    """The event of the state, as far as it applies to the messages of the state."""
    return applied_event(state.get("_summarization_event"), state["messages"])


def fill_in(run: Run, state: CompressionState, request: RequestView) -> Steps[None]:
    """Give a request its view, if it has none: at the start, and after a crash.

    Where no event applies and the request would be compressed, a kept summary is taken up;
    compress now does that where it can still leave the state as it was.
    """
    if "messages" in request:
        return
    applied = applied_now(state)
    show(run, request, plain_view(state["messages"], applied), shaped=applied is not None)
    if run.mode == "compress":
        request["forced"] = True
    elif applied is None and presses(run, request):
        event = yield from kept_event(run, state, None)
        if event is not None:
            state["_summarization_event"] = event
            show(run, request, plain_view(state["messages"], applied_now(state)))
    reading = request["reading"]  # compress now is about the messages alone
    manual = run.mode == "compress"
    request["before_tokens"] = (reading["messages"] or 0) if manual else total(reading)


def show(run: Run, request: RequestView, view: list[AnyMessage], *, shaped: bool = True) -> None:
    """Put a view into the request, counted."""
    request.update({"messages": view, "shaped": shaped, "reading": pressure_of(run, view)})


def presses(run: Run, request: RequestView) -> bool:
    """Whether the request is to be made smaller."""
    forced = request.get("forced", False)
    return forced or total(request["reading"]) >= run.settings.threshold


def begin(run: Run, request: RequestView) -> None:
    """Send `started`, once for each request of the model."""
    if "trigger" in request:
        return
    overflowed = "refusal" in request
    manual = run.mode == "compress"
    request["trigger"] = "manual" if manual else "overflow" if overflowed else "threshold"
    emit("started", request, before_tokens=request.get("before_tokens"))


def note(request: RequestView, action: str, **fields: Any) -> None:
    """Remember what was done; a later round of the same action takes the earlier one's place."""
    others = [done for done in request.get("actions", []) if done["action"] != action]
    request["actions"] = [*others, {"action": action, **fields}]


def fail(request: RequestView, failures: Sequence[dict[str, str]]) -> None:
    """Remember what went wrong on the way."""
    request["failures"] = [*request.get("failures", []), *failures]


def compacted(
    run: Run,
    workdir: Workdir,
    request: RequestView,
    tail: Sequence[AnyMessage],
    *,
    unseen: bool,
) -> Steps[Compacted]:
    """Compact a tail of the state; the request remembers what was done and what failed."""
    unsaved = set(request.get("unsaved", ()))
    done = yield from compact_tail(run, workdir, tail, unseen=unseen, unsaved=unsaved)
    request["unsaved"] = sorted(unsaved)
    fail(request, done.failures)
    if done.results or done.clipped:
        note(request, "compacted", results=done.results, arguments=len(done.clipped))
    return done


def compacted_view(
    run: Run,
    workdir: Workdir,
    state: CompressionState,
    request: RequestView,
    applied: Applied | None,
) -> Steps[list[AnyMessage]]:
    """The view with compacted messages; results not seen yet only if the rest is not enough."""
    messages = state["messages"]
    base = parts(messages, applied)
    view: list[AnyMessage] = []
    for unseen in (True,) if "refusal" in request else (False, True):
        done = yield from compacted(run, workdir, request, base.tail, unseen=unseen)
        view = shaped_view(messages, base._replace(tail=done.messages), done.pairing)
        del done  # before the next is made
        if total(pressure_of(run, view)) < run.settings.threshold:
            break
    return view


def show_compacted(run: Run, state: CompressionState, request: RequestView) -> Steps[None]:
    """Send `started` if that is still to do, and put the compacted view into the request."""
    begin(run, request)
    workdir = yield from run.open_workdir()
    view = yield from compacted_view(run, workdir, state, request, applied_now(state))
    show(run, request, view)
