"""Counting messages and tool schemas: one function for every count of a request."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from weakref import ref

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


TEXTS_REMEMBERED = 100_000
"""Texts whose count a counter remembers: some 10 MB at most."""


class _Counted(ref[BaseMessage]):
    """The count of a message beside a weak reference to it."""

    __slots__ = ("content", "key", "tokens")
    content: Any
    """What was counted."""
    key: int
    tokens: int


class MessageCounter:
    """Counts messages with one text counter, each message once as long as it lives.

    A count is kept beside the message (weakly) and holds while the message's content is the
    same object; beside that the counts of the last texts are kept, for messages that come out
    of a checkpoint anew. So a conversation that grows is counted once over all its turns. Safe
    for threads: a race at most counts a message twice.

    Args:
        count_text: Tokens of a text.
    """

    def __init__(self, count_text: Callable[[str], int]) -> None:
        self.count_text = count_text
        self._known: dict[int, _Counted] = {}
        self._texts: dict[int, int] = {}
        known = self._known
        self._forget = lambda counted: known.pop(counted.key, None)  # one for all messages

    def message(self, message: BaseMessage) -> int:
        """Tokens of one message with its frame."""
        return self.messages((message,))

    def messages(self, messages: Iterable[BaseMessage]) -> int:
        """Tokens of all these messages with their frames."""
        total, known = 0, self._known
        for message in messages:  # the loop that runs over every message of every request
            counted = known.get(id(message))
            if counted is None or counted.content is not message.content:
                total += self._count(message)
            else:
                total += counted.tokens
        return total

    def tools(self, schemas: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of tool schemas as they stand in a request."""
        return sum(self.count_text(_json(schema)) + MESSAGE_TOKENS for schema in schemas)

    def _count(self, message: BaseMessage) -> int:
        tokens = MESSAGE_TOKENS + media_tokens(message.content)
        tokens += self._text("\n".join(countable_texts(message)))
        counted = _Counted(message, self._forget)
        counted.key, counted.tokens, counted.content = id(message), tokens, message.content
        self._known[counted.key] = counted
        return tokens

    def _text(self, text: str) -> int:
        """Tokens of a text, remembered by its hash: a checkpoint gives the same texts anew."""
        key, texts = hash(text), self._texts
        tokens = texts.get(key)
        if tokens is None:
            if len(texts) >= TEXTS_REMEMBERED:
                texts.clear()
            tokens = texts[key] = self.count_text(text)
        return tokens


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
        texts.append(args if isinstance(args, str) else _json(args))
    if message.additional_kwargs and not calls:
        for key in ("tool_calls", "function_call"):
            if message.additional_kwargs.get(key):
                texts.append(_json(message.additional_kwargs[key]))
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
                texts.append(_json(value))
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


def _json(value: Any) -> str:
    try:
        return _JSON.encode(value)
    except (ValueError, RecursionError, TypeError):
        return repr(value) if not isinstance(value, Mapping | list) else str(len(value))
