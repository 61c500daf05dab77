"""A chatbot with file tools and compression."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Unpack

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
from langgraph_compression.nodes.models import Model
from langgraph_compression.nodes.options import CompressionOptions, with_options
from langgraph_compression.nodes.tools import Tool
from langgraph_compression.state.settings import CompressionContext
from langgraph_compression.workdir.file_tools import file_tools


def after_model(state: Mapping[str, Any]) -> Literal["tools", "__end__"]:
    """Run the tools that the model called, else end the turn."""
    last = state["messages"][-1] if state["messages"] else None
    return "tools" if getattr(last, "tool_calls", None) else "__end__"


@with_options
def create_chatbot_graph(
    model: Model,
    *,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
    name: str = "chatbot",
    **options: Unpack[CompressionOptions],
) -> CompressionGraph:
    """A chatbot: model, tools in a loop, compression before each request.

    It has file tools over the workdir (`read_file` in slices, `write_file`, `edit_file`,
    `list_files`), so that the model can read back what was saved.

    Args:
        model: As in `create_compression_graph`.
        checkpointer: Keeps the threads.
        store: Passed on to LangGraph.
        name: Name of the compiled graph.
        options: `CompressionOptions`, as in `create_compression_graph`. Its `tools` are
            further tools; they are run, so a bare schema is not enough.

    Raises:
        CompressionError: A tool is a schema that cannot be run, or what
            `create_compression_graph` raises.
    """
    every_tool = [*file_tools(options.get("workdir")), *map(_run, options.get("tools") or ())]
    options["tools"] = every_tool
    builder = StateGraph(ChatState, context_schema=CompressionContext, input_schema=ChatInput)
    add_compression(builder, model, after_model=after_model, **options)
    builder.add_node("tools", ToolNode(every_tool))
    builder.add_edge(START, "measure")
    builder.add_edge("tools", "measure")
    return builder.compile(checkpointer=checkpointer, store=store, name=name)


def _run(tool: Tool) -> BaseTool | Callable[..., Any]:
    if isinstance(tool, Mapping):
        raise CompressionError(
            f"the chatbot runs its tools, but {str(dict(tool))[:80]} is only a schema: give "
            "a BaseTool or a function"
        )
    return tool


graph = create_chatbot_graph(served_model)
