"""One message as one line of a history file: complete, whatever it holds."""

import base64
import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from langchain_core.messages import AnyMessage
from pydantic import BaseModel

Redact = Callable[[str], str]

FILE_KEY = "content_file"
"""Stands beside `data` in a line whose content is the text of a saved tool result."""

_TOLD = (
    "content",
    "tool_calls",
    "invalid_tool_calls",
    "tool_call_chunks",
    "additional_kwargs",
    "response_metadata",
    "artifact",
)
"""Fields of a message that can hold text of the conversation."""

_FREE = frozenset({"args", "arguments", "input", "artifact"})
"""Fields whose values are the conversation's own, keys such as `name` and `id` included."""

_STRUCTURE = frozenset({"id", "type", "name", "tool_call_id", "call_id"})
"""Fields that tie blocks and calls together and are never redacted."""

_DEPTH = 64
_BITS = 2000
"""Longest number that any Python writes in decimal."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_ADDRESS = re.compile(" at 0x[0-9a-f]+")


def message_line(message: AnyMessage, saved: tuple[str, str] | None, redact: Redact | None) -> str:
    """`{"type", "data", ["content_file"]}` as JSON that UTF-8 can hold, without a line break.

    What JSON has no form for stands as `{"not_json": type, …}`: bytes in base64, other objects
    by their `repr`, numbers of thousands of digits in hexadecimal, and what lies deeper than
    64 levels, only where the message is too deep for JSON as a whole. Two halves of a
    surrogate pair that stand side by side are read back as the character they make.

    Args:
        message: Any message.
        saved: (path, text) of the file that may hold the content already.
        redact: Changes every text of content, arguments and artifacts.
    """
    values = {**vars(message), **(message.model_extra or {})}
    data = {name: values[name] for name in type(message).model_fields if name in values} | values
    try:
        return _dumped(message.type, data, saved, redact)
    except (ValueError, TypeError, RecursionError):
        return _dumped(message.type, _flat(data, _DEPTH), saved, redact)


def _dumped(
    kind: str, data: dict[str, Any], saved: tuple[str, str] | None, redact: Redact | None
) -> str:
    if redact is not None:
        data = {
            name: _redacted(value, redact, free=name in _FREE) if name in _TOLD else value
            for name, value in data.items()
        }
    entry: dict[str, Any] = {"type": kind, "data": data}
    if saved is not None and saved[1] == data["content"]:
        entry = {"type": kind, "data": {**data, "content": ""}, FILE_KEY: saved[0]}
    text = json.dumps(entry, ensure_ascii=False, default=partial(_odd, redact=redact))
    if text.isascii():  # known without looking
        return text
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _odd(value: Any, redact: Redact | None) -> Any:
    """What stands for an object that JSON has no form for."""
    name = type(value).__name__
    if isinstance(value, BaseModel):
        fields = dict(value)
        return _redacted(fields, redact, free=True) if redact else fields
    if isinstance(value, bytes | bytearray):
        if redact is not None:  # no hook could look into it
            return {"not_json": name, "bytes": len(value)}
        return {"not_json": name, "base64": base64.b64encode(value).decode()}
    try:
        text = _ADDRESS.sub("", repr(value))
    except Exception:  # a host's own object: whatever it raises, the message is written
        return {"not_json": name}
    return {"not_json": name, "repr": redact(text) if redact else text}


def _flat(value: Any, depth: int, above: tuple[int, ...] = ()) -> Any:
    """The value as JSON can hold it: not too deep, no loop, keys that are text."""
    if isinstance(value, BaseModel):
        value = dict(value)
    if isinstance(value, dict | list | tuple):
        if id(value) in above:
            return {"not_json": type(value).__name__, "contains": "itself"}
        if depth == 0:
            return {"not_json": type(value).__name__, "deeper_than": _DEPTH}
        above, depth = (*above, id(value)), depth - 1
    if isinstance(value, dict):
        return {_key(key): _flat(item, depth, above) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_flat(item, depth, above) for item in value]
    if isinstance(value, int) and value.bit_length() > _BITS:
        return {"not_json": "int", "hex": hex(value)}
    return value


def _key(key: object) -> str:
    try:
        return str(key)
    except Exception:  # as in _odd
        return type(key).__name__


def _redacted(value: Any, redact: Redact, *, free: bool = False) -> Any:
    """Every text in a value redacted.

    Args:
        value: What JSON can hold.
        redact: The hook.
        free: Whether ids, types and names are the conversation's own as well.
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list | tuple):
        return [_redacted(item, redact, free=free) for item in value]
    if isinstance(value, dict):
        return {
            key: item
            if key in _STRUCTURE and isinstance(item, str) and not free
            else _redacted(item, redact, free=free or key in _FREE)
            for key, item in value.items()
        }
    return value
