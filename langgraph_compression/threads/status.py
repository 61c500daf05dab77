"""How full is the context of a thread?"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph_compression.nodes.config import profile_counter
from langgraph_compression.state.counting import Count
from langgraph_compression.state.event import applied_event
from langgraph_compression.state.settings import CompressionSettings
from langgraph_compression.state.view import plain_view
from langgraph_compression.tokens.counter import MessageCounter


@dataclass(frozen=True)
class ContextStatus:
    """Approximate tokens of the thread's next request. No bill: see `token_usage` for that."""

    tokens: int
    """The known parts together."""
    threshold: int
    ratio: float
    """`tokens` over `threshold`, finite; may exceed 1."""
    messages: int
    """The uncompacted view of the state now."""
    system: int | None
    """The system prompt at the last request of the model; None = not known."""
    tools: int | None
    """The tool schemas at the last request of the model; None = not known."""
    unknown: tuple[str, ...]
    """Names of the parts that are not known."""
    suggest_compression: bool
    """A hint to compress by hand; it triggers nothing."""
    token_usage: Mapping[str, Any] = field(default_factory=dict)
    """Reported usage of the main model, per model."""
    summary_token_usage: Mapping[str, Any] = field(default_factory=dict)
    """Reported usage of the summarizer, per model."""


def context_status(
    values: Mapping[str, Any],
    settings: CompressionSettings | None = None,
    counter: Count | None = None,
) -> ContextStatus:
    """The status of a thread from its state.

    Args:
        values: `graph.get_state(config).values`; may be empty.
        settings: The settings in force for the thread.
        counter: The counter the graph was built with, if it has one of its own.
    """
    settings = settings or CompressionSettings()
    pressure = values.get("context_pressure") or {}
    count = MessageCounter(counter) if counter else _profile(settings, pressure)
    messages = values.get("messages") or []
    applied = applied_event(values.get("_summarization_event"), messages)
    tokens = count.messages(plain_view(messages, applied))
    parts = {name: _known(pressure.get(name)) for name in ("system", "tools")}
    known = tokens + sum(part for part in parts.values() if part is not None)
    ratio = known / settings.threshold
    return ContextStatus(
        tokens=known,
        threshold=settings.threshold,
        ratio=ratio if math.isfinite(ratio) else 0.0,
        messages=tokens,
        system=parts["system"],
        tools=parts["tools"],
        unknown=tuple(name for name, part in parts.items() if part is None),
        suggest_compression=ratio >= settings.suggestion_ratio,
        token_usage=values.get("token_usage") or {},
        summary_token_usage=values.get("summary_token_usage") or {},
    )


def _profile(settings: CompressionSettings, pressure: Mapping[str, Any]) -> MessageCounter:
    """The estimate of the settings; for auto the one that the last request was counted by."""
    profile = settings.token_profile
    if profile == "auto":
        profile = pressure.get("profile") or "default"
    return profile_counter(profile)


def _known(part: Any) -> int | None:
    return part if isinstance(part, int) and part >= 0 else None
