"""How the harness reads messages: by its own definitions, not by those of the package."""

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage

CALL_BLOCKS = ("tool_use", "function_call", "tool_call")


def readable(content: Any) -> str:
    """The text of a content value; media payloads are no text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(map(readable, content))
    if not isinstance(content, dict):
        return ""
    texts = [readable(content.get(key, "")) for key in ("text", "thinking", "content", "arguments")]
    if isinstance(content.get("input"), dict):
        texts.append(json.dumps(content["input"], ensure_ascii=False))
    return "\n".join(filter(None, texts))


def call_ids(message: BaseMessage) -> list[str]:
    """Ids that an assistant message calls, each once; blocks count where nothing else lists any."""
    if message.type != "ai":
        return []
    listed = [
        *message.tool_calls,  # type: ignore[attr-defined]
        *message.invalid_tool_calls,  # type: ignore[attr-defined]
        *(message.additional_kwargs.get("tool_calls") or []),
    ]
    ids = [call.get("id") for call in listed]
    if not ids and isinstance(message.content, list):
        blocks = [b for b in message.content if isinstance(b, dict)]
        ids = [b.get("call_id") or b.get("id") for b in blocks if b.get("type") in CALL_BLOCKS]
    return list(dict.fromkeys(filter(None, ids)))


def result_ids(message: BaseMessage) -> list[str]:
    """Ids that a message answers."""
    if message.type == "tool":
        return [message.tool_call_id]  # type: ignore[attr-defined]
    blocks = message.content if isinstance(message.content, list) else []
    return [
        str(block.get("tool_use_id"))
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "tool_result"
    ]


def orphans(messages: Sequence[BaseMessage]) -> set[tuple[str | None, str]]:
    """(message id, call id) of each result that no earlier message called."""
    called: set[str] = set()
    found = set()
    for message in messages:
        found |= {(message.id, one) for one in result_ids(message) if one not in called}
        called |= set(call_ids(message))
    return found


def results_of_group(messages: Sequence[BaseMessage], caller: int) -> list[BaseMessage]:
    """The results of one assistant message, up to the next that calls one of its ids again."""
    mine = set(call_ids(messages[caller]))
    found = []
    for message in messages[caller + 1 :]:
        if mine & set(call_ids(message)):
            break
        if mine & set(result_ids(message)):
            found.append(message)
    return found


def reference_tokens(message: BaseMessage) -> int:
    """The count in which the scenarios are written: 4 ASCII or 1 other character, 4 a message."""
    calls = getattr(message, "tool_calls", None) or []
    texts = [f"{call['name']}{json.dumps(call['args'], default=str)}" for call in calls]
    texts.append(readable(message.content))
    ascii_count = sum(char.isascii() for text in texts for char in text)
    return 4 + -(-ascii_count // 4) + sum(map(len, texts)) - ascii_count
