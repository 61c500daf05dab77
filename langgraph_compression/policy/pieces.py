"""The history in pieces for the summarizer: no more of it is rendered than a piece takes."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

CountTexts = Callable[[Sequence[str]], int]
"""Tokens of texts as they stand together in a request."""

_TEXTS, _CHARACTERS = 256, 1 << 14
"""What is counted at once, at most: however short a text is, its count costs as much as that
of a thousand characters."""


class Rest:
    """Texts that no piece has taken yet.

    Args:
        texts: In order; one is asked for when a piece may take it.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._coming = iter(texts)
        self._waiting: deque[str] = deque()
        self._divided = False
        """Whether the first that waits is the end of a text that the last piece began."""

    def __bool__(self) -> bool:
        """Whether there are any."""
        self._waiting.extend(islice(self._coming, 0 if self._waiting else 1))
        return bool(self._waiting)

    def take(self, room: int, count: CountTexts) -> list[str]:
        """The longest head within `room` tokens.

        A text that does not fit alone is divided. The head is empty only if nothing is left,
        or `room` is too small for anything.
        """
        self._divided = False
        piece: list[str] = []
        together = _TEXTS
        while texts := self._next(together):
            tokens = count(texts)
            if tokens <= room:
                piece += texts
                room -= tokens
                continue
            self._waiting.extendleft(reversed(texts))
            if len(texts) == 1:
                return piece or self._divide(room, count)
            together = len(texts) // 2
        return piece

    def put_back(self, piece: list[str]) -> None:
        """Give the last piece back."""
        if self._divided:
            piece = [piece[0] + self._waiting.popleft()]
            self._divided = False
        self._waiting.extendleft(reversed(piece))

    def _next(self, most: int) -> list[str]:
        taken: list[str] = []
        size = 0
        while len(taken) < most and size < _CHARACTERS and self:
            taken.append(self._waiting.popleft())
            size += len(taken[-1])
        return taken

    def _divide(self, room: int, count: CountTexts) -> list[str]:
        text = self._waiting[0]
        length = len(text)
        while length > 1 and count([text[:length]]) > room:
            length = length * 2 // 3
        if length <= 1:
            return []
        self._waiting[0] = text[length:]
        self._divided = True
        return [text[:length]]
