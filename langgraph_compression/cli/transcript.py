"""Reading transcripts: OpenAI chat JSON or JSONL, and LangChain message dicts."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_from_dict,
)

from langgraph_compression.errors import CompressionError


class TranscriptError(CompressionError, ValueError):
    """The file is no transcript; the text says where and why."""


def read_transcript(path: Path) -> list[AnyMessage]:
    """The messages of a transcript file, all of them, each with an id of its own.

    Takes a JSON list of messages, an object with such a list in `messages`, or one message a
    line; each in the OpenAI chat form (`role`, `content`, `tool_calls`, `tool_call_id`) or as
    LangChain writes them (`type`, `data`).

    Raises:
        TranscriptError: It is something else, or a message in it is.
    """
    try:
        data = path.read_bytes()
    except IsADirectoryError:
        raise TranscriptError(f"{path} is a folder, not a transcript file") from None
    except OSError as error:
        raise TranscriptError(f"{path} cannot be read: {error.strerror}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TranscriptError(f"{path} is no UTF-8 text (byte {error.start})") from None
    raw = _raw_messages(path, text)
    messages = [_message(item, index) for index, item in enumerate(raw)]
    if not messages:
        raise TranscriptError(f"{path} holds no messages")
    # LangGraph takes a second message of an id for a new version of the first.
    taken: set[str] = set()
    for index, message in enumerate(messages):
        if not message.id or message.id in taken:
            messages[index] = message = message.model_copy(update={"id": f"m{index}"})
        taken.add(str(message.id))
    return messages


def _raw_messages(path: Path, text: str) -> list[Any]:
    if not text.strip():
        raise TranscriptError(f"{path} is empty")
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) > 1 and lines[0].lstrip().startswith("{"):
            return _from_lines(path, text)
        raise TranscriptError(f"{path} is neither JSON nor JSON lines: {error}") from None
    if isinstance(whole, Mapping):
        if isinstance(whole.get("messages"), list):
            return list(whole["messages"])
        if "role" in whole or "type" in whole:
            return [whole]
        keys = ", ".join(list(map(str, whole))[:5])
        raise TranscriptError(f"{path} is an object without `messages` (it has: {keys})")
    if not isinstance(whole, list):
        raise TranscriptError(f"{path} holds a {type(whole).__name__}, not a list of messages")
    return whole


def _from_lines(path: Path, text: str) -> list[Any]:
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise TranscriptError(f"{path}, line {number}: no JSON: {error}") from None
    return found


def _message(item: Any, index: int) -> AnyMessage:
    where = f"message {index}"
    if not isinstance(item, Mapping):
        raise TranscriptError(f"{where} is a {type(item).__name__}, not an object")
    try:
        if isinstance(item.get("data"), Mapping) and isinstance(item.get("type"), str):
            message = messages_from_dict([dict(item)])[0]
            if message.type == "remove":
                raise TranscriptError(f"{where} removes a message: that is no part of a transcript")
            return message  # type: ignore[return-value]
        role = item.get("role", item.get("type"))
        if not isinstance(role, str):
            raise TranscriptError(f"{where} has no `role`")
        return _openai(role, item, where)
    except TranscriptError:
        raise
    except (ValueError, TypeError, KeyError, NotImplementedError, RecursionError) as error:
        raise TranscriptError(f"{where} is no message: {str(error)[:200]}") from None


def _openai(role: str, item: Mapping[str, Any], where: str) -> AnyMessage:
    content = item.get("content")
    content = "" if content is None else content  # null or missing beside calls
    if not isinstance(content, str | list):
        raise TranscriptError(f"{where}: `content` is a {type(content).__name__}")
    common: dict[str, Any] = {"content": content, "id": item.get("id"), "name": item.get("name")}
    if role in ("user", "human"):
        return HumanMessage(**common)
    if role in ("system", "developer"):
        return SystemMessage(**common)
    if role == "tool":
        if not isinstance(item.get("tool_call_id"), str):
            raise TranscriptError(f"{where} is a tool result without `tool_call_id`")
        return ToolMessage(**common, tool_call_id=item["tool_call_id"])
    if role == "function":
        return FunctionMessage(**{**common, "name": str(item.get("name"))})
    if role in ("assistant", "ai"):
        extra = {}
        if isinstance(item.get("function_call"), Mapping):
            extra["function_call"] = dict(item["function_call"])
        good, bad = _calls(item.get("tool_calls") or (), where)
        return AIMessage(**common, tool_calls=good, invalid_tool_calls=bad, additional_kwargs=extra)
    raise TranscriptError(f"{where} has the unknown role {role!r}")


def _calls(calls: Iterable[Any], where: str) -> tuple[list[Any], list[Any]]:
    """Calls whose arguments are an object, and those whose arguments are not."""
    good: list[Any] = []
    bad: list[Any] = []
    for call in calls:
        if not isinstance(call, Mapping):
            raise TranscriptError(f"{where}: a tool call is no object")
        function = call.get("function", call)
        if not isinstance(function, Mapping):
            raise TranscriptError(f"{where}: the function of a tool call is no object")
        name = function.get("name")
        given = function.get("arguments", call.get("args"))
        try:
            args = json.loads(given) if isinstance(given, str) and given.strip() else given or {}
        except (ValueError, RecursionError):
            args = None
        if isinstance(args, dict):
            good.append({"name": name, "args": args, "id": call.get("id"), "type": "tool_call"})
        else:
            entry = {"name": name, "args": given, "id": call.get("id"), "error": "no JSON object"}
            bad.append({**entry, "type": "invalid_tool_call"})
    return good, bad
