"""A chatbot with file tools and compression."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from langchain_core.tools import BaseTool
from langgraph.constants import START
from langgraph.graph import StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer

from langgraph_compression.errors import CompressionError
from langgraph_compression.graphs.compression import CompressionGraph
from langgraph_compression.graphs.schema import ChatInput, ChatState
from langgraph_compression.graphs.served import served_model
from langgraph_compression.graphs.wiring import add_compression
from langgraph_compression.nodes.config import Redact
from langgraph_compression.nodes.models import Model
from langgraph_compression.state.counting import Count
from langgraph_compression.state.settings import CompressionContext, CompressionSettings
from langgraph_compression.workdir.file_tools import file_tools
from langgraph_compression.workdir.lease import WorkdirSource


def after_model(state: Mapping[str, Any]) -> Literal["tools", "__end__"]:
    """Run the tools that the model called, else end the turn."""
    last = state["messages"][-1] if state["messages"] else None
    return "tools" if getattr(last, "tool_calls", None) else "__end__"


def create_chatbot_graph(
    model: Model,
    *,
    tools: Sequence[BaseTool | Callable[..., Any]] = (),
    system_prompt: str | None = None,
    settings: CompressionSettings | None = None,
    summary_model: Model | None = None,
    workdir: WorkdirSource | None = None,
    counter: Count | None = None,
    is_overflow: Callable[[BaseException], bool] | None = None,
    redact: Redact | None = None,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
    name: str = "chatbot",
) -> CompressionGraph:
    """A chatbot: model, tools in a loop, compression before each request.

    It has file tools over the workdir (`read_file` in slices, `write_file`, `edit_file`,
    `list_files`), so that the model can read back what was saved.

    Args:
        model: As in `create_compression_graph`, like the further arguments.
        tools: Further tools; they are run, so a bare schema is not enough.
        system_prompt: Sent first with each request.
        settings: How to compress.
        summary_model: Who summarizes.
        workdir: Where files go.
        counter: Counts the tokens of a text.
        is_overflow: Recognises a context overflow.
        redact: Changes text before it goes to the summarizer and to files.
        checkpointer: Keeps the threads.
        store: Passed on to LangGraph.
        name: Name of the compiled graph.

    Raises:
        CompressionError: A tool is a schema that cannot be run, or what
            `create_compression_graph` raises.
    """
    for tool in tools:
        if isinstance(tool, Mapping):
            raise CompressionError(
                f"the chatbot runs its tools, but {str(dict(tool))[:80]} is only a schema: give "
                "a BaseTool or a function"
            )
    every_tool = [*file_tools(workdir), *tools]
    builder = StateGraph(ChatState, context_schema=CompressionContext, input_schema=ChatInput)
    add_compression(
        builder,
        model,
        tools=every_tool,
        system_prompt=system_prompt,
        settings=settings,
        summary_model=summary_model,
        workdir=workdir,
        counter=counter,
        is_overflow=is_overflow,
        redact=redact,
        after_model=after_model,
    )
    builder.add_node("tools", ToolNode(every_tool))
    builder.add_edge(START, "measure")
    builder.add_edge("tools", "measure")
    return builder.compile(checkpointer=checkpointer, store=store, name=name)


graph = create_chatbot_graph(served_model)
