"""The one place where the nodes are wired: five nodes and their edges, in any builder."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypedDict, get_args, get_origin, get_type_hints

from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.config import get_config
from langgraph.constants import END
from langgraph.graph import StateGraph
from langgraph.runtime import get_runtime

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
from langgraph_compression.state.request import NodeState
from langgraph_compression.state.schema import RouteState
from langgraph_compression.state.settings import CompressionSettings
from langgraph_compression.workdir.lease import WorkdirSource

CAPABILITY = {"capability": "context_compression"}
"""Metadata of the nodes of a graph that can compress its threads."""

_NODE_OPTIONS = frozenset(
    name
    for name, parameter in inspect.signature(StateGraph.add_node).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
) - {"input_schema"}

_GIVEN: dict[str, Callable[[], Any]] = {
    "config": get_config,
    "runtime": get_runtime,
    "store": lambda: get_runtime().store,
    "writer": lambda: get_runtime().stream_writer,
    "previous": lambda: get_runtime().previous,
}
"""What LangGraph gives to path functions that have a parameter of the name."""

_Next = Hashable | Sequence[Hashable]
_Path = Callable[..., _Next] | Callable[..., Awaitable[_Next]] | Runnable[Any, _Next]
AfterModel = str | _Path
"""What follows the model: a node, END, or a path function of the host's state, as for
`add_conditional_edges`."""


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
    **model_node: Any,
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
        model_node: What else the node `model` is to have, by the names that `StateGraph.add_node`
            gives it: `retry_policy`, `cache_policy`, `timeout`, `error_handler`, `metadata` …

    Raises:
        CompressionError: The input schema lets a client set the event, or `add_node` knows no
            such argument.
    """
    unknown = model_node.keys() - _NODE_OPTIONS
    if unknown:
        raise CompressionError(
            f"add_compression has no argument {', '.join(sorted(unknown))}; the node `model` "
            f"takes {', '.join(sorted(_NODE_OPTIONS))}"
        )
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
        options = model_node if name == "model" else {}
        metadata = {**(options.get("metadata") or {}), **CAPABILITY}
        node = as_node(name, graph, logic)
        builder.add_node(name, node, **{**options, "input_schema": NodeState, "metadata": metadata})
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
    back = "compact" if targets is None else OVERFLOW

    def host_state(state: Mapping[str, Any]) -> Any:
        own = {key: value for key, value in state.items() if key not in added}
        return own if _is_typed_dict(schema) else schema(**own)

    def sync(state: Any) -> Any:
        if overflowed(state):
            return back
        if isinstance(after_model, str):
            return after_model
        return _asked(after_model, host_state(state))

    async def asynchronous(state: Any) -> Any:
        if overflowed(state):
            return back
        if isinstance(after_model, str):
            return after_model
        return await _aasked(after_model, host_state(state))

    # LangGraph reads what is annotated: the request, and what the host's path sees of its state.
    routed = get_type_hints(RouteState, include_extras=True)
    hints = {} if isinstance(after_model, str) else get_type_hints(schema, include_extras=True)
    own = {name: hint for name, hint in hints.items() if ClassVar not in (hint, get_origin(hint))}
    added, fields = routed.keys() - own.keys(), {**routed, **own}
    seen: Any = TypedDict("AfterModelState", fields)  # type: ignore[misc]
    sync.__annotations__["state"] = asynchronous.__annotations__["state"] = seen
    builder.add_conditional_edges(
        "model",
        RunnableLambda(sync, afunc=asynchronous, name="after_model"),
        None if targets is None else {OVERFLOW: "compact", **targets},
    )


def _asked(path: _Path, state: Any) -> Any:
    """Where the host's path leads, asked without a run of its own: streams would repeat the state.

    Raises:
        CompressionError: The path can only be awaited.
    """
    if isinstance(path, Runnable):
        return path.invoke(state)
    answer = _call(path, state)
    if inspect.iscoroutine(answer):
        answer.close()
        raise CompressionError("after_model is async: call the graph with ainvoke or astream")
    return answer


async def _aasked(path: _Path, state: Any) -> Any:
    """`_asked` for an event loop."""
    if isinstance(path, Runnable):
        return await path.ainvoke(state)
    if inspect.iscoroutinefunction(path) or inspect.iscoroutinefunction(type(path).__call__):
        return await _call(path, state)
    answer = await asyncio.to_thread(_call, path, state)
    return await answer if inspect.iscoroutine(answer) else answer  # a lambda around an async path


def _call(path: Callable[..., Any], state: Any) -> Any:
    wanted = _GIVEN.keys() & inspect.signature(path).parameters.keys()
    return path(state, **{name: _GIVEN[name]() for name in wanted})


def _declared(path: _Path) -> tuple[str, ...]:
    """What a path function returns, if its annotation says so."""
    try:
        returned = get_type_hints(path).get("return")
    except (TypeError, NameError):
        return ()
    return get_args(returned) if getattr(returned, "__origin__", None) is Literal else ()


def _is_typed_dict(schema: type[Any]) -> bool:
    return hasattr(schema, "__total__") and issubclass(schema, dict)
