"""The canonical compression graph: measure, compact, recount, summarize, model."""

from typing import Any, Unpack

from langgraph.constants import START
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer

from langgraph_compression.graphs.schema import ChatInput, ChatState
from langgraph_compression.graphs.served import served_model
from langgraph_compression.graphs.wiring import add_compression
from langgraph_compression.nodes.models import Model
from langgraph_compression.nodes.options import CompressionOptions, with_options
from langgraph_compression.state.settings import CompressionContext

CompressionGraph = CompiledStateGraph[Any, CompressionContext, Any, Any]


@with_options
def create_compression_graph(
    model: Model,
    *,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
    name: str = "compression",
    **options: Unpack[CompressionOptions],
) -> CompressionGraph:
    """A graph that answers once, with the context compressed where it must be.

    Args:
        model: A chat model, "provider:name" (needs the extra `models`), "offline", or a
            function of (state, runtime), also an async one, that returns one of these. A
            chat model may be wrapped: `bind`, `bind_tools`, `with_config`, `with_retry`,
            `with_fallbacks`, a sequence, configurable. It must answer with an `AIMessage`.
        checkpointer: Keeps the threads.
        store: Passed on to LangGraph.
        name: Name of the compiled graph.
        options: `CompressionOptions`, which says what each is: `tools`, `settings`, `workdir` …

    Returns:
        The compiled graph. Input: `{"messages": […]}`. Context: `CompressionContext`.

    Raises:
        CompressionError: The model cannot answer, cannot be offered the tools, or keeps the
            conversation at the provider; or an option is unknown or cannot be used.

    >>> from langgraph_compression import Workdir, create_compression_graph
    >>> graph = create_compression_graph("offline", workdir=Workdir("memory://doc"))
    >>> graph.invoke({"messages": [("user", "Hello")]})["messages"][-1].type
    'ai'
    """
    builder = StateGraph(ChatState, context_schema=CompressionContext, input_schema=ChatInput)
    add_compression(builder, model, **options)
    builder.add_edge(START, "measure")
    return builder.compile(checkpointer=checkpointer, store=store, name=name)


graph = create_compression_graph(served_model)
