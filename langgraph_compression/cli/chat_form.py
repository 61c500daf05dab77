"""Messages in the form of OpenAI's chat completions, for files."""

import json
from collections.abc import Iterable
from typing import Any

from langchain_core.messages import BaseMessage

from langgraph_compression.state.blank import REASONING_BLOCKS
from langgraph_compression.state.pairing import CALL_BLOCKS, calls_of

ROLES = {"human": "user", "ai": "assistant"}
"""Roles that are not called like the type of the message."""


def chat_form(messages: Iterable[BaseMessage]) -> list[dict[str, Any]]:
    """The messages as plain values, ready to be sent.

    Calls and results that stand in content blocks become `tool_calls` and `tool` messages.
    Reasoning is left out. Blocks of other kinds stay as they are.

    >>> from langchain_core.messages import AIMessage, HumanMessage
    >>> chat_form([HumanMessage("Hi"), AIMessage("Hello")])[1]
    {'role': 'assistant', 'content': 'Hello'}
    """
    return [entry for message in messages for entry in _entries(message)]


def _entries(message: BaseMessage) -> list[dict[str, Any]]:
    more = message.additional_kwargs
    role = ROLES.get(message.type, message.type)
    role = str(more.get("__openai_role__") or getattr(message, "role", None) or role)
    content, results = _content(message.content)
    entry: dict[str, Any] = {"role": role, "content": content}
    if message.name:
        entry["name"] = message.name
    if message.type == "tool":
        entry["tool_call_id"] = getattr(message, "tool_call_id", "")
    if message.type == "ai":
        _add_calls(entry, message)
    if more.get("refusal"):
        entry["refusal"] = more["refusal"]
    return [*results, entry] if content or not results else results


def _add_calls(entry: dict[str, Any], message: BaseMessage) -> None:
    old = message.additional_kwargs.get("function_call")
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": _arguments(call.args)},
        }
        for call in calls_of(message)
        if not (old and call.id.startswith("function_call:"))
    ]
    if calls:
        entry["tool_calls"] = calls
    if old:
        entry["function_call"] = old
    if (calls or old) and not entry["content"]:
        entry["content"] = None


def _arguments(args: Any) -> str:
    return args if isinstance(args, str) else json.dumps(args or {}, ensure_ascii=False)


def _content(content: str | list[Any]) -> tuple[str | list[Any], list[dict[str, Any]]]:
    """Content without calls and reasoning, and the results that stood in it."""
    if isinstance(content, str):
        return content, []
    blocks: list[Any] = []
    results: list[dict[str, Any]] = []
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, str):
            blocks.append({"type": "text", "text": block})
        elif kind == "tool_result":
            inner, _ = _content(block.get("content") or "")
            call_id = block.get("tool_use_id")
            results.append({"role": "tool", "content": inner, "tool_call_id": call_id})
        elif kind not in CALL_BLOCKS and kind not in REASONING_BLOCKS:
            blocks.append(block)
    if all(block.get("type") == "text" and isinstance(block.get("text"), str) for block in blocks):
        return "\n".join(block["text"] for block in blocks), results
    return blocks, results
