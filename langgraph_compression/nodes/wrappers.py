"""What LangChain puts around a chat model: seen through, and built anew around another model.

Bindings (`bind`, `with_config`, `bind_tools`), retries, fallbacks, sequences, branches and
what is configurable hold the models that they ask. What holds none is a model itself.
"""

from collections.abc import Callable, Iterator, Sequence
from contextvars import Context
from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import (
    Runnable,
    RunnableBranch,
    RunnableConfig,
    RunnableSequence,
    RunnableWithFallbacks,
)
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.configurable import DynamicRunnable, RunnableConfigurableAlternatives

from langgraph_compression.errors import CompressionError


def inner(model: object) -> tuple[object, ...]:
    """The models that a wrapper asks, the usual one first; none for a model itself."""
    match model:
        case RunnableBindingBase():
            return (model.bound,)
        case RunnableWithFallbacks():
            return (model.runnable, *model.fallbacks)
        case RunnableSequence():
            return tuple(step for step in reversed(model.steps) if _is_model(step))[:1]
        case RunnableBranch():
            return (model.default, *(branch for _, branch in model.branches))
        case RunnableConfigurableAlternatives():
            given = model.alternatives.values()
            return (model.default, *(one for one in given if isinstance(one, Runnable)))
        case DynamicRunnable():
            return (model.default,)
    return ()


def around(wrapper: Any, models: Sequence[Any]) -> Any:
    """The same wrapper around other models.

    Args:
        wrapper: A wrapper, of which nothing is configurable.
        models: As many as `inner` gives, in that order.
    """
    first, *others = models
    match wrapper:
        case RunnableBindingBase():
            return wrapper.model_copy(update={"bound": first})
        case RunnableWithFallbacks():
            return wrapper.model_copy(update={"runnable": first, "fallbacks": others})
        case RunnableBranch():
            conditions = [condition for condition, _ in wrapper.branches]
            branches = list(zip(conditions, others, strict=True))
            return wrapper.model_copy(update={"default": first, "branches": branches})
        case RunnableSequence():
            (asked,) = inner(wrapper)
            steps = [first if step is asked else step for step in wrapper.steps]
            return RunnableSequence(*steps, name=wrapper.name)
    raise TypeError(type(wrapper).__name__)


def cores(model: object) -> Iterator[object]:
    """The models inside of all wrappers, the usual one first."""
    held = inner(model)
    if not held:
        yield model
    for one in held:
        yield from cores(one)


def core_model(model: object) -> object:
    """The usual model inside of all wrappers, which knows its name, provider and window."""
    return next(cores(model))


def bound_arguments(model: object) -> dict[str, Any]:
    """What the usual model is asked with besides messages; what was bound last counts."""
    held = inner(model)
    below = bound_arguments(held[0]) if held else {**(field_of(model, "model_kwargs") or {})}
    return {**below, **model.kwargs} if isinstance(model, RunnableBindingBase) else below


def field_of(model: object, name: str) -> Any:
    """A field that a model was made with, None if its class declares none of this name.

    Asking any object for an attribute could make a model: one of `init_chat_model`.
    """
    return getattr(model, name) if name in getattr(type(model), "model_fields", ()) else None


def is_configurable(model: object) -> bool:
    """Whether a run's config chooses something on the way to the model."""
    return (
        isinstance(model, DynamicRunnable)
        or _makes_itself(model)
        or any(map(is_configurable, inner(model)))
    )


def chosen(model: Any, config: RunnableConfig) -> Any:
    """The model as a run's config chooses it; nothing on the way to it is configurable any more.

    Raises:
        CompressionError: What is chosen cannot be made.
    """
    if isinstance(model, DynamicRunnable):
        # In a context of its own: what the run binds to its config comes with the request.
        configurable: RunnableConfig = {"configurable": config.get("configurable", {})}
        prepared, own = _made(lambda: Context().run(model.prepare, configurable))
        bound = {key: own[key] for key in ("tags", "metadata", "callbacks") if own.get(key)}
        return chosen(prepared.with_config(bound) if bound else prepared, own)
    if _makes_itself(model):
        return _made(lambda: model._model(config))
    held = inner(model)
    models = [chosen(one, config) for one in held]
    changed = any(new is not old for new, old in zip(models, held, strict=True))
    return around(model, models) if changed else model


def _is_model(step: object) -> bool:
    return any(
        isinstance(core, BaseLanguageModel) or hasattr(type(core), "bind_tools")
        for core in cores(step)
    )


def _makes_itself(model: object) -> bool:
    """Whether it is a model of `init_chat_model(configurable_fields=…)`: its class is private."""
    return type(model).__name__ == "_ConfigurableModel" and hasattr(type(model), "_model")


def _made(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except Exception as error:
        raise CompressionError(
            f"the configurable model cannot be made ({type(error).__name__}: {error}): look at "
            "the run's `configurable`, and at the defaults that the model was given"
        ) from error
