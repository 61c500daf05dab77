"""One piece of logic for sync and async: a node's steps yield what waits, a driver waits.

The steps of a node are a generator. Where it would block (a model, a file) it yields a `Do`
and gets the result, or the exception, back at that place. `run` and `arun` are the only
places where sync and async differ. Every exception comes back, also a cancellation or Ctrl-C,
so that a `finally` of the steps can still wait for something: a release.
"""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from langgraph_compression.workdir.lease import to_the_end

T = TypeVar("T")


@dataclass(frozen=True)
class Do:
    """Something that may block, in both colours."""

    sync: Callable[[], Any]
    asynchronous: Callable[[], Awaitable[Any]]


Steps = Generator[Do, Any, T]
"""Logic that yields what it waits for and returns a `T`."""


def in_thread(function: Callable[..., T], *args: Any) -> Do:
    """A blocking call (files, imports): in a thread where there is an event loop.

    A cancellation waits for the call: nothing is written after the workdir was released.
    """
    return Do(lambda: function(*args), lambda: to_the_end(asyncio.to_thread(function, *args)))


def run(steps: Steps[T]) -> T:
    """Drive the steps, blocking."""
    try:
        wanted = next(steps)
        while True:
            try:
                result = wanted.sync()
            except BaseException as error:
                wanted = steps.throw(error)
            else:
                wanted = steps.send(result)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        steps.close()


async def arun(steps: Steps[T]) -> T:
    """Drive the steps on an event loop; nothing blocks it."""
    try:
        wanted = next(steps)
        while True:
            try:
                result = await wanted.asynchronous()
            except GeneratorExit:  # nobody waits any more; the steps are closed below
                raise
            except BaseException as error:
                wanted = steps.throw(error)
            else:
                wanted = steps.send(result)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        steps.close()
