"""Which tools a request offers: those bound to the model, then those of the graph."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel, BaseLanguageModel
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from langgraph_compression.errors import CompressionError
from langgraph_compression.nodes.wrappers import (
    around,
    bound_arguments,
    core_model,
    cores,
    inner,
)
from langgraph_compression.tokens.messages import as_json

Tool = BaseTool | Callable[..., Any] | Mapping[str, Any]

SCHEMA_ARGUMENTS = (
    "functions",
    "response_format",
    "response_schema",
    "response_json_schema",
    "output_format",
    "output_config",
    "text",
)
"""Arguments besides `tools` by which provider packages send a schema."""

TOOL_ARGUMENTS = (
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "tool_config",
    "functions",
    "function_call",
)
"""Arguments that offer tools, or say how they are to be called."""


def schema_of(tool: Any) -> dict[str, Any]:
    """A tool as it stands in a request.

    Raises:
        CompressionError: It has no schema.
    """
    try:
        return dict(convert_to_openai_tool(tool))
    except Exception as error:
        if isinstance(tool, Mapping):  # a provider's own form, passed on as it is
            return dict(tool)
        name = getattr(tool, "name", None) or getattr(tool, "__name__", None) or repr(tool)
        raise CompressionError(
            f"tool {name!s:.80} has no schema ({type(error).__name__}): give a BaseTool, a "
            "function with type hints and a docstring, or a dict schema"
        ) from error


def check_tools(model: object, tools: Sequence[Tool]) -> None:
    """Refuse a model that can be offered no tools.

    A function among the fallbacks, or in a branch, needs none.

    Raises:
        CompressionError: The class that takes none, and what to do.
    """
    usual = core_model(model)
    for core in cores(model) if tools else ():
        needed = core is usual or isinstance(core, BaseLanguageModel)
        if needed and _bind_of(core) in (None, BaseChatModel.bind_tools):
            raise _no_tools(core)


def with_tools(model: Any, tools: Sequence[Tool]) -> Any:
    """The model with these tools offered, in the wrappers that it had.

    Everything bound to it stays: arguments, tags, callbacks, and its own tools, which come
    first. Of two tools of one name that of the graph is offered, which the graph can run.

    Raises:
        CompressionError: It can be offered none.
    """
    check_tools(model, tools)
    return _bound(model, tools, None) if tools else model


def without_tools(model: Any, *, schemas: bool) -> Any:
    """The model without the tools bound to it, in the wrappers that it had.

    Args:
        model: A model of which nothing is configurable.
        schemas: Whether a schema bound for its answers stays.
    """
    left_out = TOOL_ARGUMENTS if schemas else (*TOOL_ARGUMENTS, *SCHEMA_ARGUMENTS)
    if isinstance(model, RunnableBindingBase) and not model.kwargs.keys().isdisjoint(left_out):
        kept = {key: value for key, value in model.kwargs.items() if key not in left_out}
        model = model.model_copy(update={"kwargs": kept})
    held = inner(model)
    models = [without_tools(one, schemas=schemas) for one in held]
    changed = any(new is not old for new, old in zip(models, held, strict=True))
    return around(model, models) if changed else model


def schemas_beside(model: object, tools: Sequence[Tool]) -> list[Mapping[str, Any]]:
    """Tools and other schemas bound to a model, which it is sent besides these tools."""
    given = bound_arguments(model)
    own = _beside(given.get("tools") or (), tools)
    return [
        *map(_shown, own),
        *({key: _shown(given[key])} for key in SCHEMA_ARGUMENTS if given.get(key)),
    ]


def _bound(model: Any, tools: Sequence[Tool], own: Sequence[Any] | None) -> Any:
    """The model offered `own`, if wrappers further out have bound some, and the tools."""
    if isinstance(model, RunnableBindingBase):
        kept = {key: value for key, value in model.kwargs.items() if key != "tools"}
        own = model.kwargs.get("tools") if own is None else own
        model = model.model_copy(update={"kwargs": kept})
    held = inner(model)
    if held:
        return around(model, [_bound(one, tools, own) for one in held])
    if _bind_of(model) is None:  # a function
        return model
    if own is None:
        own = bound_arguments(model).get("tools")
    try:
        return model.bind_tools([*_beside(own or (), tools), *tools])
    except NotImplementedError:
        raise _no_tools(model) from None


def _bind_of(core: object) -> Any:
    return getattr(type(core), "bind_tools", None)


def _beside(own: Sequence[Any], tools: Sequence[Tool]) -> list[Any]:
    """Those of the model's own tools that have another name than all of the graph's."""
    names = set(map(_name, tools)) if own else set()
    return [tool for tool in own if _name(tool) not in names]


def _name(tool: Any) -> str:
    schema = _shown(tool)
    function = schema.get("function")
    named = function if isinstance(function, Mapping) else schema.get("toolSpec") or schema
    return str(named.get("name") or as_json(schema))


def _shown(value: Any) -> Mapping[str, Any]:
    """A tool or schema as a mapping, whatever a provider package takes for one."""
    if isinstance(value, Mapping):
        return value
    try:
        return schema_of(value)
    except CompressionError:
        return {"value": value}


def _no_tools(model: object) -> CompressionError:
    return CompressionError(
        f"the model cannot be offered tools: {type(model).__name__} has no bind_tools of its own. "
        "Give a chat model that takes tools, alone or in bind, with_config, with_retry, "
        "with_fallbacks or a sequence, or build the graph without tools"
    )
