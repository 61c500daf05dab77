"""Which model answers and which one summarizes."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBinding
from langgraph.runtime import Runtime

from langgraph_compression.errors import CompressionError, MissingExtraError
from langgraph_compression.nodes.offline import OfflineChatModel

EXTRACTIVE = "extractive"
"""Name of the summarizer that is no model: the digest."""

Model = BaseChatModel | str | Callable[[Any, Runtime[Any]], BaseChatModel]
"""A chat model, "provider:name", or a function of (state, runtime) that returns a model."""


def check_model(model: object) -> None:
    """Refuse at once what can never be a model.

    Raises:
        CompressionError: It is no chat model, no name and no function.
    """
    if isinstance(model, str | Runnable) or callable(model):
        return
    raise CompressionError(
        f"model is a {type(model).__name__}: give a chat model, 'provider:name', or a function "
        "of (state, runtime) that returns a chat model"
    )


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


def core_model(model: object) -> object:
    """The model inside of bindings, which knows its name, provider and window."""
    while isinstance(model, RunnableBinding):
        model = model.bound
    return model


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
