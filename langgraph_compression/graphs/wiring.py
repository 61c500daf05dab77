"""The one place where the nodes are wired: five nodes and their edges, in any builder."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict, get_args, get_type_hints

from langchain_core.runnables import RunnableLambda
from langgraph.channels import UntrackedValue
from langgraph.constants import END
from langgraph.graph import StateGraph

from langgraph_compression.errors import CompressionError
from langgraph_compression.graphs.routes import (
    ANSWER,
    BELOW,
    DONE,
    OVERFLOW,
    REACHED,
    after_count,
    after_summarize,
    overflowed,
)
from langgraph_compression.nodes.compact import compact
from langgraph_compression.nodes.config import Compression, Redact, Tool
from langgraph_compression.nodes.measure import measure
from langgraph_compression.nodes.model import model as ask_model
from langgraph_compression.nodes.models import Model
from langgraph_compression.nodes.recount import recount
from langgraph_compression.nodes.request import as_node
from langgraph_compression.nodes.summarize import summarize
from langgraph_compression.state.counting import Count
from langgraph_compression.state.schema import CompressionState, RequestView
from langgraph_compression.state.settings import CompressionSettings
from langgraph_compression.workdir.lease import WorkdirSource

CAPABILITY = {"capability": "context_compression"}
"""Metadata of the nodes of a graph that can compress its threads."""

AfterModel = str | Callable[[Any], Hashable | Sequence[Hashable]]
"""What follows the model: a node, END, or a path function of the host's state."""


def add_compression(
    builder: StateGraph[Any, Any, Any, Any],
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
    after_model: AfterModel = END,
    path_map: Mapping[Hashable, str] | Sequence[str] | None = None,
) -> None:
    """Add `measure`, `compact`, `recount`, `summarize`, `model` and their edges to a graph.

    The host leads to "measure"; compression leads on from "model" by `after_model`. The
    host's state needs a channel `messages` with `add_messages` or a delta channel; the other
    channels are added.

    Args:
        builder: The host's graph.
        model: As in `create_compression_graph`, like the further arguments.
        tools: Tools the model may call.
        system_prompt: Sent first with each request, never part of the state.
        settings: How to compress.
        summary_model: Who summarizes; default: the model itself.
        workdir: Where files go.
        counter: Counts the tokens of a text, instead of the estimate.
        is_overflow: Recognises a context overflow, instead of `is_context_overflow`. Parameters
            that are called as that function's `tokens`, `window` and `provider` are given.
        redact: Changes text before it goes to the summarizer and to files.
        after_model: A node's name, END, or a function of the host's state that returns one
            or several.
        path_map: What the function may return, as for `add_conditional_edges`.

    Raises:
        CompressionError: The input schema lets a client set the event.
    """
    if "_summarization_event" in get_type_hints(builder.input_schema):
        raise CompressionError(
            f"the input schema {builder.input_schema.__name__} exposes _summarization_event: any "
            "client could then hide messages from the model. Build the graph with an "
            "input_schema that has `messages` and what else clients may set"
        )
    graph = Compression(
        model=model,
        tools=tuple(tools),
        system_prompt=system_prompt,
        settings=settings or CompressionSettings(),
        summary_model=summary_model,
        workdir=workdir,
        counter=counter,
        is_overflow=is_overflow,
        redact=redact,
    )
    for name, logic in (
        ("measure", measure),
        ("compact", compact),
        ("recount", recount),
        ("summarize", summarize),
        ("model", ask_model),
    ):
        builder.add_node(
            name, as_node(name, graph, logic), input_schema=CompressionState, metadata=CAPABILITY
        )
    builder.add_conditional_edges("measure", after_count, {BELOW: "model", REACHED: "compact"})
    builder.add_edge("compact", "recount")
    builder.add_conditional_edges("recount", after_count, {BELOW: "model", REACHED: "summarize"})
    builder.add_conditional_edges("summarize", after_summarize, {ANSWER: "model", DONE: END})
    _lead_on(builder, after_model, path_map)


def _lead_on(
    builder: StateGraph[Any, Any, Any, Any],
    after_model: AfterModel,
    path_map: Mapping[Hashable, str] | Sequence[str] | None,
) -> None:
    """The edges behind `model`: back to `compact` after an overflow, else the host's own."""
    if isinstance(after_model, str):
        targets: dict[Hashable, str] | None = {after_model: after_model}
    elif isinstance(path_map, Mapping):
        targets = dict(path_map)
    else:
        names = path_map if path_map is not None else _declared(after_model)
        targets = {name: name for name in names} if names else None

    schema = builder.state_schema
    host = None if isinstance(after_model, str) else RunnableLambda(after_model)
    back = "compact" if targets is None else OVERFLOW

    def host_state(state: Mapping[str, Any]) -> Any:
        own = {key: value for key, value in state.items() if key != "_request"}
        return own if _is_typed_dict(schema) else schema(**own)

    def sync(state: Mapping[str, Any]) -> Any:
        if overflowed(state):
            return back
        return after_model if host is None else host.invoke(host_state(state))

    async def asynchronous(state: Mapping[str, Any]) -> Any:
        if overflowed(state):
            return back
        return after_model if host is None else await host.ainvoke(host_state(state))

    # The path sees the host's channels and the request: LangGraph reads what is annotated.
    fields: dict[str, Any] = {
        **get_type_hints(schema, include_extras=True),
        "_request": NotRequired[Annotated[RequestView, UntrackedValue]],
    }
    seen: Any = TypedDict("AfterModelState", fields)  # type: ignore[misc]
    sync.__annotations__["state"] = asynchronous.__annotations__["state"] = seen
    builder.add_conditional_edges(
        "model",
        RunnableLambda(sync, afunc=asynchronous, name="after_model"),
        None if targets is None else {OVERFLOW: "compact", **targets},
    )


def _declared(path: Callable[..., Any]) -> tuple[str, ...]:
    """What a path function returns, if its annotation says so."""
    try:
        returned = get_type_hints(path).get("return")
    except (TypeError, NameError):
        return ()
    return get_args(returned) if getattr(returned, "__origin__", None) is Literal else ()


def _is_typed_dict(schema: type[Any]) -> bool:
    return hasattr(schema, "__total__") and issubclass(schema, dict)
