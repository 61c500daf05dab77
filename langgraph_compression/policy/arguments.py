"""Long arguments of calls become hints in the view."""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from langchain_core.messages import AIMessage

_HINTS = (
    "[{n:,} characters are left out here, in this view of the conversation only: the tool "
    "received all of them. This note is no part of the file; read the file to see what it holds.]",
    "[{n:,} characters left out of this view; the tool received them all]",
    "[{n:,} characters left out]",
)
_ARGUMENT_KEYS = ("args", "input", "arguments", "parameters", "partial_json")
_WRAPPERS = ("function", "toolUse", "tool_use", "functionCall", "function_call", "value")
"""Keys under which providers nest the call itself in a block."""
_STRING = re.compile(r'("(?:[^"\\]++|\\.)*+")([ \t\r\n]*+:)?', re.DOTALL)


def clip_arguments(message: AIMessage, tools: Collection[str], limit: int) -> AIMessage:
    """The message with long string arguments of some tools replaced by a hint.

    Strings at any depth are replaced, in every copy of the arguments that a provider package
    may send back: `tool_calls`, `additional_kwargs`, content blocks. All copies agree, and
    JSON stays JSON. Ids, names, reasoning, `invalid_tool_calls` and copies that do not parse
    are not touched; no string gets longer.

    Args:
        message: An assistant message.
        tools: Names of the tools whose arguments are clipped.
        limit: Characters that a string may have.

    Returns:
        A copy, or the same object if nothing is to be clipped.

    >>> call = {"name": "write_file", "args": {"content": "x" * 5000}, "id": "1"}
    >>> clipped = clip_arguments(AIMessage("", tool_calls=[call]), {"write_file"}, 2000)
    >>> clipped.tool_calls[0]["args"]["content"][:25]
    '[5,000 characters are lef'
    """
    clip = _Clip(frozenset(tools), limit)
    update: dict[str, Any] = {}
    for field in ("tool_calls", "tool_call_chunks", "content"):
        old = getattr(message, field, None)
        if isinstance(old, list) and (new := clip.calls(old)) is not old:
            update[field] = new
    extra = dict(message.additional_kwargs)
    if isinstance(extra.get("tool_calls"), list):
        extra["tool_calls"] = clip.calls(extra["tool_calls"])
    if isinstance(extra.get("function_call"), dict):
        extra["function_call"] = clip.call(extra["function_call"])
    if any(extra[key] is not old for key, old in message.additional_kwargs.items()):
        update["additional_kwargs"] = extra
    return message.model_copy(update=update) if update else message


class _Clip:
    def __init__(self, tools: frozenset[str], limit: int) -> None:
        self.tools = tools
        self.limit = limit

    def calls(self, blocks: list[Any]) -> list[Any]:
        """The blocks with the named tools' calls clipped; the same list if none is."""
        new = [self.call(block) if isinstance(block, dict) else block for block in blocks]
        changed = any(after is not before for after, before in zip(new, blocks, strict=True))
        return new if changed else blocks

    def call(self, block: dict[str, Any]) -> dict[str, Any]:
        """One call in any provider's form, with its arguments clipped."""
        update: dict[str, Any] = {}
        if block.get("type") == "invalid_tool_call":
            return block
        if block.get("name") in self.tools:
            plain = block.get("type") == "custom_tool_call"
            for key in _ARGUMENT_KEYS:
                if key in block:
                    update[key] = self.arguments(block[key], plain=plain)
        for key in _WRAPPERS:
            if isinstance(block.get(key), dict):
                update[key] = self.call(block[key])
        update = {key: value for key, value in update.items() if value is not block[key]}
        return block | update if update else block

    def arguments(self, value: Any, *, plain: bool) -> Any:
        if isinstance(value, str):
            return self.text(value) if plain else self.json(value)
        if isinstance(value, dict | list) and any(
            len(text) > self.limit for text in _strings(value)
        ):
            return self.copy(value)
        return value

    def text(self, value: str) -> str:
        """A hint instead of a string over the limit, if one is shorter than the string."""
        if len(value) <= self.limit:
            return value
        for hint in _HINTS:
            filled = hint.format(n=len(value))
            if len(filled) < len(value):
                return filled
        return value

    def copy(self, value: Any) -> Any:
        """A copy of nested lists and objects with strings clipped. Not recursive: any depth."""
        root = value.copy()
        todo = [root]
        while todo:
            node = todo.pop()
            for key, item in list(node.items() if isinstance(node, dict) else enumerate(node)):
                if isinstance(item, str):
                    node[key] = self.text(item)
                elif isinstance(item, dict | list):
                    node[key] = item.copy()
                    todo.append(node[key])
        return root

    def json(self, text: str) -> str:
        """JSON with its strings clipped in place; all else stays as it is written."""
        if len(text) <= self.limit or not _parses(text):
            return text
        return _STRING.sub(self._literal, text)

    def _literal(self, found: re.Match[str]) -> str:
        literal, colon = found.groups()
        if colon or len(literal) - 2 <= self.limit:
            return found[0]
        value = json.loads(literal, strict=False)
        clipped = self.text(value)
        return literal if clipped is value else json.dumps(clipped, ensure_ascii=False)


def _strings(value: dict[str, Any] | list[Any]) -> Iterator[str]:
    todo: list[Any] = [value]
    while todo:
        node = todo.pop()
        for item in node.values() if isinstance(node, dict) else node:
            if isinstance(item, str):
                yield item
            elif isinstance(item, dict | list):
                todo.append(item)


def _parses(text: str) -> bool:
    try:
        json.loads(text, strict=False, parse_int=len, parse_float=len)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True
