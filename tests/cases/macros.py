"""Expansion of the text macros in which the scenarios are written."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

OPTIONS = {"times", "indent", "ascii", "template", "leaf", "seed", "sep"}


def expand(value: Any) -> Any:
    """A value with every macro in it replaced by what it stands for, inside out.

    >>> expand({"concat": ["a", {"repeat": "b", "times": 3}]})
    'abbb'
    >>> expand([{"many": 2, "start": 4, "of": ["n§i§"]}, "end"])
    ['n4', 'n5', 'end']
    >>> expand({"json": {"rows": 2, "template": {"id": "§i§"}}})
    '[{"id": "0"}, {"id": "1"}]'
    """
    if isinstance(value, list):
        return [item for element in value for item in _elements(element)]
    if not isinstance(value, Mapping):
        return value
    names = value.keys() - OPTIONS
    if len(names) == 1:
        (name,) = names
        if name in MACROS:
            return MACROS[name](value[name], value)
    return {key: expand(item) for key, item in value.items()}


def numbered(value: Any, number: int) -> Any:
    """A value with the mark for the number replaced, in keys too."""
    if isinstance(value, str):
        return value.replace("§i§", str(number))
    if isinstance(value, list):
        return [numbered(item, number) for item in value]
    if isinstance(value, Mapping):
        return {numbered(key, number): numbered(item, number) for key, item in value.items()}
    return value


def _elements(element: Any) -> list[Any]:
    """What an element of a list becomes: itself, or the copies of `many`."""
    if not (isinstance(element, Mapping) and {"many", "of"} <= element.keys()):
        return [expand(element)]
    first = element.get("start", 0)
    copies = [numbered(element["of"], first + i) for i in range(element["many"])]
    return [item for copy in copies for item in expand(copy)]


def _json(value: Any, options: Mapping[str, Any]) -> str:
    return json.dumps(
        expand(value), ensure_ascii=options.get("ascii", False), indent=options.get("indent")
    )


def _base64(length: int, options: Mapping[str, Any]) -> str:
    seed = str(options.get("seed", ""))
    count = length // 64 + 1
    raw = b"".join(hashlib.sha512(f"{seed}/{i}".encode()).digest() for i in range(count))
    return b64encode(raw).decode()[:length]


def _copies(value: int, options: Mapping[str, Any]) -> list[Any]:
    return [expand(numbered(options["template"], i)) for i in range(value)]


def _nested(opening: str, closing: str) -> Callable[[int, Mapping[str, Any]], str]:
    return lambda depth, options: opening * depth + options.get("leaf", "1") + closing * depth


MACROS: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "repeat": lambda value, options: expand(value) * options["times"],
    "concat": lambda value, options: "".join(str(expand(part)) for part in value),
    "json": _json,
    "rows": _copies,
    "lines": lambda value, options: options.get("sep", "\n").join(
        str(line) for line in _copies(value, options)
    ),
    "deep_object": _nested('{"k":', "}"),
    "deep_list": _nested("[", "]"),
    "base64_noise": _base64,
    "codepoints": lambda value, options: "".join(map(chr, value)),
    "digits": lambda value, options: ("1234567890" * (value // 10 + 1))[:value],
    "literal": lambda value, options: value,
}
