"""Counting messages and tool schemas: one function for every count of a request."""

import json
import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter, is_
from typing import Any
from weakref import ref

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, SystemMessage, ToolMessage

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


CALL_KEYS = ("tool_calls", "function_call")
"""Where `additional_kwargs` holds calls in a provider's own form."""

MESSAGES_REMEMBERED = 100_000
"""Messages whose count a counter remembers, by hash: some 10 MB at most."""

LONG_TEXT = 1 << 20
"""Characters above which a text is counted by itself: joined to others it would be copied."""

LISTS_REMEMBERED = 16
"""Message lists that a counter knows while they are in use: one for each run at work."""

_content = attrgetter("content")


class _Counted(ref[BaseMessage]):
    """A list of messages with their counts; gone as soon as its first message is."""

    __slots__ = ("contents", "key", "rest", "tokens")
    key: int
    rest: list[BaseMessage]
    """All but the first message, which is held weakly."""
    contents: list[Any]
    tokens: list[int]


class MessageCounter:
    """Counts messages with one text counter, each message once.

    A count is known by a hash of all that is counted: a checkpoint gives the same messages as
    new objects at each turn. Within a run the list grows and its objects stay: there a look at
    each is enough. So a conversation is counted once over all its turns. Safe for threads: a
    race at most counts a message twice.

    Args:
        count_text: Tokens of a text.
    """

    def __init__(self, count_text: Callable[[str], int]) -> None:
        self.count_text = count_text
        self._by_hash: dict[int, int] = {}
        self._lists: dict[int, _Counted] = {}
        lists = self._lists
        self._forget = lambda counted: lists.pop(counted.key, None)

    def message(self, message: BaseMessage) -> int:
        """Tokens of one message with its frame."""
        return sum(self._counts((message,)))

    def messages(self, messages: Iterable[BaseMessage]) -> int:
        """Tokens of all these messages with their frames."""
        given = list(messages)
        if not given:
            return 0
        contents = list(map(_content, given))
        tokens = self._known(given, contents)
        tokens += self._counts(given[len(tokens) :])
        counted = _Counted(given[0], self._forget)
        counted.key, counted.rest = id(given[0]), given[1:]
        counted.contents, counted.tokens = contents, tokens
        if len(self._lists) >= LISTS_REMEMBERED:
            self._lists.clear()
        self._lists[counted.key] = counted
        return sum(tokens)

    def prompt(self, text: str) -> int:
        """Tokens of a configured system prompt with its frame, counted once."""
        return self.message(SystemMessage(text))

    def tools(self, schemas: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of tool schemas as they stand in a request."""
        return sum(self.count_text(_json(schema)) + MESSAGE_TOKENS for schema in schemas)

    def _known(self, given: list[BaseMessage], contents: list[Any]) -> list[int]:
        """Counts from the head of a list on, as far as the last list that began so went."""
        known = self._lists.get(id(given[0]))
        if known is None or known() is not given[0]:
            return []
        old = [given[0], *known.rest]
        if all(map(is_, given, old)) and all(map(is_, contents, known.contents)):
            return known.tokens[: len(given)]
        return [
            tokens if message is before and content is said else self.message(message)
            for message, before, content, said, tokens in zip(
                given, old, contents, known.contents, known.tokens, strict=False
            )
        ]

    def _counts(self, messages: Sequence[BaseMessage]) -> list[int]:
        """Tokens of each message."""
        known = self._by_hash.get
        return [
            self._count(message, key) if (tokens := known(key)) is None else tokens
            for message, key in zip(messages, _keys(messages), strict=True)
        ]

    def _count(self, message: BaseMessage, key: int) -> int:
        texts = countable_texts(message)
        short = [text for text in texts if len(text) <= LONG_TEXT]
        tokens = MESSAGE_TOKENS + media_tokens(message.content) + self.count_text("\n".join(short))
        tokens += sum(self.count_text(text) for text in texts if len(text) > LONG_TEXT)
        if len(self._by_hash) >= MESSAGES_REMEMBERED:
            self._by_hash.clear()
        self._by_hash[key] = tokens
        return tokens


def _keys(messages: Iterable[BaseMessage]) -> Iterator[int]:
    """For each message a hash of all that is counted."""
    for message in messages:  # the loop over every message of a thread at each of its turns
        # The dict itself: asking pydantic for each field takes longer than all the rest.
        said = vars(message)
        content, calls = said["content"], said.get("tool_calls")
        if not isinstance(content, str):
            yield hash((media_tokens(content), *countable_texts(message)))
            continue
        extra: Any = None
        if calls or said["additional_kwargs"] or said.get("invalid_tool_calls"):
            extra = _calls_key(message, calls, said.get("invalid_tool_calls"))
        yield hash((content, said["name"], said.get("tool_call_id"), extra))


def _calls_key(message: BaseMessage, calls: Any, invalid: Any) -> Any:
    """What differs where the calls of a message differ."""
    other = None if calls or invalid else [*map(message.additional_kwargs.get, CALL_KEYS)]
    try:
        return marshal.dumps((calls, invalid, other), 2)
    except ValueError:  # values that no JSON gives
        return tuple(countable_texts(message))


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
        for key in CALL_KEYS:
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
