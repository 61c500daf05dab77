"""What of a message and of a tool schema counts."""

import json
import marshal
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage

from langgraph_compression.state.pairing import CALL_BLOCKS

MESSAGE_TOKENS = 4
"""Tokens of the frame that chat formats put around each message (3 to 5 in public ones)."""

MEDIA_TOKENS: Mapping[str, int] = {
    "image": 1000,
    "image_url": 1000,
    "input_image": 1000,
    "audio": 500,
    "input_audio": 500,
    "video": 1000,
    "file": 1000,
    "input_file": 1000,
    "document": 1000,
    "media": 1000,
}
"""Fixed tokens per media block: an image of about a megapixel, some seconds of sound, a short
document. Providers count by size and length, which the payload alone does not tell."""

PAYLOAD_KEYS = frozenset(
    {"data", "base64", "bytes", "file_data", "url", "image_url", "signature", "encrypted_content"}
)
"""Keys of a content block whose strings are payload or opaque, not text."""


CALL_KEYS = ("tool_calls", "function_call")
"""Where `additional_kwargs` holds calls in a provider's own form."""


def key_of(message: BaseMessage) -> int:
    """A hash of all that is counted of a message."""
    # The dict itself: asking pydantic for each field takes longer than all the rest.
    said = vars(message)
    content, calls = said["content"], said.get("tool_calls")
    if not isinstance(content, str):
        return hash((media_tokens(content), *countable_texts(message)))
    extra: Any = None
    if calls or said["additional_kwargs"] or said.get("invalid_tool_calls"):
        extra = _calls_key(message, calls, said.get("invalid_tool_calls"))
    return hash((content, said["name"], said.get("tool_call_id"), extra))


def _calls_key(message: BaseMessage, calls: Any, invalid: Any) -> Any:
    """What differs where the calls of a message differ."""
    other = None if calls or invalid else [*map(message.additional_kwargs.get, CALL_KEYS)]
    try:
        return marshal.dumps((calls, invalid, other), 2)
    except ValueError:  # values that no JSON gives
        return tuple(countable_texts(message))


def countable_texts(message: AnyMessage | BaseMessage) -> list[str]:
    """Every text of a message that is sent to a provider, each call once."""
    # By type, because asking a message for a field that it does not have is slow.
    calls: list[Any] = []
    if isinstance(message, AIMessage):
        calls = [*message.tool_calls, *message.invalid_tool_calls]
    content = message.content
    texts = [content] if isinstance(content, str) else _block_texts(content, bool(calls))
    for call in calls:
        args = call.get("args")
        texts.append(str(call.get("id") or ""))
        texts.append(str(call.get("name") or ""))
        texts.append(args if isinstance(args, str) else as_json(args))
    if message.additional_kwargs and not calls:
        for key in CALL_KEYS:
            if message.additional_kwargs.get(key):
                texts.append(as_json(message.additional_kwargs[key]))
    if message.name:
        texts.append(message.name)
    if isinstance(message, ToolMessage) and message.tool_call_id:
        texts.append(message.tool_call_id)
    return texts


def media_tokens(content: Any) -> int:
    """Fixed tokens of the media blocks of a content value."""
    if isinstance(content, str):
        return 0
    tokens = 0
    for block in content:
        if isinstance(block, dict):
            tokens += MEDIA_TOKENS.get(str(block.get("type")), 0)
            if isinstance(block.get("content"), list):
                tokens += media_tokens(block["content"])
    return tokens


def _block_texts(content: Iterable[Any], calls_counted: bool) -> list[str]:
    texts: list[str] = []
    for block in content:
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, dict) and not (calls_counted and block.get("type") in CALL_BLOCKS):
            _collect(block, texts)
    return texts


def _collect(block: Mapping[str, Any], texts: list[str]) -> None:
    """Strings anywhere in a block, without payload, types and ids that stand for no text."""
    todo: list[tuple[str, Any, bool]] = [("", block, False)]
    while todo:
        key, value, in_media = todo.pop()
        if isinstance(value, str):
            if not _opaque(key, value, in_media):
                texts.append(value)
        elif isinstance(value, Mapping):
            if key == "input" and not in_media:
                texts.append(as_json(value))
                continue
            # A document whose source is text has its text under a key of payloads.
            in_media = (in_media or value.get("type") in MEDIA_TOKENS) and (
                value.get("type") != "text"
            )
            todo.extend((inner, item, in_media) for inner, item in value.items())
        elif isinstance(value, list | tuple):
            todo.extend((key, item, in_media) for item in value)
        elif isinstance(value, int | float):
            texts.append(str(value))


def _opaque(key: str, value: str, in_media: bool) -> bool:
    if key == "type" or (key in PAYLOAD_KEYS and (in_media or key != "data")):
        return True
    return key != "text" and value.startswith("data:")


_JSON = json.JSONEncoder(ensure_ascii=False, default=str)


def as_json(value: Any) -> str:
    """A value as it stands in a request."""
    try:
        return _JSON.encode(value)
    except (ValueError, RecursionError, TypeError):
        return repr(value) if not isinstance(value, Mapping | list) else str(len(value))
