"""File tools over the workdir, so that a model can work with files and read saved ones back."""

import asyncio
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool

from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.paths import ADDRESSED, checked
from langgraph_compression.workdir.scope import workdir_for
from langgraph_compression.workdir.workdir import Workdir

SLICE = 4000
"""Characters that one call of `read_file` returns at most: about a thousand tokens."""

LISTED = 200
"""Files that one call of `list_files` names at most."""


def file_tools(
    workdir: Workdir | Callable[[RunnableConfig], Workdir] | None = None,
) -> list[BaseTool]:
    """The tools `read_file`, `write_file`, `edit_file` and `list_files`.

    Errors come back as text for the model. Archived files (`outputs/large_tool_results/`,
    `outputs/conversation_history/`) can be read, not changed.

    Args:
        workdir: As in `create_compression_graph`.
    """

    def read_file(
        path: Annotated[str, "Path in the workdir, such as outputs/large_tool_results/x.txt"],
        config: RunnableConfig,
        offset: Annotated[int, "Characters to skip"] = 0,
        limit: Annotated[int, f"Characters to read, at most {SLICE}"] = SLICE,
    ) -> str:
        """Read part of a file. Long files are read in several calls with growing offset."""
        offset, limit = max(0, offset), max(1, min(limit, SLICE))
        part = workdir_for(workdir, config).read_slice(path, offset, limit)
        upto = offset + len(part.text)
        if part.end:
            where = f"characters {offset} to {upto}, the end of the file"
        else:
            where = f"characters {offset} to {upto}; go on with offset={upto}"
        return f"[{checked(path)}: {where}]\n{part.text}"

    def write_file(
        path: Annotated[str, "Path in the workdir"],
        content: Annotated[str, "The whole text of the file"],
        config: RunnableConfig,
    ) -> str:
        """Write a text file, new or in place of an old one."""
        form = _changeable(path)
        workdir_for(workdir, config).write_text(form, _encodable(content))
        return f"Wrote {len(content)} characters to {form}."

    def edit_file(
        path: Annotated[str, "Path in the workdir"],
        old_text: Annotated[str, "Text that stands exactly once in the file"],
        new_text: Annotated[str, "Text to put in its place"],
        config: RunnableConfig,
    ) -> str:
        """Replace a piece of a file that occurs exactly once."""
        form = _changeable(path)
        files = workdir_for(workdir, config)
        text = files.read_text(form)
        found = text.count(old_text) if old_text else 0
        if found != 1:
            raise WorkdirError(f"old_text stands {found} times in {form}, it must stand once")
        files.write_text(form, _encodable(text.replace(old_text, new_text)))
        return f"Edited {form}."

    def list_files(
        config: RunnableConfig,
        folder: Annotated[str, "Folder in the workdir; all files if empty"] = "",
    ) -> str:
        """List the files of the workdir."""
        found = workdir_for(workdir, config).list(folder)
        more = f"\n[{len(found) - LISTED} more; name a folder]" if len(found) > LISTED else ""
        return "\n".join(found[:LISTED]) + more if found else "There are no files."

    return [_tool(function) for function in (read_file, write_file, edit_file, list_files)]


def _tool(function: Callable[..., str]) -> BaseTool:
    """Sync and async, with errors as text: nothing blocks the event loop."""

    @wraps(function)  # its signature is the schema
    def safely(*args: Any, **kwargs: Any) -> str:
        try:
            return function(*args, **kwargs)
        except WorkdirError as error:
            return f"Error: {error}"

    @wraps(function)
    async def in_thread(*args: Any, **kwargs: Any) -> str:
        return await asyncio.to_thread(safely, *args, **kwargs)

    return StructuredTool.from_function(safely, in_thread)


def _changeable(path: str) -> str:
    form = checked(path)
    if form.startswith(ADDRESSED):
        raise WorkdirError(f"{form} is archived: it can be read, not changed")
    return form


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
