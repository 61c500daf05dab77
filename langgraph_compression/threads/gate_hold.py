"""Entering and leaving a gate: the only place where sync and async differ."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING

from langgraph_compression.errors import CompressionError
from langgraph_compression.threads.gate import ThreadBusy

if TYPE_CHECKING:
    from langgraph_compression.threads.gate_place import PlaceGate

logger = logging.getLogger(__name__)

_inside: ContextVar[tuple["PlaceHold", ...]] = ContextVar("_inside", default=())
"""Holds that code around this one has entered; some may be over."""


class PlaceHold:
    """Waits for a place at a gate, holds it, and gives it up; good for one time."""

    def __init__(
        self, gate: "PlaceGate", thread_id: str, timeout: float | None, *, maintenance: bool
    ) -> None:
        self._gate = gate
        self._thread_id = thread_id
        self._timeout = timeout
        self._maintenance = maintenance
        self._place = gate.place(thread_id, maintenance=maintenance)
        # A cancelled task may leave while its question is still on the way in the worker.
        self._one_call = threading.Lock()
        self._left = False
        self._caller: object = None
        self._deadline: float | None = None

    def __enter__(self) -> None:
        """Wait and hold, in this OS thread."""
        wake = threading.Event()
        self._begin(wake.set)
        try:
            while not self._ask():
                pause = self._pause()
                _refuse_to_block_a_loop(self._thread_id)
                wake.wait(pause)
                wake.clear()
        except BaseException:
            self._leave()
            raise
        self._remember()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Release, whatever happened."""
        self._forget()
        self._leave()

    async def __aenter__(self) -> None:
        """Wait and hold, without blocking the event loop."""
        loop = asyncio.get_running_loop()
        wake = asyncio.Event()
        self._begin(partial(loop.call_soon_threadsafe, wake.set))
        worker = self._gate.worker()
        try:
            while not (await loop.run_in_executor(worker, self._ask) if worker else self._ask()):
                pause = self._pause()
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await wake.wait()
                wake.clear()
        except BaseException as error:
            await self._aleave(error)
            raise
        self._remember()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Release, whatever happened; when cancelled meanwhile, it is done all the same."""
        self._forget()
        await self._aleave(error)

    def _begin(self, wake: Callable[[], object]) -> None:
        if self._caller is not None:
            raise CompressionError("this hold was used before: ask the gate for another one")
        self._caller = _caller()
        self._pid = os.getpid()
        self._place.wake = wake
        if self._timeout is not None:
            self._deadline = time.monotonic() + self._timeout
        if not self._maintenance and any(self._waits_for(other) for other in _inside.get()):
            raise CompressionError(
                f"a turn of thread {self._thread_id!r} inside its own turn would wait for "
                "itself: take the turn once, outside"
            )

    def _waits_for(self, other: "PlaceHold") -> bool:
        return (
            not other._left
            and other._gate is self._gate
            and other._thread_id == self._thread_id
            and other._caller == self._caller
        )

    def _ask(self) -> bool:
        with self._one_call:
            return not self._left and self._place.enter()

    def _pause(self) -> float | None:
        """Seconds until the next question; None = until woken."""
        pause = self._place.pause
        if self._deadline is None:
            return pause
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise ThreadBusy(self._thread_id, "running")
        return left if pause is None else min(pause, left)

    def _leave(self) -> None:
        with self._one_call:
            self._left = True
            # What a forked child inherited is still held by its parent.
            if os.getpid() != self._pid:
                return
            try:
                self._place.leave()
            except Exception:
                logger.warning("thread %r could not be released", self._thread_id, exc_info=True)

    async def _aleave(self, error: BaseException | None) -> None:
        if not self._gate.blocks:
            self._leave()
            return
        # In an OS thread of its own: it is done whatever happens to this task, and waits for
        # nobody who waits at the gate.
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()

        def leave() -> None:
            self._leave()
            done.set_result(None)

        threading.Thread(target=leave, name="gate-leave").start()
        # A coroutine that is being closed must not wait any more.
        if not isinstance(error, GeneratorExit):
            await asyncio.wrap_future(done)

    def _remember(self) -> None:
        _inside.set((*(hold for hold in _inside.get() if not hold._left), self))

    def _forget(self) -> None:
        # No token: a web framework may leave in another context than it entered in.
        _inside.set(tuple(hold for hold in _inside.get() if not hold._left and hold is not self))


def _caller() -> object:
    """The task, or the OS thread outside of tasks."""
    return _current_task() or threading.get_ident()


def _current_task() -> object:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _refuse_to_block_a_loop(thread_id: str) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise CompressionError(
        f"waiting for thread {thread_id!r} would block the event loop: use async with"
    )
