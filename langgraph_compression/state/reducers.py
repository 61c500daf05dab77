"""Reducers: pure functions from (old value, write) to the channel's next value."""

from collections.abc import Mapping
from typing import Any


def latest(old: Any, new: Any) -> Any:
    """The newest write: two nodes of one step may write, where a host fans out."""
    return new


def latest_event(old: Any, new: Any) -> Any:
    """The event that stands after a write.

    None resets. A write that is no event changes nothing; so does one that covers no more
    messages than the event that stands, unless it says that it `replaces` just that event
    (whose messages are gone). Events of older shapes pass.

    >>> latest_event({"cutoff_index": 3}, {"cutoff_index": 1})
    {'cutoff_index': 3}
    >>> latest_event({"cutoff_index": 3}, {"cutoff_index": 1, "replaces": 3})
    {'cutoff_index': 1, 'replaces': 3}
    """
    if new is None:
        return None
    reached, offered = cutoff_of(old), cutoff_of(new)
    if offered is None:
        return old
    if reached is None or offered > reached or new.get("replaces") == reached:
        return new
    return old


def cutoff_of(event: Any) -> int | None:
    """The cutoff that an event claims, None if it is not the shape of an event."""
    if not isinstance(event, Mapping):
        return None
    cutoff = event.get("cutoff_index")
    if not isinstance(cutoff, int) or isinstance(cutoff, bool):
        return None
    return cutoff


def add_usage(old: Any, new: Any) -> dict[str, Any]:
    """Sum two usages, number by number, at any depth.

    >>> add_usage({"m": {"input_tokens": 2}}, {"m": {"input_tokens": 3, "output_tokens": 1}})
    {'m': {'input_tokens': 5, 'output_tokens': 1}}
    """
    total = dict(old) if isinstance(old, Mapping) else {}
    for key, value in (new if isinstance(new, Mapping) else {}).items():
        if isinstance(value, Mapping):
            total[key] = add_usage(total.get(key), value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seen = total.get(key, 0)
            total[key] = value + (seen if isinstance(seen, int | float) else 0)
    return total
