"""Errors of stores, whose clients raise in ways of their own, as errors of the workdir."""

import errno
import os
from collections.abc import Callable
from typing import NoReturn, TypeVar

from langgraph_compression.errors import WorkdirError

T = TypeVar("T")


def tried(what: str, form: str, act: Callable[[], T]) -> T:
    """Do something with a store.

    Args:
        what: What is done, as in "cannot read …".
        form: The path, as the model knows it.
        act: Does it.

    Raises:
        WorkdirError: It failed, in whatever way.
    """
    try:
        return act()
    except WorkdirError:
        raise
    except UnicodeDecodeError:
        raise WorkdirError(f"{form} is no UTF-8 text") from None
    except Exception as error:
        _refuse(what, form, error)


def _refuse(what: str, form: str, error: Exception) -> NoReturn:
    """An error that names the path the model knows, never one of the host."""
    if isinstance(error, FileNotFoundError):
        if what == "read":
            raise WorkdirError(f"there is no file {form}") from None
        error = OSError(errno.ENOENT, "")  # the workdir itself: no bucket, say
    reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else ""
    raise WorkdirError(f"cannot {what} {form}: {reason or type(error).__name__}") from None
