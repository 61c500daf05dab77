"""File tools over the workdir, so that a model can work with files and read saved ones back."""

import asyncio
import os
from collections.abc import Callable
from functools import wraps
from itertools import accumulate
from threading import Lock
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import ValidationError

from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.lease import WorkdirSource, aopened, opened, to_the_end
from langgraph_compression.workdir.paths import checked, is_addressed
from langgraph_compression.workdir.workdir import Workdir

SLICE = 4000
"""Characters that one call of `read_file` or `list_files` returns at most: about a thousand
tokens."""

Task = Callable[[Workdir], str]

_locks = [Lock() for _ in range(64)]
"""A model may edit one file twice in one message; tools of a message run at the same time."""


def file_tools(
    workdir: WorkdirSource | None = None,
) -> list[BaseTool]:
    """The tools `read_file`, `write_file`, `edit_file` and `list_files`.

    Errors come back as text for the model. Archived files (`outputs/large_tool_results/`,
    `outputs/conversation_history/`) can be read, not changed.

    Args:
        workdir: As in `create_compression_graph`; a sandbox is entered for each call of a tool.
    """
    # Each returns what is to be done with the files, once they are open.

    def read_file(
        path: Annotated[str, "Path in the workdir, such as outputs/large_tool_results/x.txt"],
        config: RunnableConfig,
        offset: Annotated[int, "Characters to skip"] = 0,
        limit: Annotated[int, f"Characters to read, at most {SLICE}"] = SLICE,
    ) -> Task:
        """Read part of a file. Long files are read in several calls with growing offset."""
        offset, limit = max(0, offset), max(1, min(limit, SLICE))

        def task(files: Workdir) -> str:
            part = files.read_slice(path, offset, limit)
            upto = offset + len(part.text)
            if part.end:
                where = f"characters {offset} to {upto}, the end of the file"
            else:
                where = f"characters {offset} to {upto}; go on with offset={upto}"
            return f"[{checked(path)}: {where}]\n{part.text}"

        return task

    def write_file(
        path: Annotated[str, "Path in the workdir"],
        content: Annotated[str, "The whole text of the file"],
        config: RunnableConfig,
    ) -> Task:
        """Write a text file, new or in place of an old one."""
        form = _changeable(path)

        def task(files: Workdir) -> str:
            with _alone(config, form):
                files.write_text(form, _encodable(content))
            return f"Wrote {len(content)} characters to {form}."

        return task

    def edit_file(
        path: Annotated[str, "Path in the workdir"],
        old_text: Annotated[str, "Text that stands exactly once in the file"],
        new_text: Annotated[str, "Text to put in its place"],
        config: RunnableConfig,
    ) -> Task:
        """Replace a piece of a file that occurs exactly once."""
        form = _changeable(path)

        def task(files: Workdir) -> str:
            with _alone(config, form):
                text = files.read_text(form)
                found = _count(text, old_text)
                if found != 1:
                    raise WorkdirError(
                        f"old_text stands {found} times in {form}, it must stand once"
                    )
                files.write_text(form, _encodable(text.replace(old_text, new_text)))
            return f"Edited {form}."

        return task

    def list_files(
        config: RunnableConfig,
        folder: Annotated[str, "Folder in the workdir; all files if empty"] = "",
    ) -> Task:
        """List the files of the workdir."""

        def task(files: Workdir) -> str:
            found = files.list(folder)
            if not found:
                return "There are no files."
            ends = accumulate(len(path) + 1 for path in found)
            shown = sum(1 for end in ends if end <= SLICE)
            more = [f"[{len(found) - shown} more; name a folder]"] if shown < len(found) else []
            return "\n".join([*found[:shown], *more])

        return task

    return [_tool(function, workdir) for function in (read_file, write_file, edit_file, list_files)]


def _tool(function: Callable[..., Task], workdir: WorkdirSource | None) -> BaseTool:
    """Sync and async, with errors as text: nothing blocks the event loop."""

    @wraps(function)  # its signature is the schema
    def sync(*args: Any, config: RunnableConfig, **kwargs: Any) -> str:
        try:
            task = function(*args, config=config, **kwargs)
            with opened(workdir, config) as files:
                return task(files)
        except (WorkdirError, OSError) as error:
            return _failed(error)

    @wraps(function)
    async def asynchronous(*args: Any, config: RunnableConfig, **kwargs: Any) -> str:
        try:
            task = function(*args, config=config, **kwargs)
            async with aopened(workdir, config) as files:
                return await to_the_end(asyncio.to_thread(task, files))
        except (WorkdirError, OSError) as error:
            return _failed(error)

    return StructuredTool.from_function(sync, asynchronous, handle_validation_error=_told)


def _failed(error: WorkdirError | OSError) -> str:
    """What the model is told."""
    if isinstance(error, WorkdirError):
        return f"Error: {error}"
    # Of a subclass; its text may name a path of the host.
    return f"Error: {os.strerror(error.errno) if error.errno else type(error).__name__}"


def _told(error: ValueError) -> str:
    """Which arguments are wrong, without repeating them."""
    found = error.errors() if isinstance(error, ValidationError) else []
    wrong = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found)
    return "Error: " + ("; ".join(wrong) or "wrong arguments")


def _alone(config: RunnableConfig, form: str) -> Lock:
    """Held while a file of a conversation is changed in this process."""
    thread = (config.get("configurable") or {}).get("thread_id")
    return _locks[hash((thread, form)) % len(_locks)]


def _count(text: str, piece: str) -> int:
    """How often a piece stands in a text, overlapping ones too."""
    if not piece:
        return 0
    found, at = 0, text.find(piece)
    while at >= 0:
        found, at = found + 1, text.find(piece, at + 1)
    return found


def _changeable(path: str) -> str:
    form = checked(path)
    if is_addressed(form):
        raise WorkdirError(f"{form} is archived: it can be read, not changed")
    return form


def _encodable(text: str) -> str:
    """Halves of surrogate pairs escaped, as everywhere in saved files."""
    return text.encode("utf-8", "backslashreplace").decode()
