"""Which paths a workdir accepts: pure checks of names, before any file system is asked."""

import re
import unicodedata

from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.store import TEMPORARY

READ_ONLY = "skills/"
"""Folder that can be read, not written."""

RESULTS = "outputs/large_tool_results/"
HISTORY = "outputs/conversation_history/"
ADDRESSED = (RESULTS, HISTORY)
"""Folders whose files are named by their content and never overwritten with other content."""

PART_BYTES = 255
"""Longest name of a file or folder, as on most file systems."""
PATH_BYTES = 1024
"""Longest path: an S3 key's limit. Far below what makes file systems recurse too deep."""

_ODD = re.compile(r'[\\:*?"<>|]')
# Control characters, invisible ones (some file systems ignore them), halves of surrogate
# pairs, line and paragraph separators.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³]) *(\..*)?")


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
    if any(map(_is_odd, form.split("/"))):
        raise WorkdirError(
            f"path {_shown(path)} is refused: paths are relative to the workdir, without "
            "'..', control characters, backslashes, colons or reserved names"
        )
    if len(form.encode()) > PATH_BYTES:
        raise WorkdirError(f"path {_shown(path)} is refused: it has more than {PATH_BYTES} bytes")
    return form


def writable(path: str) -> str:
    """As `checked`, for writing.

    Raises:
        WorkdirError: As `checked`, or the path is in a read-only folder.
    """
    form = checked(path)
    if is_read_only(form):
        raise WorkdirError(f"path {_shown(path)} is refused: {READ_ONLY} can only be read")
    return form


def is_read_only(form: str) -> bool:
    """Whether a checked path is in the folder that is not written; case does not count."""
    return f"{form}/".casefold().startswith(READ_ONLY)


def is_addressed(form: str) -> bool:
    """Whether a checked path is in a folder of files named by their content.

    Case does not count: on some file systems `Outputs` is `outputs`.
    """
    return f"{form}/".casefold().startswith(ADDRESSED)


def is_checked(name: str) -> bool:
    """Whether a name that a file system gave is a path in its one form."""
    try:
        return checked(name) == name
    except WorkdirError:
        return False


def _is_odd(part: str) -> bool:
    return (
        part in ("", ".", "..")
        or part != part.strip()
        or part.endswith(".")
        or part.startswith(("~", TEMPORARY))
        or _ODD.search(part) is not None
        # Printable: nothing unseen in it, known without a look at each character.
        or not (part.isprintable() or _UNSEEN.isdisjoint(map(unicodedata.category, part)))
        or _RESERVED.fullmatch(part) is not None
        or len(part.encode()) > PART_BYTES
    )


def _shown(path: str) -> str:
    return repr(path if len(path) <= 200 else path[:200] + "…")
