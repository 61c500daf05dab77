"""Compress a thread now: hold it, check that it is idle, compress, let go."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot
from pydantic import BaseModel

from langgraph_compression.errors import CompressionError
from langgraph_compression.graphs.wiring import CAPABILITY
from langgraph_compression.state.settings import CompressionContext, carried
from langgraph_compression.threads.gate import Gate, ThreadBusy
from langgraph_compression.threads.gate_memory import MemoryGate

Graph = CompiledStateGraph[Any, Any, Any, Any]

RUN_KIND = {"kind": "context_compression"}
"""Metadata of the run, and so of its checkpoints."""

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
) -> CompressionResult:
    """Summarize the older part of a thread now, without a request of the user.

    Args:
        graph: A graph with compression and a checkpointer.
        config: Names the thread in `configurable.thread_id`.
        gate: What the program's ordinary turns take, too. Default: one for this process.
        context: The run's context, as for `graph.invoke`.

    Raises:
        ThreadBusy: The thread runs, has requests in its queue, or waits: at an interrupt or a
            breakpoint, or at a node that failed or was cancelled. Such a thread can be resumed
            where it stopped, which a compression would destroy: resume it, or send it a new
            request, then compress.
        CompressionError: The graph cannot compress, or history file or summary failed; the
            state is as before.
    """
    request = _Request(graph, config, context)
    with (gate or default_gate).maintenance(request.thread_id):
        request.check(graph.get_state(request.config))
        for payload in graph.stream(
            request.input, request.config, context=request.context, stream_mode="custom"
        ):
            request.hear(payload)
        return result_of(request.thread_id, request.last)


async def acompress_thread(
    graph: Graph,
    config: RunnableConfig,
    gate: Gate | None = None,
    context: Any = None,
) -> CompressionResult:
    """`compress_thread` for an event loop."""
    request = _Request(graph, config, context)
    async with (gate or default_gate).maintenance(request.thread_id):
        request.check(await graph.aget_state(request.config))
        async for payload in graph.astream(
            request.input, request.config, context=request.context, stream_mode="custom"
        ):
            request.hear(payload)
        return result_of(request.thread_id, request.last)


def has_capability(graph: Graph) -> bool:
    """Whether a graph declares that it can compress its threads."""
    return any(CAPABILITY.items() <= (node.metadata or {}).items() for node in graph.nodes.values())


def stopped_midway(following: Sequence[str], metadata: Mapping[str, Any] | None) -> bool:
    """Whether a thread without a run stands before nodes that a request still wants.

    Args:
        following: The nodes that come next in its state.
        metadata: That of its checkpoint.

    >>> stopped_midway(["tools"], {"source": "loop", "step": 3})
    True
    >>> stopped_midway(["summarize"], {"source": "loop", "step": 3, "kind": "context_compression"})
    False
    """
    metadata = metadata or {}
    if not following or metadata.get("kind") == RUN_KIND["kind"]:
        return False  # at its end, or a compression broke off: nobody resumes that
    only_filled = metadata.get("source") == "update" and metadata.get("step", 1) <= 0
    return not only_filled  # by `update_state`, before its first run


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

    def check(self, state: StateSnapshot) -> None:
        """Refuse a thread that waits: a run would destroy what it can be resumed with."""
        asks = state.interrupts or any(task.interrupts for task in state.tasks)
        if asks or stopped_midway(state.next, state.metadata):
            raise ThreadBusy(self.thread_id, "waiting")

    def hear(self, payload: Any) -> None:
        """Remember the last event about this compression."""
        if isinstance(payload, Mapping) and payload.get("type") == "context_compression":
            self.last = dict(payload)


def result_of(thread_id: str, last: Mapping[str, Any]) -> CompressionResult:
    """What the last event of a compression told.

    Raises:
        CompressionError: It failed, or there was no event.
    """
    if last.get("status") != "completed":
        failed = (last.get("failures") or [{}])[0]
        raise CompressionError(
            f"the {failed.get('kind', 'compression')} of thread {thread_id!r} failed "
            f"({last.get('error', 'no event')}); nothing was changed"
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
