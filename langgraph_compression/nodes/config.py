"""What a graph was built with, and what one run makes of it."""

import inspect
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config
from langgraph.runtime import Runtime, get_runtime

from langgraph_compression.errors import CompressionError
from langgraph_compression.nodes.effects import Do, Steps, in_thread
from langgraph_compression.nodes.models import (
    EXTRACTIVE,
    Model,
    check_model,
    core_model,
    model_name,
    model_window,
    named_model,
)
from langgraph_compression.nodes.offline import OfflineChatModel
from langgraph_compression.policy.overflow import is_context_overflow
from langgraph_compression.state.counting import Count
from langgraph_compression.state.settings import CompressionSettings, Mode, Profile, carried
from langgraph_compression.tokens.counter import MessageCounter
from langgraph_compression.tokens.estimate import estimate_tokens
from langgraph_compression.tokens.profiles import profile_for_model
from langgraph_compression.workdir.lease import Lease, WorkdirSource
from langgraph_compression.workdir.unavailable import NotOpened, Nowhere
from langgraph_compression.workdir.workdir import Workdir

logger = logging.getLogger("langgraph_compression")

Tool = BaseTool | Callable[..., Any] | Mapping[str, Any]
Redact = Callable[[str], str]


@lru_cache
def profile_counter(profile: Profile) -> MessageCounter:
    """The counter of a profile; one for the process, so that it knows what it counted."""
    return MessageCounter(partial(estimate_tokens, profile=profile))


@dataclass(frozen=True)
class Compression:
    """What a graph was built with. Arguments as in `create_compression_graph`.

    Raises:
        CompressionError: The model can be none, a tool has no schema, or the workdir is a bare
            location.
    """

    model: Model
    tools: Sequence[Tool] = ()
    system_prompt: str | None = None
    settings: CompressionSettings = field(default_factory=CompressionSettings)
    summary_model: Model | None = None
    workdir: WorkdirSource | None = None
    counter: Count | None = None
    is_overflow: Callable[[BaseException], bool] | None = None
    redact: Redact | None = None

    def __post_init__(self) -> None:
        """Refuse what would fail at the first call."""
        check_model(self.model)
        if self.summary_model is not None:
            check_model(self.summary_model)
        if isinstance(self.workdir, str | os.PathLike):
            raise CompressionError(f"workdir is a bare location: give Workdir({self.workdir!r})")
        _ = self.tool_schemas

    @cached_property
    def tool_schemas(self) -> tuple[dict[str, Any], ...]:
        """The tools as they stand in a request."""
        return tuple(map(_schema, self.tools))

    @cached_property
    def own_counter(self) -> MessageCounter | None:
        """The counter of the user's own function, None for the estimate."""
        return MessageCounter(self.counter) if self.counter else None

    @cached_property
    def tool_tokens(self) -> dict[MessageCounter, int]:
        """Tokens of the tool schemas by counter, filled as they are counted."""
        return {}

    def overflowed(self, error: BaseException, **known: Any) -> bool:
        """Whether the provider refused a request because it was too large.

        Args:
            error: What the model raised.
            known: `tokens`, `window`, `provider` as for `is_context_overflow`; a predicate of
                the user's own gets those that it has parameters for.
        """
        predicate: Callable[..., bool] = self.is_overflow or is_context_overflow
        return predicate(error, **{name: known[name] for name in _named(predicate) & set(known)})


