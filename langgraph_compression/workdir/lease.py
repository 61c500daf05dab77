"""A workdir for a while: opened when it is needed, released at the end on every path."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncContextDecorator,
    ContextDecorator,
    asynccontextmanager,
    contextmanager,
)
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig

from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.scope import default_workdir
from langgraph_compression.workdir.unavailable import NotOpened
from langgraph_compression.workdir.workdir import Workdir

logger = logging.getLogger("langgraph_compression")

T = TypeVar("T")

Sandbox = Workdir | AbstractContextManager[Workdir] | AbstractAsyncContextManager[Workdir]
"""A workdir, or something that is entered for one (a started container, a session) and left
when the work with it is over."""

WorkdirSource = Sandbox | Callable[[RunnableConfig], Sandbox]
"""A workdir or sandbox, used as it is, or a function of the run's config that returns one."""


_DECORATORS = (ContextDecorator, AsyncContextDecorator)
"""What `contextlib.contextmanager` and its async form make is one of these, with a `gen`."""


class Lease:
    """The workdir of one piece of work.

    Opened once, when it is first asked for. Async, a blocking function or context manager
    runs in a thread, an async context manager in a task of its own: a cancellation reaches
    neither in the middle, and what is bound to its task stays in it.

    Args:
        source: What the host gave; None for a local folder of the thread.
        config: The run's config.
    """

    def __init__(self, source: WorkdirSource | None, config: RunnableConfig) -> None:
        self._source = source
        self._config = config
        self._workdir: Workdir | None = None
        self._entered: AbstractContextManager[Any] | _Kept | None = None

    @property
    def held(self) -> bool:
        """Whether there is something to release."""
        return self._entered is not None

    def open(self) -> Workdir:
        """The workdir.

        Raises:
            NotOpened: The host's function or sandbox raised.
            WorkdirError: They gave something else than a workdir, or can only be awaited.
        """
        if self._workdir is None:
            found = self._found()
            if not _enters(found, "__enter__"):
                if _enters(found, "__aenter__"):
                    raise WorkdirError(
                        f"the workdir is an async context manager ({type(found).__name__}): call "
                        "the graph with ainvoke or astream, and compress with acompress_thread"
                    )
                self._workdir = _a_workdir(found)
            else:
                self._workdir = _a_workdir(self._enter(found))
        return self._workdir

    async def aopen(self) -> Workdir:
        """`open` for an event loop."""
        if self._workdir is None:
            found = await asyncio.to_thread(self._found)
            if _enters(found, "__aenter__"):
                self._entered = kept = _Kept(found)
                try:
                    value = await kept.entered()
                except Exception as error:
                    self._entered = None
                    raise NotOpened(type(error).__name__) from error
                self._workdir = _a_workdir(value)
            elif _enters(found, "__enter__"):
                self._workdir = _a_workdir(await to_the_end(asyncio.to_thread(self._enter, found)))
            else:
                self._workdir = _a_workdir(found)
        return self._workdir

    def release(self, error: BaseException | None = None) -> None:
        """Leave what was entered; a failure is logged and hides nothing.

        Args:
            error: What the work ended with. A context manager cannot suppress it.
        """
        entered, self._entered, self._workdir = self._entered, None, None
        try:
            if isinstance(entered, _Kept):
                entered.leave(error)  # its task goes on by itself
            elif entered is not None:
                entered.__exit__(type(error) if error else None, error, _traceback(error))
        except Exception as failure:
            _log(failure, error)

    async def arelease(self, error: BaseException | None = None) -> None:
        """`release` for an event loop; over when this returns, also when it was cancelled."""
        if isinstance(self._entered, _Kept):
            kept, self._entered, self._workdir = self._entered, None, None
            kept.leave(error)
            await to_the_end(kept.left())
        elif self.held:
            await to_the_end(asyncio.to_thread(self.release, error))

    def _found(self) -> Any:
        """What the host gives for this run, not entered yet."""
        source: Any = self._source
        if source is None:
            return default_workdir(self._config)
        if isinstance(source, Workdir):
            return source
        if _enters(source, "__enter__") or _enters(source, "__aenter__"):
            if isinstance(source, _DECORATORS) and hasattr(source, "gen"):
                raise WorkdirError(
                    "this context manager can be entered only once: give the function that "
                    "makes it, as workdir=sandbox instead of workdir=sandbox(…)"
                )
            return source
        if not callable(source):
            return _a_workdir(source)
        try:
            return source(self._config)
        except Exception as error:
            raise NotOpened(type(error).__name__) from error

    def _enter(self, manager: AbstractContextManager[Any]) -> Any:
        try:
            value = manager.__enter__()
        except Exception as error:
            raise NotOpened(type(error).__name__) from error
        self._entered = manager
        return value


