"""What of a content value is written to a file, and its hash."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from langgraph_compression.errors import CompressionError
from langgraph_compression.policy.content import result_text
from langgraph_compression.policy.media import media_kind

Redact = Callable[[str], str]
Content = str | list[Any]

_SLICE = 1 << 20


class RedactionError(CompressionError):
    """The host's `redact` raised, or returned no text.

    Args:
        kind: The class of that error; its text could hold what was to be redacted.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(f"redact failed ({kind}): it must return a text for every text")
        self.kind = kind


def redacted(text: str, redact: Redact | None) -> str:
    """The text as it may be stored and shown.

    Raises:
        RedactionError: By no other way does an error of `redact` get out.
    """
    if redact is None:
        return text
    try:
        found = redact(text)
    except Exception as error:
        raise RedactionError(type(error).__name__) from None
    if not isinstance(found, str):
        raise RedactionError("TypeError")
    return found


def to_store(content: Content, original: str, redact: Redact | None) -> tuple[str, str]:
    """The text to preview and the text to store.

    One text is stored as it is, several blocks as JSON; media that stay beside a single text
    are not stored with it.

    Raises:
        RedactionError: `redact` failed.
    """
    single = isinstance(content, str) or (
        sum(1 for block in content if is_text(block)) == 1
        and all(is_text(b) or (isinstance(b, dict) and media_kind(b)) for b in content)
    )
    if single:
        shown = redacted(original, redact)
        return shown, encodable(shown)
    blocks = _redacted_blocks(content, redact) if redact else content
    try:
        text = json.dumps(blocks, ensure_ascii=False, default=str, indent=1)
    except (ValueError, TypeError, RecursionError):
        text = result_text(blocks)
    return result_text(blocks), encodable(text)


def _redacted_blocks(value: Any, redact: Redact) -> Any:
    """Blocks with every string redacted but the payloads of media. Not recursive: any depth."""
    root = [value]
    todo: list[Any] = [root]
    while todo:
        node = todo.pop()
        for key, item in list(node.items() if isinstance(node, dict) else enumerate(node)):
            if isinstance(item, str):
                node[key] = item if key == "type" else redacted(item, redact)
            elif isinstance(item, list) or (isinstance(item, dict) and not media_kind(item)):
                node[key] = item.copy()
                todo.append(node[key])
    return root[0]


def is_text(block: Any) -> bool:
    """Whether a content block is plain text."""
    if isinstance(block, dict):
        return block.get("type") in ("text", "input_text", "output_text") and isinstance(
            block.get("text"), str
        )
    return isinstance(block, str)


def encodable(text: str) -> str:
    """The text itself, or with halves of surrogate pairs escaped, which UTF-8 cannot hold."""
    try:
        for start in range(0, len(text), _SLICE):
            text[start : start + _SLICE].encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def sha256(text: str) -> str:
    """Of the UTF-8 bytes; in slices, so that no second copy of a large text is held.

    Halves of surrogate pairs, which UTF-8 cannot hold, are taken as if it could.
    """
    digest = hashlib.sha256()
    for start in range(0, len(text), _SLICE):
        digest.update(text[start : start + _SLICE].encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
