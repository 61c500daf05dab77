"""History files: a range of messages, complete and lossless, one JSON line a message."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage, BaseMessage, message_to_dict, messages_from_dict

from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.paths import HISTORY
from langgraph_compression.workdir.workdir import Workdir

Redact = Callable[[str], str]

FILE_KEY = "content_file"
"""Stands beside `data` in a line whose content is the text of a saved tool result."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_ADDRESS = re.compile(" at 0x[0-9a-f]+")


def history_file(
    messages: Sequence[AnyMessage],
    start: int,
    stop: int,
    saved: Mapping[int, tuple[str, str]],
    redact: Redact | None = None,
) -> tuple[str, str]:
    """Path and text of the history file of a range.

    Args:
        messages: All messages of the state.
        start: Index of the first message of the range.
        stop: Index after the last one.
        saved: Index → (path, text) of tool results that are saved already. Where the text is
            the message's content, the line names the file instead of repeating it.
        redact: Changes every text of content and arguments.

    Returns:
        A path named by order and content, and lines of
        `{"type", "data", ["content_file"]}` as `messages_from_dict` takes them.
    """
    lines = [_line(messages[at], saved.get(at), redact) for at in range(start, stop)]
    text = "".join(line + "\n" for line in lines)
    mark = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{HISTORY}{start:06d}-{stop:06d}-{mark}.jsonl", text


def write_history(
    workdir: Workdir,
    messages: Sequence[AnyMessage],
    start: int,
    stop: int,
    saved: Mapping[int, tuple[str, str]],
    redact: Redact | None = None,
) -> str:
    """Write the history file of a range and read it back.

    Returns:
        Its path.

    Raises:
        WorkdirError: It could not be written, or is not what was written.
    """
    path, text = history_file(messages, start, stop, saved, redact)
    workdir.write_text(path, text)
    if workdir.read_text(path) != text:
        raise WorkdirError(f"{path} is not what was written")
    return path


def read_history(text: str, read_text: Callable[[str], str]) -> list[BaseMessage]:
    """The messages of a history file.

    Args:
        text: The file.
        read_text: Reads the saved tool results that the file names.

    Raises:
        WorkdirError: A line is no message, or a named file is missing.
    """
    messages: list[BaseMessage] = []
    for number, line in enumerate(text.split("\n")):
        if not line:
            continue
        try:
            entry = json.loads(line)
            if FILE_KEY in entry:
                entry["data"]["content"] = read_text(entry[FILE_KEY])
            messages.extend(messages_from_dict([entry]))
        except (ValueError, TypeError, KeyError) as error:
            if isinstance(error, WorkdirError):
                raise
            raise WorkdirError(f"line {number + 1} of the history file is no message") from None
    return messages


def _line(message: AnyMessage, saved: tuple[str, str] | None, redact: Redact | None) -> str:
    entry: dict[str, Any] = message_to_dict(message)
    data = entry["data"]
    if redact is not None:
        for key in ("content", "tool_calls", "invalid_tool_calls", "additional_kwargs"):
            if data.get(key):
                data[key] = _redacted(data[key], redact)
    if saved is not None and saved[1] == data["content"]:
        entry[FILE_KEY], data["content"] = saved[0], ""
    try:
        text = json.dumps(entry, ensure_ascii=False, default=_odd)
    except (ValueError, RecursionError, TypeError):
        # Nothing that JSON can hold: the text that a reader can still use.
        plain = {"content": repr(message.content), "id": message.id, "type": message.type}
        text = json.dumps({"type": message.type, "data": plain}, ensure_ascii=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _odd(value: Any) -> Any:
    """What JSON has no form for, as text that says so."""
    return {"not_json": type(value).__name__, "repr": _ADDRESS.sub("", repr(value))[:10_000]}


def _redacted(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted(item, redact) for item in value]
    if isinstance(value, dict):
        return {
            key: item if key in ("id", "type", "name") else _redacted(item, redact)
            for key, item in value.items()
        }
    return value
