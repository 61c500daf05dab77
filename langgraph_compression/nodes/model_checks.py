"""What cannot answer, or cannot be compressed, said before the first request."""

import logging
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, get_origin

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.output_parsers.base import BaseLLMOutputParser
from langchain_core.runnables import Runnable, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase
from pydantic import BaseModel

from langgraph_compression.errors import CompressionError
from langgraph_compression.nodes.prompts import check_prompt
from langgraph_compression.nodes.wrappers import field_of, inner

logger = logging.getLogger("langgraph_compression")

_KEPT_AT_THE_PROVIDER = ("previous_response_id", "conversation_id", "cached_content")
"""Arguments that name what a provider puts before the messages of each request."""

_REMEDY = (
    "Give the chat model itself, without output parser or with_structured_output, and parse the "
    "answer in a node behind it"
)


def check_model(model: object) -> None:
    """Refuse at once what can never be a model of a graph.

    Raises:
        CompressionError: It is no chat model, no name and no function; it answers with no
            message; or it keeps the conversation itself, which cannot be compressed then.
    """
    if isinstance(model, Runnable):
        check_runnable(model)
    elif isinstance(model, type) or not (isinstance(model, str) or callable(model)):
        raise CompressionError(
            f"model is a {type(model).__name__}: give a chat model, 'provider:name', or a "
            "function of (state, runtime) that returns a chat model"
        )


def check_runnable(model: Runnable[Any, Any]) -> None:
    """As `check_model`, for a model, alone or in wrappers.

    Raises:
        CompressionError: As there.
    """
    for one in _all(model):
        check_prompt(one)
        if type(one).__name__ == "RunnableWithMessageHistory":  # deprecated, may go
            raise CompressionError(
                "the model is a RunnableWithMessageHistory, which sends a history of its own "
                "before the graph's: give the model inside of it; the graph keeps the messages"
            )
        for name, value in _arguments(one):
            if name == "conversation":
                raise CompressionError(
                    "the model is bound to a conversation that the provider keeps "
                    f"(conversation={value!r:.60}): it grows with each request whatever the graph "
                    "sends, and cannot be compressed. Leave the argument out"
                )
            _warn(
                f"the model is bound to {name}={value!r:.60}: what the provider keeps there is "
                "neither counted nor compressed, only the messages of the graph are"
            )
    for one in _answering(model):
        if (kind := _other_answer(one)) is not None:
            raise CompressionError(
                f"the model answers with no message: {type(one).__name__} returns {kind}. "
                + _REMEDY
            )


def check_answer(answer: object) -> AIMessage:
    """What a model answered, if it is a message of an assistant.

    Raises:
        CompressionError: Its class, and what to do.
    """
    if isinstance(answer, AIMessage):
        return answer
    raise CompressionError(
        f"the model answered with a {type(answer).__name__}: it must return an AIMessage. "
        + _REMEDY
    )


def _all(model: object) -> Iterator[object]:
    yield model
    for one in inner(model):
        yield from _all(one)


def _arguments(model: object) -> Iterator[tuple[str, str]]:
    """What names something that the provider keeps: bound by a wrapper, or set on a model."""
    own = {name: field_of(model, name) for name in _KEPT_AT_THE_PROVIDER}
    bound = model.kwargs if isinstance(model, RunnableBindingBase) else {}
    more = (field_of(model, "model_kwargs"), field_of(model, "extra_body"), bound.get("extra_body"))
    for arguments in (own, bound, *more):
        if isinstance(arguments, Mapping):
            for name in ("conversation", *_KEPT_AT_THE_PROVIDER):
                value = arguments.get(name)
                if isinstance(value, Mapping):
                    value = value.get("id")
                if isinstance(value, str) and value:
                    yield name, value


@lru_cache(maxsize=64)
def _warn(text: str) -> None:
    """Log a warning once: a function may return the same model for each request."""
    logger.warning(text)


def _answering(model: object) -> Iterator[object]:
    """What gives the answer, in each wrapper."""
    held = (model.last,) if isinstance(model, RunnableSequence) else inner(model)
    if not held or getattr(model, "custom_output_type", None):
        yield model
        return
    for one in held:
        yield from _answering(one)


def _other_answer(model: Any) -> str | None:
    """What it returns, if that is known and no message."""
    try:
        declared = model.OutputType
    except Exception:  # each class may declare it in its own way, or not at all
        declared = Any
    kind = get_origin(declared) or declared
    if kind is not Any and isinstance(kind, type):
        if issubclass(kind, str | bytes | int | float | list | tuple | dict):
            return kind.__name__
        if issubclass(kind, BaseModel) and not issubclass(kind, BaseMessage):
            return kind.__name__
    elif isinstance(model, BaseLLMOutputParser) and type(model).__module__.startswith("langchain"):
        return "what it parsed"
    return None
