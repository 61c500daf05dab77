"""What a graph was built with, and what one run makes of it."""

import inspect
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Final, Unpack

from langchain_core.runnables import Runnable
from langgraph.config import get_config
from langgraph.runtime import Runtime, get_runtime

from langgraph_compression.errors import CompressionError
from langgraph_compression.nodes.effects import Do, Steps
from langgraph_compression.nodes.model_checks import check_model
from langgraph_compression.nodes.models import (
    EXTRACTIVE,
    ChatModel,
    Model,
    model_name,
    model_window,
    resolve,
)
from langgraph_compression.nodes.offline import OfflineChatModel
from langgraph_compression.nodes.options import CompressionOptions, with_options
from langgraph_compression.nodes.tools import check_tools, schema_of, schemas_beside, without_tools
from langgraph_compression.nodes.wrappers import core_model
from langgraph_compression.policy.overflow import is_context_overflow
from langgraph_compression.state.counting import Count
from langgraph_compression.state.settings import CompressionSettings, Mode, Profile, carried
from langgraph_compression.tokens.counter import MessageCounter
from langgraph_compression.tokens.estimate import estimate_tokens
from langgraph_compression.tokens.messages import as_json
from langgraph_compression.tokens.profiles import profile_for_model
from langgraph_compression.workdir.lease import Lease
from langgraph_compression.workdir.unavailable import NotOpened, Nowhere
from langgraph_compression.workdir.workdir import Workdir

logger = logging.getLogger("langgraph_compression")

SCHEMAS_REMEMBERED = 64
"""Sets of tools bound to models of which a graph knows the tokens."""


@lru_cache
def profile_counter(profile: Profile) -> MessageCounter:
    """The counter of a profile; one for the process, so that it knows what it counted."""
    return MessageCounter(partial(estimate_tokens, profile=profile))


class Compression:
    """What a graph was built with. Arguments as in `create_compression_graph`.

    Raises:
        CompressionError: The model cannot answer, cannot be offered the tools, or keeps the
            conversation at the provider; or an option cannot be used.
    """

    @with_options
    def __init__(self, model: Model, **options: Unpack[CompressionOptions]) -> None:
        self.model: Final = model
        self.tools: Final = tuple(options.get("tools") or ())
        self.system_prompt: Final = options.get("system_prompt")
        self.settings: Final = options.get("settings") or CompressionSettings()
        self.summary_model: Final = options.get("summary_model")
        self.workdir: Final = options.get("workdir")
        self.is_overflow: Final = options.get("is_overflow") or is_context_overflow
        self.redact: Final = options.get("redact")
        # What would fail at the first call is refused.
        check_model(model)
        if isinstance(model, Runnable):
            check_tools(model, self.tools)
        if self.summary_model is not None:
            check_model(self.summary_model)
        if isinstance(self.workdir, str | os.PathLike):
            raise CompressionError(f"workdir is a bare location: give Workdir({self.workdir!r})")

        self.tool_schemas: Final = tuple(map(schema_of, self.tools))
        """The tools as they stand in a request."""
        counter = options.get("counter")
        self.own_counter: Final = MessageCounter(counter) if counter else None
        """The counter of the user's own function, None for the estimate."""
        self.tool_tokens: Final[dict[tuple[MessageCounter, str], int]] = {}
        """Tokens of tool schemas by counter and what is bound to the model, as counted."""
        self._warned: Final[set[str]] = set()

    def warn(self, text: str) -> None:
        """Say something in the log, once for this graph."""
        if text not in self._warned:
            self._warned.add(text)
            logger.warning(text)

    def overflowed(self, error: BaseException, **known: Any) -> bool:
        """Whether the provider refused a request because it was too large.

        Args:
            error: What the model raised.
            known: `tokens`, `window`, `provider` as for `is_context_overflow`; a predicate of
                the user's own gets those that it has parameters for.
        """
        wanted = _named(self.is_overflow) & set(known)
        return self.is_overflow(error, **{name: known[name] for name in wanted})


@dataclass(frozen=True)
class Run:
    """One run's configuration: the graph's, overridden by the run's context."""

    graph: Compression
    settings: CompressionSettings
    mode: Mode
    system_prompt: str | None
    model: ChatModel
    summarizer: ChatModel | None
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
        """Tokens of the tool schemas, those bound to the model too; counted once."""
        known, beside = self.graph.tool_tokens, self._schemas_beside
        key = self.counter, as_json(beside) if beside else ""
        if key not in known:
            if len(known) >= SCHEMAS_REMEMBERED:
                known.clear()
            known[key] = self.counter.tools([*beside, *self.graph.tool_schemas])
        return known[key]

    @cached_property
    def _schemas_beside(self) -> list[Mapping[str, Any]]:
        return schemas_beside(self.model, self.graph.tools)

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
    model, model_spec = yield from resolve(answering, state, runtime, config)
    wanted = (context and context.summary_model) or graph.summary_model
    if wanted is None:
        summarizer, summarizer_spec = model, model_spec
    elif wanted == EXTRACTIVE:
        summarizer, summarizer_spec = None, None
    else:
        summarizer, summarizer_spec = yield from resolve(wanted, state, runtime, config)
    if isinstance(core_model(summarizer), OfflineChatModel):
        summarizer = None
    if summarizer is not None:
        summarizer = without_tools(summarizer, schemas=wanted is not None)
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
