"""Compression as one node of a host graph."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableLambda
from langgraph.config import get_config

from langgraph_compression.graphs.compression import CompressionGraph
from langgraph_compression.state.request import NodeState
from langgraph_compression.state.schema import CompressionState

CARRIED = ("_summarization_event", "context_pressure", "_summary_attempts")
SUMMED = ("token_usage", "summary_token_usage")


def _was_sent() -> bool:
    """Whether a `Send` runs this node: then its messages may be others than the host's.

    An event of theirs could hide messages of the host; the workdir keeps the summary for them.
    LangGraph tells by the path of a task. A call of a `@task` has one of four parts.
    """
    path: Sequence[Any] = (get_config().get("metadata") or {}).get("langgraph_path") or ()
    return len(path) > 0 and path[0] == "__pregel_push" and not (len(path) == 4 and path[3] is True)


class CompressionNode(RunnableLambda[Any, dict[str, Any]]):
    """A node that brings its channels with it."""

    def __call__(self, state: CompressionState) -> dict[str, Any]:
        """Run it. LangGraph reads this annotation and gives the host the channels."""
        return self.invoke(state)


def compression_node(graph: CompressionGraph) -> CompressionNode:
    """Run a compression graph as one node, which returns only what is new.

    A subgraph used as a node returns its whole message list, which the host merges and
    stores again at each step; this one returns the new messages and the changed channels.

    Add it with `builder.add_node("chat", compression_node(graph))`: it adds the channels of
    compression to the host. Events arrive with `stream_subgraphs=True` only; the flat nodes of
    `add_compression` do without.
    """
    builder = copy.copy(graph.builder)
    # The host's channels come in, no client's; the changed ones go back.
    builder.input_schema = builder.output_schema = NodeState
    inner = builder.compile(checkpointer=False, name=graph.name)

    def given(state: Mapping[str, Any]) -> dict[str, Any]:
        # An event that was reset is None, and goes in: without it a stored one would count.
        return {key: state[key] for key in ("messages", *CARRIED) if key in state}

    def new(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
        update = {"messages": after["messages"][len(before.get("messages") or ()) :]}
        if not _was_sent():
            changed = (key for key in CARRIED if after.get(key) != before.get(key))
            update.update({key: after.get(key) for key in changed})
        update.update({key: after[key] for key in SUMMED if after.get(key)})
        return update

    def sync(state: Mapping[str, Any]) -> dict[str, Any]:
        return new(state, inner.invoke(given(state)))

    async def asynchronous(state: Mapping[str, Any]) -> dict[str, Any]:
        return new(state, await inner.ainvoke(given(state)))

    return CompressionNode(sync, afunc=asynchronous, name=graph.name)
