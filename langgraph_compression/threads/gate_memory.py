"""A gate for one process."""

import threading
from collections import deque
from typing import ClassVar

from langgraph_compression.threads.gate import ThreadBusy
from langgraph_compression.threads.gate_place import Place, PlaceGate


class MemoryGate(PlaceGate):
    """Lets one holder at a time to a thread, within this process.

    Who waits is woken, nothing is polled. Threads that nobody uses cost no memory.

    >>> gate = MemoryGate()
    >>> with gate.turn("t-1"):
    ...     with gate.maintenance("t-1"):
    ...         pass
    Traceback (most recent call last):
    langgraph_compression.threads.gate.ThreadBusy: thread 't-1' is busy (running); try again \
when it is idle
    """

    blocks: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        # Re-entrant: the garbage collector may close a forgotten coroutine at any time, also
        # here, and that coroutine leaves its place.
        self.lock = threading.RLock()
        self.queues: dict[str, deque[_MemoryPlace]] = {}
        """Only of threads in use; the first of a queue holds the thread, or was woken to."""

    def place(self, thread_id: str, *, maintenance: bool) -> "_MemoryPlace":
        """A place in the queue of a thread."""
        return _MemoryPlace(self, thread_id, maintenance)


class _MemoryPlace(Place):
    def __init__(self, gate: MemoryGate, thread_id: str, maintenance: bool) -> None:
        self.gate, self.thread_id, self.maintenance = gate, thread_id, maintenance
        self.arrived = False
        self.inside = False

    def enter(self) -> bool:
        with self.gate.lock:
            queue = self.gate.queues.get(self.thread_id)
            if not self.arrived:
                if queue and self.maintenance:
                    waiting = len(queue) > 1 or not queue[0].inside
                    raise ThreadBusy(self.thread_id, "queued" if waiting else "running")
                queue = self.gate.queues.setdefault(self.thread_id, deque())
                queue.append(self)
                self.arrived = True
            self.inside = queue is not None and queue[0] is self
            return self.inside

    def leave(self) -> None:
        with self.gate.lock:
            queue = self.gate.queues.get(self.thread_id)
            if queue is None or self not in queue:
                return
            was_first = queue[0] is self
            queue.remove(self)
            while was_first and queue:
                try:
                    queue[0].wake()
                    return
                except RuntimeError:  # Its event loop is closed: nobody waits there any more.
                    queue.popleft()
            if not queue:
                self.gate.queues.pop(self.thread_id, None)
