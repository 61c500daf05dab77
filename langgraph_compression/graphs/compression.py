"""The canonical compression graph: measure, compact, recount, summarize, model."""

from collections.abc import Callable, Sequence
from typing import Any

from langgraph.constants import START
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer

from langgraph_compression.graphs.schema import ChatInput, ChatState
from langgraph_compression.graphs.served import served_model
from langgraph_compression.graphs.wiring import add_compression
from langgraph_compression.nodes.config import Redact, Tool
from langgraph_compression.nodes.models import Model
from langgraph_compression.state.counting import Count
from langgraph_compression.state.settings import CompressionContext, CompressionSettings
from langgraph_compression.workdir.lease import WorkdirSource

CompressionGraph = CompiledStateGraph[Any, CompressionContext, Any, Any]


def create_compression_graph(
    model: Model,
    *,
    tools: Sequence[Tool] = (),
    system_prompt: str | None = None,
    settings: CompressionSettings | None = None,
    summary_model: Model | None = None,
    workdir: WorkdirSource | None = None,
    counter: Count | None = None,
    is_overflow: Callable[[BaseException], bool] | None = None,
    redact: Redact | None = None,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
    name: str = "compression",
) -> CompressionGraph:
    """A graph that answers once, with the context compressed where it must be.

    Args:
        model: A chat model, "provider:name" (needs the extra `models`), "offline", or a
            function of (state, runtime), also an async one, that returns one of these. A
            chat model may be wrapped: `bind`, `bind_tools`, `with_config`, `with_retry`,
            `with_fallbacks`, a sequence, configurable. It must answer with an `AIMessage`.
        tools: Tools the model may call, as in `bind_tools`; who runs them is up to the host.
            Tools bound to the model are offered too, before these; of two with one name
            only that of `tools`.
        system_prompt: Sent first with each request, never part of the state.
        settings: How to compress; a run's context overrides them field by field.
        summary_model: Who summarizes; default: the model itself, without the tools and the
            answer schema bound to it. "extractive" is a digest without a model.
        workdir: Where files go; a function scopes by config. Default: a local folder named by
            a hash of the thread id.
        counter: Counts the tokens of a text, instead of the estimate.
        is_overflow: Recognises a context overflow, instead of `is_context_overflow`; its
            parameters called `tokens`, `window` and `provider` are given as there.
        redact: Changes text before it goes to the summarizer and to files.
        checkpointer: Keeps the threads.
        store: Passed on to LangGraph.
        name: Name of the compiled graph.

    Returns:
        The compiled graph. Input: `{"messages": […]}`. Context: `CompressionContext`.

    Raises:
        CompressionError: The model cannot answer, cannot be offered the tools, or keeps the
            conversation at the provider; or a tool has no schema.

    >>> from langgraph_compression import Workdir, create_compression_graph
    >>> graph = create_compression_graph("offline", workdir=Workdir("memory://doc"))
    >>> graph.invoke({"messages": [("user", "Hello")]})["messages"][-1].type
    'ai'
    """
    builder = StateGraph(ChatState, context_schema=CompressionContext, input_schema=ChatInput)
    add_compression(
        builder,
        model,
        tools=tools,
        system_prompt=system_prompt,
        settings=settings,
        summary_model=summary_model,
        workdir=workdir,
        counter=counter,
        is_overflow=is_overflow,
        redact=redact,
    )
    builder.add_edge(START, "measure")
    return builder.compile(checkpointer=checkpointer, store=store, name=name)


graph = create_compression_graph(served_model)
