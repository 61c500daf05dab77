"""Large results and texts that are saved to a file and replaced by a preview."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from langchain_core.messages import BaseMessage

from langgraph_compression.policy.content import result_text
from langgraph_compression.policy.frame import MAX_RECOGNISED, Stored, framed, is_frame
from langgraph_compression.policy.media import media_blocks, media_kind
from langgraph_compression.policy.preview_records import preview_records
from langgraph_compression.policy.preview_text import preview_text
from langgraph_compression.policy.stored_text import (
    Content,
    Redact,
    is_text,
    redacted,
    sha256,
    to_store,
)
from langgraph_compression.state.counting import Count
from langgraph_compression.state.settings import ResultKind


@dataclass(frozen=True)
class Saved:
    """A message whose text goes to a file."""

    message: BaseMessage
    """What stands in the view: the same message with a frame as its text."""
    path: str
    """Where the text is to be written."""
    text: str
    """What is to be written; can be encoded as UTF-8."""


def save_result(
    message: BaseMessage,
    *,
    tool: str,
    limit: int,
    kinds: Mapping[str, ResultKind],
    count: Count,
    query: str | None = None,
    redact: Redact | None = None,
) -> Saved | None:
    """What a tool result over the limit is replaced by.

    Only the content changes. Media blocks stay as blocks behind the frame.

    Args:
        message: The result, a tool or function message.
        tool: Name of the tool that was called.
        limit: Tokens a result may have, and a preview without its frame; 0: no preview, and
            every result that is not empty is saved.
        kinds: Tool name → kind, for results that are previewed as records.
        count: The counter.
        query: What the tool was asked, for the preview of records.
        redact: Applied to what is stored; the preview is made from that.

    Returns:
        None if the result stays: it is within the limit, is a preview already, or what would
        replace it is not smaller.

    Raises:
        RedactionError: `redact` failed.
    """
    made = _replaced(message.content, tool, limit, kinds, count, query, redact)
    if made is None:
        return None
    content, path, text = made
    return Saved(message.model_copy(update={"content": content}), path, text)


def result_blocks(message: BaseMessage) -> list[tuple[int, str]]:
    """Index and call id of each `tool_result` block of a message, for `save_result_block`."""
    if not isinstance(message.content, list):
        return []
    return [
        (index, str(block.get("tool_use_id") or ""))
        for index, block in enumerate(message.content)
        if isinstance(block, dict) and block.get("type") == "tool_result"
    ]


def save_result_block(
    message: BaseMessage,
    index: int,
    *,
    tool: str,
    limit: int,
    kinds: Mapping[str, ResultKind],
    count: Count,
    query: str | None = None,
    redact: Redact | None = None,
) -> Saved | None:
    """As `save_result`, for one `tool_result` block of a message: the block at `index`."""
    blocks: list[Any] = list(message.content)
    block = blocks[index]
    content = block.get("content")
    if not isinstance(content, str | list):
        return None
    made = _replaced(content, tool, limit, kinds, count, query, redact)
    if made is None:
        return None
    new, path, text = made
    blocks[index] = block | {"content": new}
    return Saved(message.model_copy(update={"content": blocks}), path, text)


def save_text(
    message: BaseMessage, *, limit: int, count: Count, redact: Redact | None = None
) -> Saved | None:
    """What a message with a long text is replaced by.

    Text blocks are replaced by one; calls, reasoning and media stay as they are, but for
    reasoning that OpenAI stores and that would lose the text it belongs to.

    Args:
        message: Any message.
        limit: Tokens its text may have, and the preview.
        count: The counter.
        redact: Applied to what is stored; the preview is made from that.

    Returns:
        None if the message stays, as with `save_result`.

    Raises:
        RedactionError: `redact` failed.
    """
    content: Content = message.content
    places = [] if isinstance(content, str) else [n for n, b in enumerate(content) if is_text(b)]
    blocks: Content = content if isinstance(content, str) else [content[n] for n in places]
    original = result_text(blocks)
    if not original or is_saved_result(blocks):
        return None
    count = cache(count)
    tokens = count(original)
    if tokens <= limit:
        return None
    shown, text = to_store(blocks, original, redact)
    stored = Stored(None, sha256(text), tokens)
    frame = _framed(stored, preview_text(shown, limit, count), count)
    if count(frame) >= tokens:
        return None
    new: Content = frame
    if not isinstance(content, str):
        gone = {*places[1:], *_reasoning_of(content, places[1:])}
        new = [
            _with_text(block, frame) if n == places[0] else block
            for n, block in enumerate(content)
            if n not in gone
        ]
    return Saved(message.model_copy(update={"content": new}), stored.path, text)


def is_saved_result(content: Content, longest: int = MAX_RECOGNISED) -> bool:
    """Whether content is a frame that this module made, alone or before media blocks.

    Strict: the hash, the path and the markers agree, nothing stands around them, and the
    whole has at most `longest` characters, so that a tool that writes a frame itself cannot
    keep a large text in the context.
    """
    if isinstance(content, str):
        return is_frame(content, longest)
    if not content or not all(isinstance(b, dict) and media_kind(b) for b in content[1:]):
        return False
    first = content[0]
    text = first.get("text") if isinstance(first, dict) and first.get("type") == "text" else first
    return isinstance(text, str) and is_frame(text, longest)


def _replaced(
    content: Content,
    tool: str,
    limit: int,
    kinds: Mapping[str, ResultKind],
    count: Count,
    query: str | None,
    redact: Redact | None,
) -> tuple[Content, str, str] | None:
    """New content, path and text to store, or None."""
    original = result_text(content)
    if not original or is_saved_result(content, MAX_RECOGNISED + 8 * limit):
        return None
    count = cache(count)  # the same text comes up again: a short body, a preview that fits
    tokens = count(original)
    if tokens <= limit:
        return None
    shown, text = to_store(content, original, redact)
    preview = None
    if limit > 0 and tool in kinds:
        asked = redacted(query, redact) if query else query
        preview = preview_records(shown, kinds[tool], limit, count, asked)
    if preview is None:
        preview = preview_text(shown, limit, count)
    stored = Stored(tool, sha256(text), tokens)
    frame = _framed(stored, preview, count)
    if count(frame) >= tokens:
        return None
    media = media_blocks(content)
    return ([{"type": "text", "text": frame}, *media] if media else frame), stored.path, text


def _framed(stored: Stored, preview: str, count: Count) -> str:
    left_out = stored.tokens - count(preview) if preview else stored.tokens
    return framed(stored, preview, max(0, left_out))


def _reasoning_of(content: list[Any], texts: list[int]) -> Iterator[int]:
    """Where reasoning stands that OpenAI keeps under an id, directly before these texts.

    It is refused without the item that follows it.
    """
    for place in texts:
        for before in range(place - 1, -1, -1):
            block = content[before]
            stored = isinstance(block, dict) and str(block.get("id")).startswith("rs_")
            if not stored:
                break
            yield before


def _with_text(block: Any, text: str) -> Any:
    if isinstance(block, str):
        return text
    # Annotations and citations point into the text that is gone.
    kept = {key: value for key, value in block.items() if key not in ("annotations", "citations")}
    return kept | {"text": text}
