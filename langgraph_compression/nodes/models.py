"""Which model answers and which one summarizes."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import Runtime

from langgraph_compression.errors import CompressionError, MissingExtraError
from langgraph_compression.nodes.effects import Do, Steps, in_thread
from langgraph_compression.nodes.model_checks import check_runnable
from langgraph_compression.nodes.offline import OfflineChatModel
from langgraph_compression.nodes.prompts import with_prompts_fed
from langgraph_compression.nodes.wrappers import chosen, core_model, is_configurable

EXTRACTIVE = "extractive"
"""Name of the summarizer that is no model: the digest."""

ChatModel = BaseChatModel | Runnable[Any, Any]
"""A chat model, alone or in what LangChain puts around one: bindings, retries, fallbacks, …"""

ModelFunction = Callable[[Any, Runtime[Any]], ChatModel | str | Awaitable[ChatModel | str]]

Model = ChatModel | str | ModelFunction
"""A chat model, "provider:name", or a function of (state, runtime) that returns one of these;
an async one can be used with `ainvoke` and `astream` only."""


def resolve(
    model: Model, state: Mapping[str, Any], runtime: Runtime[Any], config: RunnableConfig
) -> Steps[tuple[ChatModel, str | None]]:
    """The model of a run, and its "provider:name" where it was given so.

    What the run's config chooses of it is chosen.

    Raises:
        CompressionError: The function can only be awaited, or returned no model; or the
            model cannot answer.
    """
    found: Any = model
    if not isinstance(model, str | Runnable):
        found = yield _call(model, state, runtime)
    spec = found if isinstance(found, str) else None
    if spec is not None:
        found = yield in_thread(named_model, spec)
    if not isinstance(found, Runnable):
        raise CompressionError(
            f"the model function returned a {type(found).__name__}: it must return a chat model "
            "or 'provider:name'"
        )
    if is_configurable(found):
        found = yield in_thread(chosen, found, config)
    check_runnable(found)
    return with_prompts_fed(found), spec


def _call(function: ModelFunction, state: Mapping[str, Any], runtime: Runtime[Any]) -> Do:
    def sync() -> Any:
        found = function(state, runtime)
        if inspect.isawaitable(found):
            if inspect.iscoroutine(found):
                found.close()
            raise CompressionError(
                "the model function is async: call the graph with ainvoke or astream, and "
                "compress with acompress_thread"
            )
        return found

    async def asynchronous() -> Any:
        called = getattr(function, "__call__", None)  # noqa: B004 - of an object
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called):
            return await function(state, runtime)  # type: ignore[misc]
        found = await in_thread(function, state, runtime).asynchronous()
        return await found if inspect.isawaitable(found) else found

    return Do(sync, asynchronous)


def named_model(name: str) -> BaseChatModel:
    """The chat model "provider:name"; "offline" is the embedded one.

    Raises:
        MissingExtraError: langchain, or the provider's package, is not installed.
        CompressionError: The name names no model.
    """
    return OfflineChatModel() if name == "offline" else _init(name)


@lru_cache(maxsize=32)
def _init(name: str) -> BaseChatModel:
    try:
        from langchain.chat_models import init_chat_model
    except ImportError:
        raise MissingExtraError("langchain", "models") from None
    try:
        return init_chat_model(name)
    except ImportError as error:
        raise CompressionError(f"model {name!r} needs a package: {error}") from error
    except ValueError as error:
        raise CompressionError(
            f"model {name!r} is not known; write 'provider:name', as in 'openai:gpt-5'"
        ) from error


def model_name(model: object) -> str:
    """The name a model goes by in usage and profiles; its class if it has none."""
    core = core_model(model)
    for field in ("model_name", "model", "model_id"):
        name = getattr(core, field, None)
        if isinstance(name, str) and name:
            return name
    return type(core).__name__


def model_window(model: object) -> int | None:
    """Tokens of input the model's profile allows, None if it does not say."""
    profile = getattr(core_model(model), "profile", None) or {}
    window = profile.get("max_input_tokens") if isinstance(profile, dict) else None
    return window if isinstance(window, int) and window > 0 else None
