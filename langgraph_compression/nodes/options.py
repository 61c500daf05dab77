"""The options that everything takes which builds compression into a graph."""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar, cast, get_args, get_type_hints

from typing_extensions import TypedDict

from langgraph_compression.errors import CompressionError
from langgraph_compression.nodes.models import Model
from langgraph_compression.nodes.tools import Tool
from langgraph_compression.policy.stored_text import Redact
from langgraph_compression.state.counting import Count
from langgraph_compression.state.settings import CompressionSettings
from langgraph_compression.state.unknown import unknown_fields
from langgraph_compression.workdir.lease import WorkdirSource

Function = TypeVar("Function", bound=Callable[..., Any])


class CompressionOptions(TypedDict, total=False):
    """What `add_compression`, `create_compression_graph` and `create_chatbot_graph` take.

    Each by its name; None is as if it were not given.
    """

    tools: Sequence[Tool] | None
    """Tools the model may call, as in `bind_tools`: a `BaseTool`, a function with type hints and
    a docstring, or a schema. The chatbot runs them, so a bare schema is not enough there;
    otherwise who runs them is up to the host. Tools bound to the model are offered too, before
    these; of two with one name only that of `tools`. Default: none.
    CompressionError: a tool has no schema, or the model cannot be offered the tools."""

    system_prompt: str | None
    """Sent first with each request, never part of the state; a run's context overrides it.
    Default: none."""

    settings: CompressionSettings | None
    """How to compress: the threshold in K tokens, limits in tokens, characters and messages; a
    run's context overrides them field by field. Default: `CompressionSettings()`."""

    summary_model: Model | None
    """Who summarizes, given as `model` is; a run's context overrides it. "extractive" is a digest
    without a model. Default: the model itself, without the tools and the answer schema bound to
    it. CompressionError: it cannot answer."""

    workdir: WorkdirSource | None
    """Where files go: a `Workdir`, a sandbox that is entered for one, or a function of a run's
    config that returns one of these. Default: a local folder named by a hash of the thread id.
    CompressionError: a bare location instead of a `Workdir`."""

    counter: Count | None
    """Counts the tokens of a text, for every count. Default: the estimate, by the settings'
    `token_profile`."""

    is_overflow: Callable[..., bool] | None
    """Whether what the model raised, its first argument, is a context overflow. Parameters called
    `tokens`, `window` and `provider` are given as to `is_context_overflow`, the default."""

    redact: Redact | None
    """Changes a text before it goes to the summarizer and to files; a text for which it fails
    goes to neither. Default: they get the text as it is."""


def with_options(function: Function) -> Function:
    """Make its `**options: Unpack[…]` hold at run time: another name is a `CompressionError`.

    `inspect.signature` and `help` show each option.
    """
    signature = inspect.signature(function)
    (options,) = get_args(get_type_hints(function)["options"])
    shown = list(signature.parameters.values())[:-1]
    for name, hint in get_type_hints(options).items():
        shown.append(inspect.Parameter(name, shown[-1].KEYWORD_ONLY, default=None, annotation=hint))
    signature = signature.replace(parameters=shown)

    @wraps(function)
    def checked(*arguments: Any, **named: Any) -> Any:
        for name, remedy in unknown_fields(named, signature.parameters).items():
            called = function.__qualname__.removesuffix(".__init__")
            raise CompressionError(f"{called} has no argument {name}: {remedy}")
        return function(*arguments, **named)

    checked.__signature__ = signature  # type: ignore[attr-defined]
    return cast(Function, checked)
