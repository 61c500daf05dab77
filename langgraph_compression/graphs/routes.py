"""The conditional edges, as pure functions of the state.

They return the labels that stand at the edges of the drawn graph.
"""

from typing import Final

from langgraph_compression.state.request import parts_of
from langgraph_compression.state.schema import RouteState

REACHED: Final = "threshold reached or forced"
BELOW: Final = "below threshold"
OVERFLOW: Final = "context overflow"
ANSWER: Final = "chat"
DONE: Final = "compress now"


def after_count(state: RouteState) -> str:
    """Behind `measure` and `recount`: compress further, or ask the model?

    >>> after_count({"context_pressure": {"total": 10, "threshold": 11}})
    'below threshold'
    >>> after_count({"context_pressure": {"total": 11, "threshold": 11}})
    'threshold reached or forced'
    """
    if parts_of(state).get("forced"):
        return REACHED
    pressure = state.get("context_pressure")
    reached = pressure is not None and (pressure["total"] or 0) >= pressure["threshold"]
    return REACHED if reached else BELOW


def after_summarize(state: RouteState) -> str:
    """Behind `summarize`: ask the model, or end if the thread was to be compressed only.

    Compress now leaves no request behind.
    """
    return ANSWER if "messages" in parts_of(state) else DONE


def overflowed(state: RouteState) -> bool:
    """Behind `model`: whether the provider refused the request and it is tried again."""
    return "refusal" in parts_of(state)