@contextmanager
def opened(source: WorkdirSource | None, config: RunnableConfig) -> Iterator[Workdir]:
    """The workdir of the conversation that a run belongs to, released at the end.

    Args:
        source: What the host gave; None for a local folder of the thread.
        config: The run's config.

    Raises:
        WorkdirError: As `Lease.open`.
    """
    lease, failure = Lease(source, config), None
    try:
        yield lease.open()
    except BaseException as error:
        failure = error
        raise
    finally:
        lease.release(failure)


@asynccontextmanager
async def aopened(source: WorkdirSource | None, config: RunnableConfig) -> AsyncIterator[Workdir]:
    """`opened` for an event loop."""
    lease, failure = Lease(source, config), None
    try:
        yield await lease.aopen()
    except BaseException as error:
        failure = error
        raise
    finally:
        await lease.arelease(failure)


async def to_the_end(work: Awaitable[T]) -> T:
    """Await what must not be torn apart: a cancellation is raised when it is over."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # seen
        raise cancelled
    return task.result()


class _Kept:
    """An async context manager that is entered and left by one task of its own."""

    def __init__(self, manager: AbstractAsyncContextManager[Any]) -> None:
        loop = asyncio.get_running_loop()
        self._value: asyncio.Future[Any] = loop.create_future()
        self._over: asyncio.Future[BaseException | None] = loop.create_future()
        self._task = loop.create_task(self._keep(manager))

    async def _keep(self, manager: AbstractAsyncContextManager[Any]) -> None:
        self._value.set_result(await manager.__aenter__())
        error: BaseException | None
        try:
            error = await self._over
        except asyncio.CancelledError as stopped:  # the event loop ends
            error = stopped
        try:
            await manager.__aexit__(type(error) if error else None, error, _traceback(error))
        except (Exception, asyncio.CancelledError) as failure:
            _log(failure, error)

    async def entered(self) -> Any:
        """What entering gave; a cancellation reaches it."""
        try:
            await self._settled()
        except asyncio.CancelledError:
            if not self._value.done():
                self._task.cancel()
                await to_the_end(self._settled())
            raise
        return self._value.result() if self._value.done() else self._task.result()

    def leave(self, error: BaseException | None) -> None:
        """Let the task leave it."""
        if not self._over.done():
            self._over.set_result(error)

    async def left(self) -> None:
        """Wait until it is left."""
        await asyncio.wait({self._task})
        if not self._task.cancelled():
            self._task.exception()  # seen

    async def _settled(self) -> None:
        await asyncio.wait({self._task, self._value}, return_when=asyncio.FIRST_COMPLETED)


def _enters(value: object, method: str) -> bool:
    return hasattr(type(value), method) and not isinstance(value, type)


def _a_workdir(value: Any) -> Workdir:
    if not isinstance(value, Workdir):
        raise WorkdirError(
            f"the workdir function or context manager returned {type(value).__name__}, not a "
            "Workdir: wrap a folder or URL as Workdir(...)"
        )
    return value


def _traceback(error: BaseException | None) -> Any:
    return error.__traceback__ if error else None


def _log(failure: BaseException, error: BaseException | None) -> None:
    if failure is not error:  # a context manager may raise again what it was given
        logger.warning("workdir not released: %s", type(failure).__name__)
