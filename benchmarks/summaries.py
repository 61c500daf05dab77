"""What summarizers really read: every removed message carries a mark that is looked for."""

import re
from collections.abc import Sequence
from typing import Any

from deepagents.middleware.summarization import create_summarization_middleware
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain_core.messages import AnyMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langmem.short_term import SummarizationNode

from benchmarks.conversation import turn
from benchmarks.model import InstantModel
from benchmarks.peers import State, files
from langgraph_compression import (
    CompressionSettings,
    Workdir,
    create_compression_graph,
    estimate_tokens,
)

WINDOW = 32 * 1024
"""Tokens the summarizer takes, said by its profile."""
TURNS = 250
MARK = re.compile(r"mark\d+end")


def marked(number: int) -> list[AnyMessage]:
    """A turn in which every message says its mark at its end, where a cut hurts first."""
    messages = turn("english", number)
    for at, message in enumerate(messages):
        message.content = f"{message.content} mark{number * 4 + at}end"
    return messages


def marks(messages: Sequence[BaseMessage]) -> set[str]:
    """All marks in these messages."""
    return {mark for message in messages for mark in MARK.findall(message.text)}


def tokens(messages: Sequence[BaseMessage]) -> int:
    """Size of a request by one estimate for all."""
    return sum(estimate_tokens(message.text) for message in messages)


def ours(model: InstantModel, summarizer: InstantModel) -> Any:
    """Our graph; threshold at 85 % of the window, as the others have it."""
    return create_compression_graph(
        model,
        summary_model=summarizer,
        settings=CompressionSettings(summary_threshold=0.85 * WINDOW / 1024),
        workdir=Workdir(files().cwd.as_posix()),
        checkpointer=InMemorySaver(),
    )


def agent(model: InstantModel, middleware: AgentMiddleware[Any, Any, Any]) -> Any:
    """An agent of LangChain."""
    return create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())


def langmem(model: InstantModel, summarizer: InstantModel) -> Any:
    """The graph of langmem's documentation."""
    builder = StateGraph(State)
    builder.add_node(
        "summarize", SummarizationNode(model=summarizer, max_tokens=int(0.85 * WINDOW))
    )
    builder.add_node(
        "model", lambda state: {"messages": [model.invoke(state["summarized_messages"])]}
    )
    builder.add_edge(START, "summarize")
    builder.add_edge("summarize", "model")
    return builder.compile(checkpointer=InMemorySaver())


GRAPHS = {
    "ours": ours,
    "langchain summarization": lambda model, summarizer: agent(
        model, SummarizationMiddleware(summarizer, trigger=("fraction", 0.85))
    ),
    "deepagents summarization": lambda model, summarizer: agent(
        model, create_summarization_middleware(summarizer, files())
    ),
    "langmem": langmem,
}


def share_read(build: Any, turns_at_once: int) -> dict[str, Any]:
    """A conversation of 1,000 messages, given in steps of some turns.

    Removed are the messages whose mark is not in the last request of the main model.
    """
    model = InstantModel(keep_requests=True)
    summarizer = InstantModel(keep_requests=True, profile={"max_input_tokens": WINDOW})
    graph = build(model, summarizer)
    config: Any = {"configurable": {"thread_id": "one"}}
    every: set[str] = set()
    for first in range(0, TURNS, turns_at_once):
        given = [m for n in range(first, first + turns_at_once) for m in marked(n)][:-1]
        every |= marks(given)
        graph.invoke({"messages": given}, config)
    removed = every - marks(model.requests[-1])
    read = set().union(*map(marks, summarizer.requests)) if summarizer.requests else set()
    largest = max(map(tokens, summarizer.requests), default=0)
    return {
        "removed messages": len(removed),
        "share read": len(removed & read) / len(removed) if removed else None,
        "calls": len(summarizer.requests),
        "largest request / window": largest / WINDOW,
        "last main request / window": tokens(model.requests[-1]) / WINDOW,
    }


def run() -> dict[str, Any]:
    """By way of growth and package."""
    return {
        f"{turns} turns at a time": {
            name: share_read(build, turns) for name, build in GRAPHS.items()
        }
        for turns in (1, 25, TURNS)
    }
