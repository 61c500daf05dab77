"""The contract of gates: one thread, one holder."""

from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Literal, Protocol

from langgraph_compression.errors import CompressionError

Reason = Literal["running", "waiting", "queued"]
"""Why a thread is busy: a turn runs, it waits for a person, or turns stand in its queue."""


class ThreadBusy(CompressionError):
    """The thread is in use; nothing was changed.

    Args:
        thread_id: The thread.
        reason: Why.
    """

    def __init__(self, thread_id: str, reason: Reason) -> None:
        super().__init__(f"thread {thread_id!r} is busy ({reason}); try again when it is idle")
        self.thread_id = thread_id
        self.reason: Reason = reason


class Hold(AbstractContextManager[None], AbstractAsyncContextManager[None], Protocol):
    """Holds a thread inside of `with` or `async with`."""


class Gate(Protocol):
    """Lets one holder at a time to a thread."""

    def turn(self, thread_id: str) -> Hold:
        """An ordinary request: waits its turn, first come, first served."""
        ...

    def maintenance(self, thread_id: str) -> Hold:
        """Compress now: refused at once with `ThreadBusy` when the thread is in use."""
        ...
