"""The text of message content, whatever blocks it is made of."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from langgraph_compression.policy.media import block_text, media_blocks, media_kind, name_media
from langgraph_compression.policy.visible_text import without_base64
from langgraph_compression.state.blank import REASONING_BLOCKS

__all__ = ["argument_text", "content_text", "media_blocks", "name_media", "readable_text"]

CALLS = frozenset(
    {
        "tool_use",
        "server_tool_use",
        "mcp_tool_use",
        "function_call",
        "custom_tool_call",
        "tool_call",
        "tool_call_chunk",
        "invalid_tool_call",
        "server_tool_call",
        "server_tool_call_chunk",
    }
)
"""Block types that are calls of a tool."""

_TEXT_KEYS = ("text", "refusal", "thinking", "reasoning", "reasoning_content")
_NESTED_KEYS = ("content", "summary", "output", "reasoning_content")
_ARGUMENTS = ("input", "arguments", "args", "partial_json")
# Of known blocks these hold text; of all others everything is shown as JSON.
_WRITTEN = frozenset(
    {"text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"}
    | {"tool_result", "search_result", "function_call_output", "text-plain", "document", "file"}
)
_DEEPEST = 20


def content_text(content: str | list[Any]) -> str:
    r"""All text of a content value that a model could read.

    Media payloads are left out, the media are named in their place.

    >>> content_text(["a", {"type": "text", "text": "b"}, {"type": "image", "file_id": "f1"}])
    'a\nb\n[image: f1]'
    """
    return content if isinstance(content, str) else "\n".join(_texts(content, frozenset(), 0))


def readable_text(content: str | list[Any]) -> str:
    """What a summarizer should read of a content value.

    As `content_text`, without reasoning and calls (the caller writes those), and with long
    runs of base64 in the text replaced by their length.

    >>> readable_text([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "b"}])
    'b'
    """
    if isinstance(content, str):
        return without_base64(content)
    return without_base64("\n".join(_texts(content, REASONING_BLOCKS | CALLS, 0)))


def result_text(content: str | list[Any]) -> str:
    """The text of a tool result without its media, which are kept beside a preview."""
    return content if isinstance(content, str) else "\n".join(_texts(content, {"media"}, 0))


def _texts(content: Any, without: frozenset[str] | set[str], depth: int) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list) and depth < _DEEPEST:
        for block in content:
            if isinstance(block, str):
                yield block
            elif isinstance(block, dict):
                yield from _block_texts(block, without, depth)
            elif block is not None:
                yield str(block)
    elif content is not None:
        yield without_base64(_json(content))


def _block_texts(
    block: Mapping[str, Any], without: frozenset[str] | set[str], depth: int
) -> Iterator[str]:
    kind = block.get("type")
    if kind is None and "reasoning_content" in block:
        kind = "reasoning_content"
    if not isinstance(kind, str | None) or kind in without:
        return
    if media_kind(block):
        if "media" not in without:
            yield name_media(block)
    elif (written := block_text(block)) is not None:
        yield from _texts(written, without, depth + 1)
    elif kind in CALLS:
        yield str(block.get("name") or "")
        yield from (argument_text(block[key]) for key in _ARGUMENTS if block.get(key))
    elif kind in REASONING_BLOCKS:
        yield from _reasoning(block, without, depth)
    elif kind in _WRITTEN or isinstance(block.get("text"), str):
        if kind == "search_result":
            yield from (str(block[key]) for key in ("title", "source") if block.get(key))
        yield from (block[key] for key in _TEXT_KEYS if isinstance(block.get(key), str))
        for key in _NESTED_KEYS:
            if block.get(key) is not None:
                yield from _texts(block[key], without, depth + 1)
    elif kind in ("json", None) and "json" in block:
        yield _json(block["json"])
    else:
        yield without_base64(_json(block))


def _reasoning(
    block: Mapping[str, Any], without: frozenset[str] | set[str], depth: int
) -> Iterator[str]:
    yield from (block[key] for key in _TEXT_KEYS if isinstance(block.get(key), str))
    for key in _NESTED_KEYS:
        nested = block.get(key)
        if isinstance(nested, dict) and isinstance(nested.get("text"), str):
            yield nested["text"]
        elif isinstance(nested, list):
            yield from _texts(nested, without, depth + 1)


def argument_text(value: Any) -> str:
    """Arguments of a call as text: as they are, or as JSON."""
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        # Nothing that goes to a provider looks like this: every provider sends JSON.
        return f"[{type(value).__name__} that cannot be written as JSON]"
