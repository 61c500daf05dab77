"""The one place where the nodes are wired: five nodes and their edges, in any builder."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Literal, TypedDict, Unpack, get_args, get_origin, get_type_hints

from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.config import get_config
from langgraph.constants import END
from langgraph.graph import StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import CachePolicy, RetryPolicy, TimeoutPolicy, TracePolicy

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
from langgraph_compression.nodes.config import Compression
from langgraph_compression.nodes.measure import measure
from langgraph_compression.nodes.model import model as ask_model
from langgraph_compression.nodes.models import Model
from langgraph_compression.nodes.options import CompressionOptions, with_options
from langgraph_compression.nodes.recount import recount
from langgraph_compression.nodes.request import as_node
from langgraph_compression.nodes.summarize import summarize
from langgraph_compression.state.request import NodeState
from langgraph_compression.state.schema import RouteState

CAPABILITY = {"capability": "context_compression"}
"""Metadata of the nodes of a graph that can compress its threads."""

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


class HostOptions(CompressionOptions, total=False):
    """What `add_compression` takes: for the node `model` also what `StateGraph.add_node` does."""

    defer: bool | None
    metadata: dict[str, Any] | None
    retry_policy: RetryPolicy | Sequence[RetryPolicy] | None
    cache_policy: CachePolicy[Any] | None
    error_handler: Callable[..., Any] | Runnable[Any, Any] | None
    destinations: dict[str, str] | tuple[str, ...] | None
    timeout: float | timedelta | TimeoutPolicy | None
    trace_policy: TracePolicy | None


@with_options
def add_compression(
    builder: StateGraph[Any, Any, Any, Any],
    model: Model,
    *,
    after_model: AfterModel = END,
    path_map: Mapping[Hashable, str] | Sequence[str] | None = None,
    **options: Unpack[HostOptions],
) -> None:
    """Add `measure`, `compact`, `recount`, `summarize`, `model` and their edges to a graph.

    The host leads to "measure"; compression leads on from "model" by `after_model`. The
    host's state needs a channel `messages` with `add_messages` or a delta channel; the other
    channels are added.

    Args:
        builder: The host's graph.
        model: As in `create_compression_graph`.
        after_model: A node's name, END, or a function of the host's state that returns one
            or several.
        path_map: What the function may return, as for `add_conditional_edges`.
        options: `CompressionOptions`, and what else the node `model` is to have, by the names of
            `StateGraph.add_node`: `retry_policy`, `cache_policy`, `timeout`, `metadata` …

    Raises:
        CompressionError: The input schema lets a client set the event, or what
            `create_compression_graph` raises.
    """
    if "_summarization_event" in get_type_hints(builder.input_schema):
        raise CompressionError(
            f"the input schema {builder.input_schema.__name__} exposes _summarization_event: any "
            "client could then hide messages from the model. Build the graph with an "
            "input_schema that has `messages` and what else clients may set"
        )
    model_node: dict[str, Any] = {**options}
    given: Any = {
        name: model_node.pop(name) for name in CompressionOptions.__optional_keys__ & options.keys()
    }
    graph = Compression(model, **given)
    for name, logic in (
        ("measure", measure),
        ("compact", compact),
        ("recount", recount),
        ("summarize", summarize),
        ("model", ask_model),
    ):
        own = model_node if name == "model" else {}
        metadata = {**(own.get("metadata") or {}), **CAPABILITY}
        node = as_node(name, graph, logic)
        builder.add_node(name, node, **{**own, "input_schema": NodeState, "metadata": metadata})
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
