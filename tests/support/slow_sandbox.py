"""A sandbox that takes its time, and work with it that is cancelled meanwhile."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Literal

import pytest

from tests.support.fakes import RecordingWorkdir

WAYS = ["sync", "asynchronous", "stubborn"]

When = Literal["entering", "writing", "leaving", "never"]


class SlowSandbox:
    """What happened to a sandbox, and the ways to enter it."""

    def __init__(self, slow: When) -> None:
        self.files = RecordingWorkdir()
        self.files.fails = lambda path: self._takes_time("writing")
        self.log: list[str] = []
        self.slow: When = slow
        self.began = threading.Event()
        """Set while it takes its time."""
        self._go_on = threading.Event()

    def _takes_time(self, at: When) -> None:
        if self.slow == at:
            self.began.set()
            self._go_on.wait()

    @contextmanager
    def sync(self, config: Any) -> Iterator[RecordingWorkdir]:
        """A blocking one, which nothing stops."""
        self._takes_time("entering")
        self.log.append("enter")
        try:
            yield self.files
        finally:
            self._takes_time("leaving")
            self.log.append("leave")

    @asynccontextmanager
    async def asynchronous(self, config: Any) -> AsyncIterator[RecordingWorkdir]:
        """One whose entering stops where it awaits."""
        await self._awaits()
        self.log.append("enter")
        try:
            yield self.files
        finally:
            await asyncio.to_thread(self._takes_time, "leaving")
            self.log.append("leave")

    @asynccontextmanager
    async def stubborn(self, config: Any) -> AsyncIterator[RecordingWorkdir]:
        """One that is entered in spite of it."""
        with suppress(asyncio.CancelledError):
            await self._awaits()
        self.slow = "never" if self.slow == "entering" else self.slow
        async with self.asynchronous(config) as files:
            yield files

    async def _awaits(self) -> None:
        if self.slow == "entering":
            self.began.set()
            await asyncio.Event().wait()

    @property
    def balanced(self) -> bool:
        """Whether it was left as often as it was entered."""
        return self.log == ["enter", "leave"] * (len(self.log) // 2)

    async def cancelled(
        self, work: Coroutine[Any, Any, Any], began: threading.Event | None = None
    ) -> None:
        """Start the work, cancel it when it began to take its time, and see it end cancelled."""
        task = asyncio.create_task(work)
        await asyncio.to_thread((began or self.began).wait)
        task.cancel()
        await asyncio.sleep(0)
        self._go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        self.slow = "never"
