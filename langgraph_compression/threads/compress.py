"""Compress a thread now: hold it, check that it is idle, compress, let go."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langgraph.constants import END
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot
from pydantic import BaseModel

from langgraph_compression.errors import CompressionError
from langgraph_compression.graphs.wiring import CAPABILITY
from langgraph_compression.nodes.effects import Do, Steps, arun, run
from langgraph_compression.state.settings import CompressionContext, carried
from langgraph_compression.threads.gate import Gate
from langgraph_compression.threads.gate_memory import MemoryGate
from langgraph_compression.threads.stop import OF_RUNS, RUN_KIND, may_be_filled, stop_of

Graph = CompiledStateGraph[Any, Any, Any, Any]

default_gate = MemoryGate()
"""The gate of this process, for programs that name none."""


@dataclass(frozen=True)
class CompressionResult:
    """What compress now did to a thread."""

    status: Literal["completed", "no_op"]
    reason: str | None
    """Why nothing was compressed: "insufficient_history"."""
    before_tokens: int
    """Of the view, results inline."""
    after_tokens: int
    """Of the view that the next request will see, results inline."""
    compressed_messages: int
    """Messages that the new summary stands for."""
    file_path: str | None
    """Their history file, `outputs/conversation_history/…`."""


def compress_thread(
    graph: Graph,
    config: RunnableConfig,
    gate: Gate | None = None,
    context: Any = None,
    *,
    force: bool = False,
) -> CompressionResult:
    """Summarize the older part of a thread now, without a request of the user.

    Args:
        graph: A graph with compression and a checkpointer.
        config: Names the thread in `configurable.thread_id`.
        gate: What the program's ordinary turns take, too. Default: one for this process.
        context: The run's context, as for `graph.invoke`.
        force: Compress also a thread whose last request failed or was cancelled. That
            request can then no longer be resumed, also if the compression has nothing to do or
            fails; the state keeps all messages, the user's unanswered one too.

    Raises:
        ThreadBusy: The thread runs, has requests in its queue, or waits: at an interrupt or a
            breakpoint, or at a node that failed or was cancelled. Such a thread can be resumed
            where it stopped (`resumable_at`), which a compression would destroy: resume it, or
            send it a new request, then compress; or `force` it. An interrupt, and a breakpoint
            that the graph was compiled with, are never forced away. One that was given to a run
            (`invoke(…, interrupt_before=…)`) leaves the same checkpoint as a cancelled request,
            and is.
        CompressionError: The graph cannot compress, or history file or summary failed; the
            state is as before.
    """
    request = _Request(graph, config, context)
    with (gate or default_gate).maintenance(request.thread_id):
        run(request.check(force))
        for payload in graph.stream(
            request.input, request.config, context=request.context, stream_mode="custom"
        ):
            request.hear(payload)
        return result_of(request.thread_id, request.last, ended=request.ended)


async def acompress_thread(
    graph: Graph,
    config: RunnableConfig,
    gate: Gate | None = None,
    context: Any = None,
    *,
    force: bool = False,
) -> CompressionResult:
    """`compress_thread` for an event loop."""
    request = _Request(graph, config, context)
    async with (gate or default_gate).maintenance(request.thread_id):
        await arun(request.check(force))
        async for payload in graph.astream(
            request.input, request.config, context=request.context, stream_mode="custom"
        ):
            request.hear(payload)
        return result_of(request.thread_id, request.last, ended=request.ended)


def has_capability(graph: Graph) -> bool:
    """Whether a graph declares that it can compress its threads."""
    return any(CAPABILITY.items() <= (node.metadata or {}).items() for node in graph.nodes.values())


class _Request:
    """Everything of a compression that is the same sync and async."""

    input: Mapping[str, Any] = {"messages": []}

    def __init__(self, graph: Graph, config: RunnableConfig, context: Any) -> None:
        if not has_capability(graph):
            raise CompressionError(
                f"graph {graph.name!r} has no context_compression: build it with "
                "create_compression_graph or add_compression"
            )
        configurable = config.get("configurable") or {}
        if not configurable.get("thread_id"):
            raise CompressionError("config names no thread: set configurable.thread_id")
        self.thread_id = str(configurable["thread_id"])
        # The thread as it is now, also where the config came from an older checkpoint.
        latest = {k: v for k, v in configurable.items() if k != "checkpoint_id"}
        metadata = {**(config.get("metadata") or {}), **RUN_KIND}
        self.config: RunnableConfig = {**config, "configurable": latest, "metadata": metadata}
        self.context = in_compress_mode(context, graph)
        self.last: dict[str, Any] = {}
        self.graph, self.ended = graph, False

    def check(self, force: bool) -> Steps[None]:
        """Refuse a thread that waits: a run would destroy what it can be resumed with.

        Args:
            force: End a request that failed or was cancelled; what its other branches have done
                is kept.

        Raises:
            ThreadBusy: It waits.
        """
        graph, config = self.graph, self.config
        state: StateSnapshot = yield Do(
            partial(graph.get_state, config), partial(graph.aget_state, config)
        )
        stop = stop_of(
            state.next,
            asks=bool(state.interrupts) or any(task.interrupts for task in state.tasks),
            failed=any(task.error for task in state.tasks),
            metadata=state.metadata,
        )
        if stop is None or (may_be_filled(stop, state.metadata) and not (yield from self._ran())):
            return
        if stop.why == "paused" and not _has_breakpoint(graph, state.next):
            stop = stop._replace(why="broken off")
        if not (force and stop.forceable):
            raise stop.busy(self.thread_id)
        yield Do(
            partial(graph.update_state, config, None, END),
            partial(graph.aupdate_state, config, None, END),
        )
        self.ended = True

    def _ran(self) -> Steps[bool]:
        """Whether a run made a checkpoint of the thread."""
        for source in OF_RUNS:
            of_a_run = {"filter": {"source": source}, "limit": 1}
            if (yield Do(partial(self._any, of_a_run), partial(self._a_any, of_a_run))):
                return True
        return False

    def _any(self, wanted: dict[str, Any]) -> bool:
        return any(True for _ in self.graph.get_state_history(self.config, **wanted))

    async def _a_any(self, wanted: dict[str, Any]) -> bool:
        return any([True async for _ in self.graph.aget_state_history(self.config, **wanted)])

    def hear(self, payload: Any) -> None:
        """Remember the last event about this compression."""
        if isinstance(payload, Mapping) and payload.get("type") == "context_compression":
            self.last = dict(payload)


def _has_breakpoint(graph: Graph, following: Sequence[str]) -> bool:
    """Whether the graph was compiled with a breakpoint that may be where a thread stands."""
    before = graph.interrupt_before_nodes
    return bool(graph.interrupt_after_nodes) or before == "*" or not {*before}.isdisjoint(following)


def result_of(thread_id: str, last: Mapping[str, Any], *, ended: bool = False) -> CompressionResult:
    """What the last event of a compression told.

    Args:
        thread_id: The thread.
        last: The event.
        ended: A request that failed or was cancelled was ended for it.

    Raises:
        CompressionError: It failed, or there was no event.
    """
    if last.get("status") != "completed":
        failed = (last.get("failures") or [{}])[0]
        raise CompressionError(
            f"the {failed.get('kind', 'compression')} of thread {thread_id!r} failed "
            f"({last.get('error', 'no event')}); "
            + ("the request that could be resumed was ended, nothing else" if ended else "nothing")
            + " was changed"
        )
    nothing = any(done.get("reason") for done in last.get("actions", ()))
    return CompressionResult(
        status="no_op" if nothing else "completed",
        reason="insufficient_history" if nothing else None,
        before_tokens=last["before_tokens"],
        after_tokens=last["after_tokens"],
        compressed_messages=last["compressed_messages"],
        file_path=last["file_path"],
    )


def in_compress_mode(context: Any, graph: Graph) -> Any:
    """The context with `mode: compress`, wherever the graph's context schema carries it."""
    own = graph.context_schema
    if isinstance(context, CompressionContext):
        return context.model_copy(update={"mode": "compress"})
    if isinstance(own, type) and issubclass(own, CompressionContext):
        return {**dict(context or {}), "mode": "compress"}
    given = carried(context) or CompressionContext()
    compression = given.model_copy(update={"mode": "compress"})
    if context is None or isinstance(context, Mapping):
        return {**(context or {}), "compression": compression}
    if isinstance(context, BaseModel):
        return context.model_copy(update={"compression": compression})
    return dataclasses.replace(context, compression=compression)
