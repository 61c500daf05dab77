"""Whose files: one workdir for each conversation."""

import hashlib
import os
import uuid
from collections.abc import Callable
from pathlib import Path
from weakref import WeakKeyDictionary

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import get_runtime

from langgraph_compression.workdir.workdir import Workdir

HOME_VARIABLE = "LANGGRAPH_COMPRESSION_HOME"
HOME = ".langgraph-compression"
"""Folder of all conversations, in the current directory unless the variable names another."""


def workdir_for(
    given: Workdir | Callable[[RunnableConfig], Workdir] | None, config: RunnableConfig
) -> Workdir:
    """The workdir of the conversation that a run belongs to.

    Args:
        given: A workdir, used as it is; a function of the run's config; None for a local
            folder named by a hash of the thread id, a fresh one for a run without thread.
            Subagents run under the thread id of their root and share its folder.
        config: The run's config.
    """
    if isinstance(given, Workdir):
        return given
    if given is not None:
        return given(config)
    configurable = config.get("configurable") or {}
    thread = configurable.get("thread_id")
    key = f"thread:{thread}" if thread else f"run:{_run_name()}"
    name = hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()[:32]
    home = os.environ.get(HOME_VARIABLE) or HOME
    return Workdir(Path(home) / name)


_runs: WeakKeyDictionary[object, str] = WeakKeyDictionary()


def _run_name() -> str:
    """A fresh name for the run that calls, the same in each of its nodes.

    A run without thread has no id in process; its stream writer is made for it alone.
    """
    try:
        writer = get_runtime().stream_writer
    except (RuntimeError, KeyError):
        return uuid.uuid4().hex
    if "<locals>" not in writer.__qualname__:  # shared by runs: better apart than mixed
        return uuid.uuid4().hex
    return _runs.setdefault(writer, uuid.uuid4().hex)