@dataclass(frozen=True)
class Run:
    """One run's configuration: the graph's, overridden by the run's context."""

    graph: Compression
    settings: CompressionSettings
    mode: Mode
    system_prompt: str | None
    model: BaseChatModel | Runnable[Any, Any]
    summarizer: BaseChatModel | Runnable[Any, Any] | None
    """None: the summary is the extractive digest."""
    model_spec: str | None
    """"provider:name" where the model was given so."""
    summarizer_spec: str | None
    lease: Lease
    """Of the workdir, for this visit of a node."""

    @cached_property
    def profile(self) -> Profile | None:
        """Profile of the estimate; None with a counter of the user's own."""
        if self.graph.own_counter:
            return None
        profile = self.settings.token_profile
        return profile_for_model(model_name(self.model)) if profile == "auto" else profile

    @cached_property
    def counter(self) -> MessageCounter:
        """The function for every count of this run."""
        return self.graph.own_counter or profile_counter(self.profile or "default")

    @property
    def count(self) -> Count:
        """Tokens of a text."""
        return self.counter.count_text

    def open_workdir(self) -> Steps[Workdir]:
        """The conversation's workdir, the same until it is released.

        A sandbox that does not start is no reason for a conversation to fail: then every
        use of the workdir fails, which is reported like any file that cannot be written.

        Raises:
            WorkdirError: The host gave no workdir, or one that can only be awaited.
        """
        try:
            workdir: Workdir = yield Do(self.lease.open, self.lease.aopen)
        except NotOpened as error:
            logger.warning("workdir not opened: %s", error.kind)
            return Workdir(Nowhere(error))
        return workdir

    def release_workdir(self, error: BaseException | None) -> Steps[None]:
        """Release the workdir, if one was opened.

        Args:
            error: What the node ended with.
        """
        if self.lease.held:
            lease = self.lease
            yield Do(partial(lease.release, error), partial(lease.arelease, error))

    def system_tokens(self) -> int:
        """Tokens of the configured system prompt with its frame."""
        return self.counter.prompt(self.system_prompt) if self.system_prompt else 0

    def tools_tokens(self) -> int:
        """Tokens of the tool schemas, counted once for each counter."""
        known = self.graph.tool_tokens
        if self.counter not in known:
            known[self.counter] = self.counter.tools(self.graph.tool_schemas)
        return known[self.counter]

    def overflowed(self, error: BaseException, tokens: int, *, summarizing: bool = False) -> bool:
        """Whether a request of so many tokens was refused because it was too large."""
        model, spec = self.model, self.model_spec
        threshold = self.settings.threshold
        if summarizing and self.summarizer is not None:
            model, spec = self.summarizer, self.summarizer_spec
            window = model_window(model) or threshold
        else:
            window = min(model_window(model) or threshold, threshold)
        return self.graph.overflowed(
            error, tokens=tokens, window=window, provider=_provider(model, spec)
        )

    def summary_window(self) -> int:
        """Tokens the summarizer takes: its profile, else the threshold, at least 32 K."""
        window = model_window(self.summarizer) if self.summarizer is not None else None
        return window or max(self.settings.threshold, 32 * 1024)


def open_run(graph: Compression, state: Mapping[str, Any]) -> Steps[Run]:
    """Read the run's context and resolve models and counter."""
    runtime: Runtime[Any] = get_runtime()
    config = get_config()
    context = carried(runtime.context)
    settings = graph.settings.overridden(context)
    answering = (context and context.model) or graph.model
    model, model_spec = yield from _resolve(answering, state, runtime)
    wanted = (context and context.summary_model) or graph.summary_model
    if wanted is None:
        summarizer, summarizer_spec = model, model_spec
    elif wanted == EXTRACTIVE:
        summarizer, summarizer_spec = None, None
    else:
        summarizer, summarizer_spec = yield from _resolve(wanted, state, runtime)
    if isinstance(core_model(summarizer), OfflineChatModel):
        summarizer = None
    return Run(
        graph=graph,
        settings=settings,
        mode=context.mode if context else "chat",
        system_prompt=(context and context.system_prompt) or graph.system_prompt,
        model=model,
        summarizer=summarizer,
        model_spec=model_spec,
        summarizer_spec=summarizer_spec,
        lease=Lease(graph.workdir, config),
    )


def _resolve(
    model: Any, state: Mapping[str, Any], runtime: Runtime[Any]
) -> Steps[tuple[Any, str | None]]:
    """The model, and its "provider:name" where it was given so."""
    if not isinstance(model, str | Runnable):
        model = yield in_thread(model, state, runtime)
    if isinstance(model, str):
        return (yield in_thread(named_model, model)), model
    return model, None


def _named(function: Callable[..., Any]) -> set[str]:
    """The parameters that can be given by name and have no value yet."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some callables written in C have none
        return set()
    return {
        each.name
        for each in parameters
        if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)
        and (each.default is each.empty or each.default is None)
    }


def _provider(model: object, spec: str | None) -> str:
    """Who a model asks: its class, the prefix of "provider:name", the URL it was given."""
    core = core_model(model)
    urls = (getattr(core, name, None) for name in ("openai_api_base", "base_url"))
    prefix = spec.split(":", 1)[0] if spec and ":" in spec else ""
    return " ".join([type(core).__module__, type(core).__qualname__, prefix, *map(str, urls)])


def _schema(tool: Tool) -> dict[str, Any]:
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
