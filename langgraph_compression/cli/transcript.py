"""A transcript file: which entries it holds, or why it is no transcript."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from langchain_core.messages import AnyMessage

from langgraph_compression.cli.entry import EntryError, to_message
from langgraph_compression.cli.identity import identified
from langgraph_compression.errors import CompressionError

FORMS = (
    "a transcript is a JSON list of chat messages, a JSON object with a list `messages`, or JSON "
    "lines with one message a line"
)


class TranscriptError(CompressionError, ValueError):
    """A file is no transcript. The text names the place and what is wrong there."""


@dataclass(frozen=True)
class Transcript:
    """What a transcript file holds."""

    messages: list[AnyMessage]
    """Every message of the file, in order, each with an id of its own."""
    tools: list[dict[str, Any]]
    """Tool schemas, where the file is the dump of a request that has them."""
    notes: list[str]
    """What was made up or is not known, for the report."""


def read_transcript(path: Path) -> Transcript:
    """Read a transcript: OpenAI chat messages or LangChain message dicts, as JSON or JSON lines.

    Args:
        path: UTF-8 file: a list, an object with `messages` (also inside `values`), or one
            message a line.

    Raises:
        TranscriptError: It is something else. Nothing of the file's text is in the error
            but roles, types and keys.
    """
    try:
        entries, tools = _entries(_text(path))
        messages: list[AnyMessage] = []
        for where, entry in entries:
            try:
                messages.append(to_message(entry))
            except EntryError as error:
                _refuse(f"{where}: {error}")
        if not messages:
            _refuse("it holds no messages")
    except TranscriptError as error:
        raise TranscriptError(f"{path}: {error}") from None
    messages, notes = identified(messages)
    unknown = {getattr(message, "role", "") for message in messages if message.type == "chat"}
    notes += [f"role {role!r:.40} is not known; its messages are kept" for role in sorted(unknown)]
    return Transcript(messages, tools, notes)


def _refuse(why: str) -> NoReturn:
    raise TranscriptError(why)


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        _refuse("there is no such file")
    except IsADirectoryError:
        _refuse("this is a folder; give one transcript file")
    except (OSError, ValueError) as error:
        _refuse(f"cannot be read: {getattr(error, 'strerror', None) or type(error).__name__}")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        _refuse("this is UTF-16 text; save it as UTF-8")
    if b"\0" in data:
        _refuse(f"this is a binary file (a NUL byte at {data.index(0)}); {FORMS}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        _refuse(f"not UTF-8 text (byte 0x{byte:02x} at {error.start}); save it as UTF-8")
    if not text.strip():
        _refuse("the file is empty")
    return text


Entries = list[tuple[str, Any]]
"""Place in the file, and what stands there."""


def _entries(text: str) -> tuple[Entries, list[dict[str, Any]]]:
    try:
        document = _parsed(text)
    except json.JSONDecodeError as error:
        lines = _json_lines(text)
        if lines is not None:
            return lines, []
        _refuse(_why_not_json(text, error))
    return _unpacked(document)


def _parsed(text: str) -> Any:
    def no_number(name: str) -> NoReturn:
        _refuse(f"{name} is not JSON")

    try:
        return json.loads(text, parse_constant=no_number)
    except (json.JSONDecodeError, TranscriptError):
        raise
    except RecursionError:
        _refuse("nested too deeply for a transcript")
    except ValueError:
        _refuse("a number has too many digits")


def _unpacked(document: Any) -> tuple[Entries, list[dict[str, Any]]]:
    """The messages of a whole document."""
    tools: list[dict[str, Any]] = []
    if isinstance(document, dict):
        values = document.get("values")
        holder = values if isinstance(values, dict) and "messages" in values else document
        if "messages" in holder:
            schemas = document.get("tools")
            if isinstance(schemas, list):
                tools = [tool for tool in schemas if isinstance(tool, dict)]
            document = holder["messages"]
            if not isinstance(document, list):
                _refuse(f"`messages` is {_kind(document)}, not a list")
        elif "role" in document or "type" in document:
            document = [document]
        else:
            keys = ", ".join(f"{key!r:.32}" for key in list(document)[:6]) or "none"
            _refuse(f"a JSON object without `messages` (its keys: {keys}); {FORMS}")
    if not isinstance(document, list):
        _refuse(f"the JSON is {_kind(document)}; {FORMS}")
    return [(f"message {number}", entry) for number, entry in enumerate(document, 1)], tools


def _json_lines(text: str) -> Entries | None:
    """One message a line; None if the first line is no JSON object by itself."""
    entries: Entries = []
    # Only line feeds part the lines: other separators may stand inside of JSON strings.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            entry = _parsed(line)
        except json.JSONDecodeError as error:
            if not entries:
                return None
            _refuse(f"line {number}: not valid JSON, column {error.colno}: {error.msg}")
        if not entries and not isinstance(entry, dict):
            return None
        if isinstance(entry, dict) and isinstance(entry.get("messages"), list):
            _refuse(f"line {number} is a whole conversation; give a file with one conversation")
        entries.append((f"line {number}", entry))
    return entries


def _why_not_json(text: str, error: json.JSONDecodeError) -> str:
    if text.lstrip()[0] not in "[{":
        return f"neither JSON nor JSON lines; {FORMS}"
    place = f"line {error.lineno} column {error.colno}: {error.msg}"
    ends = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
    return f"not valid JSON, {place}" + (" (the file seems to be cut off)" if ends else "")


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return "null" if value is None else names.get(type(value), "a number")
