"""What a store does for one request at a gate, and how a gate is made of it."""

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from hashlib import sha256
from typing import ClassVar, Generic, TypeVar

from langgraph_compression.errors import CompressionError
from langgraph_compression.threads.gate_hold import PlaceHold

T = TypeVar("T")

FIRST_PAUSE = 0.01
"""Seconds between two questions of the first in the queue, when it has just come."""
LONGEST_PAUSE = 0.25
"""Seconds. Short enough for a person, long enough for a database with many who wait."""
PAUSE_OF_WAIT = 0.05
"""The pause grows to this part of the time waited already, so that it is hardly noticed."""


class PlaceGate(ABC):
    """A gate whose store gives out places in the queue of a thread."""

    blocks: ClassVar[bool] = True
    """Whether the store does I/O, so that an event loop asks it through a worker."""

    def __init__(self) -> None:
        # One worker: what an event loop asks first arrives first. Its questions are short.
        self._worker = PerProcess(lambda: ThreadPoolExecutor(1, thread_name_prefix="gate"))

    @abstractmethod
    def place(self, thread_id: str, *, maintenance: bool) -> "Place":
        """A place for one request that has not arrived yet; no I/O."""

    def worker(self) -> Executor | None:
        """Who asks the store for an event loop; None = the event loop itself."""
        return self._worker.get() if self.blocks else None

    def turn(self, thread_id: str, timeout: float | None = None) -> PlaceHold:
        """An ordinary request, see `Gate.turn`."""
        if timeout is not None and not timeout >= 0:
            raise CompressionError(f"timeout is {timeout!r}: give seconds, 0 or more, or None")
        return PlaceHold(self, _checked(thread_id), timeout, maintenance=False)

    def maintenance(self, thread_id: str) -> PlaceHold:
        """Compress now, see `Gate.maintenance`."""
        return PlaceHold(self, _checked(thread_id), None, maintenance=True)


class Place(ABC):
    """One request in the queue of a thread. Its calls never overlap."""

    wake: Callable[[], object]
    """Set before the first `enter`; a store that knows calls it when to ask again."""
    pause: float | None = None
    """Seconds after which to ask again in any case; None = only when woken."""

    @abstractmethod
    def enter(self) -> bool:
        """Stand in the queue, at the first call, and go in if it is this one's turn.

        Returns:
            Whether it holds the thread now; if not, ask again.

        Raises:
            ThreadBusy: It is maintenance, and the thread is in use.
        """

    @abstractmethod
    def leave(self) -> None:
        """Give up the place, inside or in the queue, or before it arrived. Called once."""


class PerProcess(Generic[T]):
    """A value with threads or connections: a forked child makes its own at first use."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._values: dict[int, T] = {}

    def get(self) -> T:
        """The value of this process. What was inherited is kept: closing it is the parent's."""
        with self._lock:
            pid = os.getpid()
            if pid not in self._values:
                self._values[pid] = self._make()
            return self._values[pid]


def thread_key(thread_id: str) -> str:
    r"""A name for a thread that every store can hold: any string has one, 64 hex digits.

    >>> thread_key("t-1")[:8], len(thread_key("\x00\ud800"))
    ('46e9bc34', 64)
    """
    return sha256(thread_id.encode("utf-8", "surrogatepass")).hexdigest()


def next_pause(ahead: int, waited: float) -> float:
    """Seconds until a place asks again, with `ahead` requests before it (the holder, too).

    >>> next_pause(1, 0.0), next_pause(3, 0.0), next_pause(1, 2.0), next_pause(9, 60.0)
    (0.01, 0.03, 0.1, 0.25)
    """
    return min(LONGEST_PAUSE, max(FIRST_PAUSE * ahead, PAUSE_OF_WAIT * waited))


def _checked(thread_id: str) -> str:
    if not isinstance(thread_id, str):
        raise CompressionError(
            f"thread_id is {thread_id!r}, a {type(thread_id).__name__}: give a string"
        )
    return thread_id
