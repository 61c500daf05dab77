"""The frame around the preview of a saved text, and how it is recognised."""

import re
from typing import NamedTuple

FOLDER = "outputs/large_tool_results/"
"""Where whole results and texts are saved, as the model sees it."""

MAX_NAME = 64
"""Characters of a tool name in a path and in a frame."""

MAX_RECOGNISED = 8_000
"""Characters up to which a framed text is taken for a preview whatever the limit is.

Anyone can write a frame: what one may hold in the context by doing so is bounded by this."""

_FRAME = re.compile(
    r"\[Saved (?:result of tool [^\n]{1,64}|message text): about [\d,]{1,30} tokens]\n"
    r"sha256: ([0-9a-f]{64})\n"
    rf"file: {re.escape(FOLDER)}[A-Za-z0-9_-]{{1,{MAX_NAME}}}-([0-9a-f]{{16}})\.txt\n"
    r"[^\n]{1,160}\n"
    r"(?:<<<preview ([0-9a-f]{16})\n(.*)\n)?"
    r"([0-9a-f]{16})>>>",
    re.DOTALL,
)


class Stored(NamedTuple):
    """A text that is saved, as its frame names it."""

    tool: str | None
    """Name of the tool; None for the text of a message."""
    sha256: str
    """Of the stored bytes, in hex."""
    tokens: int
    """Of the original by the counter."""

    @property
    def path(self) -> str:
        """The file: a safe name and the first 16 hex digits of the hash."""
        name = "message" if self.tool is None else safe_name(self.tool)
        return f"{FOLDER}{name}-{self.sha256[:16]}.txt"


def safe_name(tool: str) -> str:
    r"""A tool's name as part of a file name: ASCII letters, digits, `_` and `-`.

    Different tools may get the same name; the hash beside it keeps their contents apart.
    Names that systems reserve (`nul`) are harmless with the hash behind them.

    >>> safe_name("mcp/fs\\..\\read"), safe_name(".."), safe_name("数据")
    ('mcp_fs_read', 'tool', 'tool')
    """
    return re.sub(r"[^A-Za-z0-9-]+", "_", tool)[:MAX_NAME].strip("_-") or "tool"


def framed(stored: Stored, preview: str, left_out: int) -> str:
    """The text that stands for a saved one.

    The markers carry a hash of the stored text, so no text can hold its own markers.

    Args:
        stored: What was saved.
        preview: What is shown of it; may be empty.
        left_out: Tokens that the preview does not show, about.
    """
    what = (
        f"result of tool {_shown_name(stored.tool)}" if stored.tool is not None else "message text"
    )
    mark = stored.sha256[:16]
    lines = [
        f"[Saved {what}: about {stored.tokens:,} tokens]",
        f"sha256: {stored.sha256}",
        f"file: {stored.path}",
        f"About {left_out:,} tokens are left out below; read_file reads the file in slices."
        if preview
        else "Nothing of it is shown here; read_file reads the file in slices.",
    ]
    if preview:
        lines += [f"<<<preview {mark}", preview]
    return "\n".join([*lines, f"{mark}>>>"])


def is_frame(text: str, longest: int = MAX_RECOGNISED) -> bool:
    """Whether a text is exactly a frame as `framed` makes it, of at most `longest` characters."""
    if len(text) > longest:
        return False
    found = _FRAME.fullmatch(text)
    if found is None:
        return False
    sha256, in_path, opening, preview, closing = found.groups()
    mark = sha256[:16]
    if not (in_path == closing == mark and opening in (mark, None)):
        return False
    return f"{mark}>>>" not in (preview or "")


def _shown_name(tool: str) -> str:
    shown = "".join(char if char.isprintable() and char not in "[]" else "_" for char in tool)
    return shown[:MAX_NAME] or "tool"
