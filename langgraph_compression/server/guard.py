"""Graphs as LangGraph Server should load them: compress now never destroys an interrupt.

A run with input on a thread that waits, at an interrupt, a breakpoint or a node that failed,
destroys what it can be resumed with. The route
looks before it asks for the run; this guard looks again when the run starts, when no other
run can get in between. It raises before the run takes its input, so the interrupt stays.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph_sdk import get_client
from langgraph_sdk.runtime import ServerRuntime

from langgraph_compression.graphs.compression import CompressionGraph
from langgraph_compression.server.maintenance import FORCED, refuse_if_waiting
from langgraph_compression.state.settings import carried

Factory = Callable[[RunnableConfig, ServerRuntime[Any]], Awaitable[CompressionGraph]]


def guarded(graph: CompressionGraph) -> Factory:
    """A graph factory for langgraph.json that refuses to compress a waiting thread.

    Raises (when a run starts):
        ThreadBusy: The run is to compress, and the thread waits.
    """

    async def factory(config: RunnableConfig, runtime: ServerRuntime[Any]) -> CompressionGraph:
        execution = runtime.execution_runtime
        thread_id = (config.get("configurable") or {}).get("thread_id")
        compresses = execution is not None and thread_id and _compresses(execution.context)
        if compresses:
            force = bool((config.get("metadata") or {}).get(FORCED))
            await refuse_if_waiting(get_client(), str(thread_id), force=force)
        return graph

    return factory


def _compresses(context: Any) -> bool:
    if isinstance(context, dict) and context.get("mode") == "compress":
        return True
    given = carried(context)
    return given is not None and given.mode == "compress"
