"""Which paths a workdir accepts: pure checks of names, before any file system is asked."""

import re

from langgraph_compression.errors import WorkdirError

READ_ONLY = "skills/"
"""Folder that can be read, not written."""

RESULTS = "outputs/large_tool_results/"
HISTORY = "outputs/conversation_history/"
ADDRESSED = (RESULTS, HISTORY)
"""Folders whose files are named by their content and never overwritten with other content."""

_ODD = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|\ud800-\udfff]')
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


def checked(path: str) -> str:
    """The one form of a path: relative, with `/`, no leading slash.

    A leading `/` or `./` is taken for the root of the workdir, as models write it.

    Raises:
        WorkdirError: The path leads out, is empty, or has an odd name in it.

    >>> checked("/outputs/a.txt")
    'outputs/a.txt'
    """
    if not isinstance(path, str):
        raise WorkdirError(f"a path is text, not {type(path).__name__}")
    form = path.removeprefix("./").lstrip("/")
    if not form:
        raise WorkdirError(f"path {_shown(path)} names no file")
    for part in form.split("/"):
        if (
            part in ("", ".", "..")
            or part != part.strip()
            or part.endswith(".")
            or part.startswith("~")
            or _ODD.search(part)
            or _RESERVED.fullmatch(part)
            or len(part.encode()) > 255
        ):
            raise WorkdirError(
                f"path {_shown(path)} is refused: paths are relative to the workdir, without "
                "'..', control characters, backslashes, colons or reserved names"
            )
    return form


def writable(path: str) -> str:
    """As `checked`, for writing.

    Raises:
        WorkdirError: As `checked`, or the path is in a read-only folder.
    """
    form = checked(path)
    if form.startswith(READ_ONLY) or form == READ_ONLY.rstrip("/"):
        raise WorkdirError(f"path {_shown(path)} is refused: {READ_ONLY} can only be read")
    return form


def _shown(path: str) -> str:
    return repr(path if len(path) <= 200 else path[:200] + "…")
