"""The other packages, alone (their hook around a model call) and as a whole graph."""

import tempfile
import warnings
from collections.abc import Callable
from typing import Annotated, Any

from deepagents.backends import FilesystemBackend
from deepagents.middleware.summarization import SummarizationMiddleware as DeepSummarization
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    ModelRequest,
    ModelResponse,
    SummarizationMiddleware,
)
from langchain_core.messages import AIMessage, trim_messages
from langchain_core.messages.utils import count_tokens_approximately
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages

from benchmarks.model import InstantModel
from benchmarks.timing import Contender, timed

with warnings.catch_warnings():
    # langmem imports a name that langgraph has moved.
    warnings.simplefilter("ignore")
    from langmem.short_term import SummarizationNode, summarize_messages
from typing_extensions import TypedDict

NEVER = 10**9
"""Tokens at which nobody compresses."""


class State(TypedDict, total=False):
    """State of the one-node graphs."""

    messages: Annotated[list[Any], add_messages]
    summarized_messages: list[Any]
    context: dict[str, Any]


def summarization(model: InstantModel, tokens: int) -> SummarizationMiddleware:
    """LangChain's, with its defaults: 20 messages kept."""
    return SummarizationMiddleware(model, trigger=("tokens", tokens))


def editing(tokens: int) -> ContextEditingMiddleware:
    """LangChain's clearing of old tool results, with its defaults: 3 kept."""
    return ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=tokens)])


def files() -> FilesystemBackend:
    """A backend of deepagents in a new folder."""
    return FilesystemBackend(root_dir=tempfile.mkdtemp(prefix="bench-"), virtual_mode=True)


def deep(
    model: InstantModel, tokens: int, *, truncate: int = NEVER, backend: Any = None
) -> DeepSummarization:
    """The summarization of deepagents, as its factory sets it up for a model of no profile."""
    return DeepSummarization(
        model,
        backend=backend or files(),
        trigger=("tokens", tokens),
        keep=("messages", 6),
        trim_tokens_to_summarize=None,
        truncate_args_settings={"trigger": ("tokens", truncate), "keep": ("messages", 20)},
    )


def trimmed(messages: list[Any], tokens: int) -> list[Any]:
    """`trim_messages` as its documentation shows it."""
    return trim_messages(
        messages,
        max_tokens=tokens,
        token_counter=count_tokens_approximately,
        strategy="last",
        start_on="human",
        include_system=True,
    )


def before_model(middleware: AgentMiddleware[Any, Any, Any]) -> Contender:
    """A hook before the model, alone."""
    return timed(lambda messages: middleware.before_model({"messages": messages}, None))  # type: ignore[arg-type]


def around_model(
    middleware: AgentMiddleware[Any, Any, Any], model: InstantModel, **state: Any
) -> Contender:
    """A hook around the model, alone."""
    answer = ModelResponse(result=[AIMessage(content="ok")])

    def call(messages: list[Any]) -> Any:
        whole: Any = {"messages": messages, **state}
        request: Any = ModelRequest(model=model, messages=messages, tools=[], state=whole)
        return middleware.wrap_model_call(request, lambda _request: answer)

    return timed(call)


def langmem(model: InstantModel, tokens: int) -> Contender:
    """The function of langmem, alone."""
    return timed(
        lambda messages: summarize_messages(
            messages, running_summary=None, model=model, max_tokens=tokens
        )
    )


def agent(model: InstantModel, *middleware: AgentMiddleware[Any, Any, Any]) -> Contender:
    """An agent of LangChain."""
    graph = create_agent(model, middleware=middleware)
    return timed(lambda messages: graph.invoke({"messages": messages}))


def one_node(call: Callable[[list[Any]], Any]) -> Contender:
    """A graph of one node that calls the model."""
    builder = StateGraph(State)
    builder.add_node("model", lambda state: {"messages": [call(state["messages"])]})
    builder.add_edge(START, "model")
    graph = builder.compile()
    return timed(lambda messages: graph.invoke({"messages": messages}))


def langmem_graph(model: InstantModel, tokens: int) -> Contender:
    """The graph of langmem's documentation: summarization node, model node."""
    builder = StateGraph(State)
    builder.add_node("summarize", SummarizationNode(model=model, max_tokens=tokens))
    builder.add_node(
        "model", lambda state: {"messages": [model.invoke(state["summarized_messages"])]}
    )
    builder.add_edge(START, "summarize")
    builder.add_edge("summarize", "model")
    graph = builder.compile()
    return timed(lambda messages: graph.invoke({"messages": messages}))
