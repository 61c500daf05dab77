"""Whose files: one workdir for each conversation."""

import hashlib
import os
import uuid
from collections import OrderedDict
from pathlib import Path
from threading import Lock

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import RunControl, get_runtime

from langgraph_compression.workdir.workdir import Workdir

HOME_VARIABLE = "LANGGRAPH_COMPRESSION_HOME"
HOME = ".langgraph-compression"
"""Folder of all conversations, in the current directory unless the variable names another."""


def default_workdir(config: RunnableConfig) -> Workdir:
    """The workdir of the conversation that a run belongs to, where the host gave none.

    A local folder named by a hash of the thread id, a fresh one for a run without thread.
    Subagents run under the thread id of their root and share its folder.

    Args:
        config: The run's config.
    """
    thread = (config.get("configurable") or {}).get("thread_id")
    key = f"run:{_run_name()}" if thread is None else f"thread:{thread}"
    name = hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()[:32]
    home = os.environ.get(HOME_VARIABLE) or HOME
    return Workdir(Path(home) / name)


_REMEMBERED = 4096
_runs: OrderedDict[int, tuple[RunControl, str]] = OrderedDict()
"""id of a run's control → (the control, so that its id stays taken; the run's name)."""
_runs_lock = Lock()


def _run_name() -> str:
    """A fresh name for the run that calls, the same in its nodes, tools and subgraphs.

    A run without thread has no id in process. Its control is made for it alone and handed
    down to nested graphs. It takes no weak reference, so the last few thousand are kept.
    """
    try:
        control = get_runtime().control
    except (RuntimeError, KeyError):
        control = None
    if control is None:
        return uuid.uuid4().hex
    with _runs_lock:
        _, name = _runs.setdefault(id(control), (control, uuid.uuid4().hex))
        _runs.move_to_end(id(control))
        if len(_runs) > _REMEMBERED:
            _runs.popitem(last=False)
    return name
