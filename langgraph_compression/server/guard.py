"""Graphs as LangGraph Server should load them: what a run may not do is refused at its start.

Compress now never destroys an interrupt. A run with input on a thread that waits, at an
interrupt, a breakpoint or a node that failed, destroys what it can be resumed with. The route
looks before it asks for the run; this guard looks again when the run starts, when no other
run can get in between. It raises before the run takes its input, so the interrupt stays.

A typo in the run's context is an error. The server itself drops fields that the graph's
context schema does not have, and the run would go on without them.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph_sdk import get_client
from langgraph_sdk.runtime import ServerRuntime

from langgraph_compression.graphs.compression import CompressionGraph
from langgraph_compression.server.errors import UnknownField
from langgraph_compression.server.maintenance import FORCED, refuse_if_waiting
from langgraph_compression.state.settings import CompressionContext, carried
from langgraph_compression.state.unknown import nearest, unknown_fields

FIELD = "compression"
"""Where a host's own context carries that of compression."""

Factory = Callable[[RunnableConfig, ServerRuntime[Any]], Awaitable[CompressionGraph]]


LANGGRAPH_FIELDS = frozenset(
    {"assistant_id", "checkpoint_id", "checkpoint_map", "checkpoint_ns", "cron_id", "graph_id"}
    | {"run_id", "thread_id", "user_id"}
)
"""What LangGraph and its clients put beside the context's fields. The server takes
`config.configurable` for the context of a run that has none."""


def guarded(graph: CompressionGraph, *, other_fields: Collection[str] = ()) -> Factory:
    """A graph factory for langgraph.json that refuses typos and to compress a waiting thread.

    Args:
        graph: The compiled graph.
        other_fields: Further names that clients send in `config.configurable`, which the
            context schema does not have; for a `workdir` function, say.

    Raises (when a run starts):
        ThreadBusy: The run is to compress, and the thread waits.
        UnknownField: The run's or the assistant's context has a field that nobody knows.
    """

    async def factory(config: RunnableConfig, runtime: ServerRuntime[Any]) -> CompressionGraph:
        execution = runtime.execution_runtime
        if execution is None:
            return graph
        if unknown := _unknown(graph, execution.context, other_fields):
            raise UnknownField(unknown)
        thread_id = (config.get("configurable") or {}).get("thread_id")
        if thread_id and _compresses(execution.context):
            force = bool((config.get("metadata") or {}).get(FORCED))
            await refuse_if_waiting(get_client(), str(thread_id), force=force)
        return graph

    return factory


def _unknown(graph: CompressionGraph, context: Any, others: Collection[str]) -> dict[str, str]:
    """The fields of a context that are typos, with what may have been meant."""
    if not isinstance(context, Mapping):
        return {}
    given = [
        name
        for name in map(str, context)
        if name not in LANGGRAPH_FIELDS
        and name not in others
        and not name.startswith(("__", "langgraph_"))
    ]
    schema: Any = graph.context_schema
    if isinstance(schema, type) and issubclass(schema, CompressionContext):
        strict = schema.model_config.get("extra") == "forbid"
        return unknown_fields(given, schema.model_fields) if strict else {}
    # A host's own context may let in what it likes; but it has a field for compression.
    known = (graph.get_context_jsonschema() or {}).get("properties", {})
    if FIELD not in known:
        return {}
    unknown = [name for name in given if name not in known]
    return {name: told for name in unknown if (told := nearest(name, [FIELD]))}


def _compresses(context: Any) -> bool:
    if isinstance(context, dict) and context.get("mode") == "compress":
        return True
    given = carried(context)
    return given is not None and given.mode == "compress"
