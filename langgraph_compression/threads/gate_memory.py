"""A gate for one process: a first version."""

import asyncio
import threading
from types import TracebackType

from langgraph_compression.threads.gate import ThreadBusy


class MemoryGate:
    """Lets one holder at a time to a thread, within this process."""

    def __init__(self) -> None:
        self._locks: dict[str, threading.Lock] = {}

    def turn(self, thread_id: str) -> "_Hold":
        """An ordinary request: waits its turn."""
        return _Hold(self, thread_id, wait=True)

    def maintenance(self, thread_id: str) -> "_Hold":
        """Compress now: refused with `ThreadBusy` when the thread is in use."""
        return _Hold(self, thread_id, wait=False)


class _Hold:
    def __init__(self, gate: MemoryGate, thread_id: str, *, wait: bool) -> None:
        self.lock = gate._locks.setdefault(thread_id, threading.Lock())
        self.thread_id, self.wait = thread_id, wait

    def __enter__(self) -> None:
        if not self.lock.acquire(blocking=self.wait):
            raise ThreadBusy(self.thread_id, "running")

    def __exit__(self, *_: object) -> None:
        self.lock.release()

    async def __aenter__(self) -> None:
        while not self.lock.acquire(blocking=False):
            if not self.wait:
                raise ThreadBusy(self.thread_id, "running")
            await asyncio.sleep(0.01)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.lock.release()
