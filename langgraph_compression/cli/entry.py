"""One entry of a transcript as a message."""

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from pydantic import ValidationError

CLASSES: Mapping[str, type[Any]] = {
    "human": HumanMessage,
    "ai": AIMessage,
    "system": SystemMessage,
    "tool": ToolMessage,
    "function": FunctionMessage,
    "chat": ChatMessage,
}
ROLES = {
    "user": "human",
    "human": "human",
    "assistant": "ai",
    "ai": "ai",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "function",
}
FIELDS_OF_CHAT = ("role", "type", "content", "id", "name", "tool_calls", "tool_call_id")
ONLY_IN_CHUNKS = ("tool_call_chunks", "chunk_position")


class EntryError(ValueError):
    """An entry is no message: what is wrong with it."""


def to_message(entry: Any) -> AnyMessage:
    """The message of an entry: OpenAI chat form, or a LangChain dict, flat or with `data`.

    Fields that are not known stay in `additional_kwargs`. Ids of calls and results that are
    missing become empty strings.

    Raises:
        EntryError: The entry is no message.

    >>> to_message({"role": "assistant", "content": None}).content
    ''
    """
    if not isinstance(entry, dict):
        raise EntryError(f"{type(entry).__name__} instead of an object with role and content")
    if "role" in entry and entry.get("type") in (None, "message"):
        return _made(*_from_chat(entry))
    return _made(*_from_langchain(entry))


def _from_chat(entry: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    role = entry["role"]
    if not isinstance(role, str) or not role:
        raise EntryError("the role is no text")
    kind = ROLES.get(role, "chat")
    if kind != "ai" and "content" not in entry:
        raise EntryError(f"a message of role {role!r:.40} without content")
    fields: dict[str, Any] = {"content": _content(entry.get("content"), kind)}
    more = {
        key: value
        for key, value in entry.items()
        if key not in FIELDS_OF_CHAT and value is not None
    }
    for key in ("id", "name"):
        if isinstance(entry.get(key), str) and entry[key]:
            fields[key] = entry[key]
    if role == "developer":
        more["__openai_role__"] = "developer"  # read by LangChain when it sends the message
    if kind == "ai":
        fields.update(_calls(entry.get("tool_calls")))
        call = more.get("function_call")
        if call is not None and not (isinstance(call, dict) and isinstance(call.get("name"), str)):
            raise EntryError("function_call does not name a function")
    elif kind == "tool":
        fields["tool_call_id"] = entry.get("tool_call_id") or ""
    elif kind == "function" and "name" not in fields:
        raise EntryError("a message of role 'function' without the name of the function")
    elif kind == "chat":
        fields["role"] = role
    return kind, {**fields, "additional_kwargs": more}


def _from_langchain(entry: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    kind, fields = entry.get("type"), entry
    if kind == "constructor" and isinstance(entry.get("kwargs"), dict):
        path = entry.get("id")
        kind = path[-1] if isinstance(path, list) and path else None
        fields = entry["kwargs"]
    elif isinstance(entry.get("data"), dict):
        fields = entry["data"]
    if not isinstance(kind, str):
        keys = ", ".join(f"{key!r:.32}" for key in list(entry)[:6]) or "none"
        raise EntryError(f"neither role nor type (keys: {keys})")
    name = kind.removesuffix("Chunk").removesuffix("Message").lower()
    if name == "remove":
        raise EntryError("an instruction to remove messages, not a message")
    if name not in CLASSES:
        raise EntryError(f"type {kind!r:.40} is no message type; known: {', '.join(CLASSES)}")
    if "content" not in fields and name != "ai":
        raise EntryError(f"a message of type {kind!r:.40} without content")
    own = {
        key: value
        for key, value in fields.items()
        if key not in ("type", *ONLY_IN_CHUNKS) and value is not None
    }
    own["content"] = _content(fields.get("content"), name)
    if name == "ai":
        given = own.pop("invalid_tool_calls", None)
        parsed = _calls(own.pop("tool_calls", None))
        parsed["invalid_tool_calls"] += given if isinstance(given, list) else []
        own.update({key: calls for key, calls in parsed.items() if calls})
    elif name == "tool":
        own["tool_call_id"] = own.get("tool_call_id") or ""
    return name, own


def _made(kind: str, fields: Mapping[str, Any]) -> AnyMessage:
    try:
        message: AnyMessage = CLASSES[kind](**fields)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise EntryError(f"{place or kind}: {first['msg']}") from None
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise EntryError(f"its fields are of the wrong type ({type(error).__name__})") from None
    return message


def _content(content: Any, kind: str) -> str | list[Any]:
    """Text or blocks; a tool may have answered with any JSON value."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(block, str | dict) for block in content):
        return content
    if kind in ("tool", "function"):
        return json.dumps(content, ensure_ascii=False)
    if isinstance(content, list):
        raise EntryError("content has a block that is neither text nor an object")
    raise EntryError(f"content is {type(content).__name__}, not text or a list of blocks")


def _calls(calls: Any) -> dict[str, list[Any]]:
    """`tool_calls` and `invalid_tool_calls` of an assistant message."""
    valid: list[ToolCall] = []
    invalid: list[InvalidToolCall] = []
    if calls is not None and not isinstance(calls, list):
        raise EntryError(f"tool_calls is {type(calls).__name__}, not a list")
    for number, call in enumerate(calls or ()):
        if not isinstance(call, dict):
            raise EntryError(f"tool_calls[{number}] is {type(call).__name__}, not an object")
        name, given = _called(call)
        if not isinstance(name, str) or not name:
            raise EntryError(f"tool_calls[{number}] does not name a function")
        call_id, args = str(call.get("id") or ""), _arguments(given)
        if args is not None:
            valid.append(ToolCall(type="tool_call", id=call_id, name=name, args=args))
            continue
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        error = "the arguments are no JSON object"
        invalid.append(
            InvalidToolCall(type="invalid_tool_call", id=call_id, name=name, args=text, error=error)
        )
    return {"tool_calls": valid, "invalid_tool_calls": invalid}


def _called(call: Mapping[str, Any]) -> tuple[Any, Any]:
    """Name and arguments of a call: OpenAI function, OpenAI custom tool, or LangChain."""
    function, custom = call.get("function"), call.get("custom")
    if isinstance(function, dict):
        return function.get("name"), function.get("arguments")
    if isinstance(custom, dict):
        return custom.get("name"), {"input": custom.get("input")}
    return call.get("name"), call.get("args", call.get("arguments"))


def _arguments(given: Any) -> dict[str, Any] | None:
    """None if they are no JSON object. No arguments at all are an empty one."""
    if isinstance(given, str) and given.strip():
        try:
            given = json.loads(given, strict=False)
        except (ValueError, RecursionError):
            return None
    elif not given:
        return {}
    return given if isinstance(given, dict) else None
