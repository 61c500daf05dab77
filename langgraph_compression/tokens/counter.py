"""Counting messages and tool schemas: one function for every count of a request."""

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter, is_
from typing import Any
from weakref import ref

from langchain_core.messages import BaseMessage, SystemMessage

from langgraph_compression.errors import CompressionError
from langgraph_compression.tokens.messages import (
    MESSAGE_TOKENS,
    as_json,
    countable_texts,
    key_of,
    media_tokens,
)

MESSAGES_REMEMBERED = 100_000
"""Messages whose count a counter knows wherever they stand: some 10 MB at most."""

PLACES_REMEMBERED = 1_000_000
"""Messages whose count it knows by their place in a list: 16 bytes each, and `LIST_ITSELF` more
for each list, which takes some 500."""
LIST_ITSELF = 32

MOST = 2**53
"""Tokens of a text at most, whatever a counter says."""

LISTS_IN_USE = 16
"""Lists whose messages it knows by object: one for each run at work."""

LONG_TEXT = 1 << 20
"""Characters above which a text is counted by itself: joined to others it would be copied."""

_content = attrgetter("content")


class _Counted:
    """A list of messages that was counted."""

    __slots__ = ("held", "keys", "last", "tokens")

    def __init__(
        self,
        messages: Sequence[BaseMessage],
        contents: Sequence[Any],
        keys: "array[int]",
        tokens: "array[int]",
    ) -> None:
        # The messages but the last, and the contents of all: let go as soon as the last one,
        # which no other conversation has, is gone.
        held: list[Sequence[Any]] = [messages[:-1], contents]
        self.held, self.keys, self.tokens = held, keys, tokens
        self.last = ref(messages[-1], lambda _: held.clear()) if messages else lambda: None


_NOTHING = _Counted((), (), array("q"), array("q"))


def _whole(count: Callable[[str], Any]) -> Callable[[str], int]:
    """A counter of the user's own, of whose results arrays can be made."""

    def tokens(text: str) -> int:
        counted = count(text)
        try:
            return min(max(int(counted), 0), MOST)
        except OverflowError:  # infinity
            return MOST
        except (TypeError, ValueError):
            raise CompressionError(
                f"the counter returned {counted!r:.40}: it must return a number of tokens"
            ) from None

    return tokens


class MessageCounter:
    """Counts messages with one text counter, each message once.

    A conversation is read out of a checkpoint at each turn: then its messages are known by a
    hash of all that is counted, in the order of the list, which is faster than a large table.
    Within a run its objects stay, and a look at each is enough. Safe for threads: a race at
    most counts a message twice.

    Args:
        count_text: Tokens of a text; fractions are cut off.

    Raises:
        CompressionError: By each method, if it returns no number.
    """

    def __init__(self, count_text: Callable[[str], int]) -> None:
        self.count_text = _whole(count_text)
        self._by_key: dict[int, int] = {}
        self._lists: dict[int, _Counted] = {}
        self._places = 0
        self._in_use: deque[_Counted] = deque()

    def message(self, message: BaseMessage) -> int:
        """Tokens of one message with its frame."""
        return self._count(message, key_of(message))

    def messages(self, messages: Iterable[BaseMessage]) -> int:
        """Tokens of all these messages with their frames."""
        given = list(messages)
        if not given:
            return 0
        contents = list(map(_content, given))
        name = hash((given[0].id, key_of(given[0])))
        known = self._lists.get(name, _NOTHING)
        keys = _keys(known, given, contents)
        tokens = self._tokens(known, given, keys)
        self._remember(name, known, _Counted(given, contents, keys, tokens))
        return sum(tokens)

    def prompt(self, text: str) -> int:
        """Tokens of a configured system prompt with its frame, counted once."""
        return self.message(SystemMessage(text))

    def tools(self, schemas: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of tool schemas as they stand in a request."""
        return sum(self.count_text(as_json(schema)) + MESSAGE_TOKENS for schema in schemas)

    def _tokens(
        self, known: _Counted, given: Sequence[BaseMessage], keys: "array[int]"
    ) -> "array[int]":
        """Tokens of each message."""
        if keys[: len(known.keys)] == known.keys:  # the list only grew
            tokens = known.tokens[:]
        else:
            tokens = array(
                "q",
                (
                    before if key == old else self._count(message, key)
                    for message, key, old, before in zip(
                        given, keys, known.keys, known.tokens, strict=False
                    )
                ),
            )
        for at in range(len(tokens), len(keys)):
            tokens.append(self._count(given[at], keys[at]))
        return tokens

    def _remember(self, name: int, known: _Counted, counted: _Counted) -> None:
        self._places += len(counted.keys) - len(known.keys)
        self._places += LIST_ITSELF if known is _NOTHING else 0
        if self._places > PLACES_REMEMBERED:
            self._lists.clear()
            self._places = len(counted.keys) + LIST_ITSELF
        self._lists[name] = counted
        self._in_use.append(counted)
        # Two lists that hold each other's last message would keep one another alive.
        while len(self._in_use) > LISTS_IN_USE:
            with suppress(IndexError):  # another thread was there
                self._in_use.popleft().held.clear()

    def _count(self, message: BaseMessage, key: int) -> int:
        tokens = self._by_key.get(key)
        if tokens is None:
            texts = countable_texts(message)
            joined = "\n".join(text for text in texts if len(text) <= LONG_TEXT)
            tokens = MESSAGE_TOKENS + media_tokens(message.content) + self.count_text(joined)
            tokens += sum(self.count_text(text) for text in texts if len(text) > LONG_TEXT)
            if len(self._by_key) >= MESSAGES_REMEMBERED:
                self._by_key.clear()
            self._by_key[key] = tokens
        return tokens


def _keys(known: _Counted, given: Sequence[BaseMessage], contents: Sequence[Any]) -> "array[int]":
    """The key of each message: known as long as it is the same object with the same content."""
    rest, before = tuple(known.held) or ((), ())
    old, upto = [*rest, known.last()], len(before)
    if all(map(is_, given[:upto], old)) and all(map(is_, contents, before)):
        keys = known.keys[: min(upto, len(given))]
    else:
        keys = array(
            "q",
            (
                key if message is then and content is said else key_of(message)
                for message, then, content, said, key in zip(
                    given, old, contents, before, known.keys, strict=False
                )
            ),
        )
    keys.extend(map(key_of, given[len(keys) :]))
    return keys
