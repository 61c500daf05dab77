"""Reading JSON that tools return, without building it and at any depth.

A value is found by its place in the text, so that one field of a large or deeply nested result
can be read alone, and numbers stay as they are written.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

Span = tuple[int, int]
"""Start and end of a value in the text."""

_SPACE = re.compile(r"[ \t\r\n]*+")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_PLAIN = re.compile(r"[-+.\w]++")
_NESTING = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.DOTALL)
_FENCE = re.compile(r"```[\w-]*[ \t]*\r?\n")

SHORT = 100
"""Characters up to which a number or a string counts as short."""
UNWRITABLE = object()
"""Stands for NaN, Infinity and numbers that are not short."""
REMARK = 2000
"""Characters of other text that may stand around JSON."""


class NotJsonError(ValueError):
    """The text is not JSON that can be read here; the general rule applies."""


def values(text: str) -> Iterator[Span]:
    r"""Where the JSON values of a text stand: one, or several one after another.

    A byte order mark, a code fence and short remarks around them are passed over.

    Raises:
        NotJsonError: There is no value, or more than a remark beside it; in the second case
            after the last value.

    >>> list(values('Found:\n```json\n{"a": 1}\n```'))
    [(15, 23)]
    """
    at = _space(text, 1 if text.startswith("\ufeff") else 0)
    if text[at : at + 1] == '"':
        end = value_end(text, at)
        if _space(text, end) < len(text):
            raise NotJsonError
        yield at, end
        return
    if text[at : at + 1] not in ("{", "["):
        fence = _FENCE.search(text, at, at + REMARK)
        at = _space(text, fence.end()) if fence else _line_with_json(text, at)
        if text[at : at + 1] not in ("{", "["):
            raise NotJsonError
    while text[at : at + 1] in ("{", "["):
        end = value_end(text, at)
        yield at, end
        at = _space(text, end)
    if len(text) - at > REMARK:
        raise NotJsonError


def _line_with_json(text: str, at: int) -> int:
    found = re.compile(r"^[ \t]*+(?=[{\[])", re.MULTILINE).search(text, at, at + REMARK)
    if found is None:
        raise NotJsonError
    return found.end()


def value_end(text: str, at: int) -> int:
    """Where the value that begins at `at` ends; brackets are only counted, not checked.

    Raises:
        NotJsonError: It does not end.
    """
    first = text[at : at + 1]
    if first in ("{", "["):
        depth = 0
        for token in _NESTING.finditer(text, at):
            mark = text[token.start()]
            if mark in "[{":
                depth += 1
            elif mark in "]}":
                depth -= 1
                if depth == 0:
                    return token.end()
        raise NotJsonError
    found = (_STRING if first == '"' else _PLAIN).match(text, at)
    if found is None:
        raise NotJsonError
    return found.end()


def elements(text: str, span: Span) -> Iterator[Span]:
    """The elements of the array at `span`.

    Raises:
        NotJsonError: It is no array.
    """
    at = _open(text, span[0], "[")
    while text[at] != "]":
        end = value_end(text, at)
        yield at, end
        at = _next(text, end, "]")


def members(text: str, span: Span) -> Iterator[tuple[str, Span]]:
    """Keys and values of the object at `span`, repeated keys too.

    Raises:
        NotJsonError: It is no object.
    """
    at = _open(text, span[0], "{")
    while text[at] != "}":
        end = value_end(text, at)
        key: Any = text[at + 1 : end - 1]
        if text[at] != '"' or "\\" in key:
            key = load(text, (at, end))
        colon = _space(text, end)
        if not isinstance(key, str) or text[colon : colon + 1] != ":":
            raise NotJsonError
        start = _space(text, colon + 1)
        end = value_end(text, start)
        yield key, (start, end)
        at = _next(text, end, "}")


def load(text: str, span: Span) -> Any:
    """The value at `span`. Numbers that cannot be written back, as NaN, become UNWRITABLE.

    Raises:
        NotJsonError: It is not valid, or nested too deeply.
    """
    try:
        return json.loads(
            text[span[0] : span[1]],
            strict=False,
            parse_int=_integer,
            parse_float=_decimal,
            parse_constant=lambda name: UNWRITABLE,
        )
    except (ValueError, RecursionError) as error:
        raise NotJsonError from error


def _integer(digits: str) -> object:
    # Python refuses to convert numbers of thousands of digits.
    return int(digits) if len(digits) <= SHORT else UNWRITABLE


def _decimal(digits: str) -> object:
    value = float(digits)
    return value if math.isfinite(value) and len(digits) <= SHORT else UNWRITABLE


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _open(text: str, at: int, bracket: str) -> int:
    if text[at : at + 1] != bracket:
        raise NotJsonError
    return _inside(text, at + 1)


def _next(text: str, end: int, closing: str) -> int:
    """The next element after one that ends at `end`, or the closing bracket."""
    at = _inside(text, end)
    if text[at] == closing:
        return at
    if text[at] != ",":
        raise NotJsonError
    at = _inside(text, at + 1)
    if text[at] in "]},":
        raise NotJsonError
    return at


def _inside(text: str, at: int) -> int:
    at = _space(text, at)
    if at >= len(text):
        raise NotJsonError
    return at
