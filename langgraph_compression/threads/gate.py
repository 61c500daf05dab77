"""The contract of gates: one thread, one holder."""

from collections.abc import Sequence
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
        resumable_at: The nodes at which a waiting thread goes on when it is resumed.
        forceable: A request failed there or was cancelled; `force` compresses the thread all
            the same.

    >>> print(ThreadBusy("t-1", "running"))
    thread 't-1' is busy (running); try again when it is idle
    """

    def __init__(
        self,
        thread_id: str,
        reason: Reason,
        resumable_at: Sequence[str] = (),
        forceable: bool = False,
    ) -> None:
        # These are `args`, so that the error can be pickled to another process.
        super().__init__(thread_id, reason, tuple(resumable_at), forceable)
        self.thread_id = thread_id
        self.reason: Reason = reason
        self.resumable_at = tuple(resumable_at)
        self.forceable = forceable

    def __str__(self) -> str:
        """The message."""
        busy = f"thread {self.thread_id!r} is busy ({self.reason})"
        if not self.resumable_at:
            return f"{busy}; try again when it is idle"
        at = " and ".join(map(repr, dict.fromkeys(self.resumable_at)))
        if self.forceable:
            return (
                f"{busy}: its last request stopped at {at} and can be resumed there. With force it "
                "is compressed all the same and keeps all messages of its state, but that request "
                "can no longer be resumed"
            )
        return (
            f"{busy}: it stands at {at} and can be resumed there. Resume it or send it the next "
            "request, then try again; this is never forced"
        )


class Hold(AbstractContextManager[None], AbstractAsyncContextManager[None], Protocol):
    """Holds a thread inside of `with` or `async with`; good for one time."""


class Gate(Protocol):
    """Lets one holder at a time to a thread; holders of different threads do not meet.

    One gate serves OS threads and any number of event loops at the same time. Inside a
    coroutine use `async with`: it never blocks the event loop. The thread is released on
    success, error and cancellation; a release that fails is logged and hides nothing.

    A turn inside its own turn (the same task, or the same OS thread without a task) would
    wait for itself and raises `CompressionError`. A task or an OS thread that was started
    inside a turn is another caller and stands in the queue: do not wait for it inside.
    """

    def turn(self, thread_id: str, timeout: float | None = None) -> Hold:
        """An ordinary request: waits its turn, first come, first served.

        Args:
            thread_id: Any string; compared as it is.
            timeout: Seconds to wait; 0 = not at all, None = as long as it takes.

        Raises:
            ThreadBusy: On entering, when the time is over.
            CompressionError: On entering, when it would wait for itself or block an event loop.
        """
        ...

    def maintenance(self, thread_id: str) -> Hold:
        """Compress now: refused at once, or turns wait until it is over.

        Args:
            thread_id: Any string; compared as it is.

        Raises:
            ThreadBusy: On entering: "queued" when turns wait in the queue, else "running" when
                somebody holds the thread. That it waits for a person ("waiting") is for the
                caller to find out from the state while holding the thread.
        """
        ...
