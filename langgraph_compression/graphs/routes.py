"""The conditional edges, as pure functions of the state.

They return the labels that stand at the edges of the drawn graph.
"""

from collections.abc import Mapping
from typing import Any, Final

REACHED: Final = "threshold reached or forced"
BELOW: Final = "below threshold"
OVERFLOW: Final = "context overflow"
ANSWER: Final = "chat"
DONE: Final = "compress now"

State = Mapping[str, Any]


def after_count(state: State) -> str:
    """Behind `measure` and `recount`: compress further, or ask the model?

    >>> after_count({"context_pressure": {"total": 10, "threshold": 11}, "_request": {}})
    'below threshold'
    >>> after_count({"context_pressure": {"total": 11, "threshold": 11}, "_request": {}})
    'threshold reached or forced'
    """
    if _request(state).get("forced"):
        return REACHED
    pressure = state.get("context_pressure") or {}
    reached = (pressure.get("total") or 0) >= pressure.get("threshold", 1)
    return REACHED if reached else BELOW


def after_summarize(state: State) -> str:
    """Behind `summarize`: ask the model, or end if the thread was to be compressed only.

    Compress now leaves no request behind.
    """
    return ANSWER if "messages" in _request(state) else DONE


def overflowed(state: State) -> bool:
    """Behind `model`: whether the provider refused the request and it is tried again."""
    return "refusal" in _request(state)


def _request(state: State) -> Mapping[str, Any]:
    return state.get("_request") or {}
