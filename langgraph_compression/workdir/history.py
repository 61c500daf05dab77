"""History files: a range of messages, complete and lossless, one JSON line a message."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage, BaseMessage, messages_from_dict
from pydantic import ValidationError

from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.history_line import FILE_KEY, Redact, message_line
from langgraph_compression.workdir.paths import HISTORY
from langgraph_compression.workdir.workdir import Workdir


def write_history(
    workdir: Workdir,
    messages: Sequence[AnyMessage],
    start: int,
    stop: int,
    saved: Mapping[int, tuple[str, str]],
    redact: Redact | None = None,
) -> str:
    """Write the history file of a range line by line, and read it back.

    Args:
        workdir: Where.
        messages: All messages of the state.
        start: Index of the first message of the range.
        stop: Index after the last one.
        saved: Index → (path, text) of tool results that are saved already. Where the text is
            the message's content, the line names the file instead of repeating it.
        redact: Changes every text of content, arguments and artifacts.

    Returns:
        Its path, named by order and content. It holds lines of
        `{"type", "data", ["content_file"]}` as `messages_from_dict` takes them.

    Raises:
        WorkdirError: It could not be written, or is not what was written.
    """
    mark = hashlib.sha256()

    def lines() -> Iterator[str]:
        for at in range(start, stop):
            line = message_line(messages[at], saved.get(at), redact) + "\n"
            mark.update(line.encode())
            yield line

    def path() -> str:
        return f"{HISTORY}{start:06d}-{stop:06d}-{mark.hexdigest()[:16]}.jsonl"

    workdir.write_named(HISTORY, lines(), path)
    if workdir.sha256(path()) != mark.hexdigest():
        raise WorkdirError(f"{path()} is not what was written")
    return path()


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
            messages.append(_message(entry))
        except (ValueError, TypeError, KeyError) as error:
            if isinstance(error, WorkdirError):
                raise
            raise WorkdirError(f"line {number + 1} of the history file is no message") from None
    return messages


def _message(entry: dict[str, Any]) -> BaseMessage:
    try:
        return messages_from_dict([entry])[0]
    except ValidationError:
        raise
    except ValueError:  # a class of the host's own, of which LangChain does not know
        return BaseMessage(**entry["data"])
