"""Where a thread stands on which no request runs: what a compression would destroy."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from langgraph_compression.threads.gate import ThreadBusy

RUN_KIND = {"kind": "context_compression"}
"""Metadata of a compression's run, and so of its checkpoints."""

OF_RUNS = ("loop", "input")
"""Sources of checkpoints that a run makes, as LangGraph names them."""


class Stop(NamedTuple):
    """A request that did not come to its end, and can be resumed."""

    at: tuple[str, ...]
    """The nodes that come next."""
    why: Literal["asked", "failed", "broken off", "paused"]
    """At an interrupt; a node raised; neither is recorded, and the graph has no breakpoint that
    would explain it: its request was cancelled or its process died; or it has one."""

    @property
    def forceable(self) -> bool:
        """Whether nobody is waited for, so that the request may be given up."""
        return self.why in ("failed", "broken off")

    def busy(self, thread_id: str) -> ThreadBusy:
        """The error for whoever wants to compress the thread."""
        return ThreadBusy(thread_id, "waiting", self.at, forceable=self.forceable)


def stop_of(
    following: Sequence[str], *, asks: bool, failed: bool, metadata: Mapping[str, Any] | None
) -> Stop | None:
    """Where a request stopped; None for a thread that is at its end.

    Args:
        following: The nodes that come next in its state.
        asks: An interrupt is open.
        failed: A node's error is recorded.
        metadata: That of its checkpoint.

    >>> stop_of(["tools"], asks=False, failed=True, metadata={"source": "loop"})
    Stop(at=('tools',), why='failed')
    >>> stop_of(["summarize"], asks=False, failed=True, metadata={"kind": "context_compression"})
    """
    if asks:
        return Stop(tuple(following), "asked")
    if not following or (metadata or {}).get("kind") == RUN_KIND["kind"]:
        return None  # at its end, or a compression broke off: nobody resumes that
    return Stop(tuple(following), "failed" if failed else "paused")


def may_be_filled(stop: Stop, metadata: Mapping[str, Any] | None) -> bool:
    """Whether `update_state` wrote last: without any checkpoint of a run, nothing stopped."""
    return stop.why == "paused" and (metadata or {}).get("source") == "update"
