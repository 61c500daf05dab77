"""What an error of a model provider says: HTTP status, codes and texts, wherever they stand.

Clients differ: the parts are attributes of the exception, items of a body, of a nested
`error` object or of a response. Reading them never raises and never does I/O.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_STATUS_NAMES = ("status_code", "http_status", "HTTPStatusCode", "status", "code")
_CODE_NAMES = ("code", "type", "status", "reason", "error_code", "errorCode", "Code", "err_code")
_TEXT_NAMES = (
    "message", "msg", "Message", "error_msg", "errorMessage", "error_message", "err_msg",
    "detail", "description", "reason", "raw", "error",
)  # fmt: skip
_NESTED_NAMES = (
    "error", "Error", "errors", "detail", "details", "metadata", "base_resp", "ResponseMetadata",
    "body",
)  # fmt: skip
_DEPTH = 5
_ITEMS = 20
_HEAD_CHARS, _TAIL_CHARS = 3000, 1000
"""Longer texts quote the request; what went wrong stands in front or at the end."""

_QUOTED = re.compile(
    r"""
    (?P<label>["']?(?:message|msg|error|detail|reason|raw|description|exception)\w*["']?\s*[:=]\s*)?
    (?P<quoted> "(?:[^"\\]|\\.)*" | (?<!\w)'(?:[^'\\]|\\.)*'(?!\w)
              | “[^”]*” | ‘[^’]*’ | 「[^」]*」 )
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


_HAN = re.compile("[\u4e00-\u9fff]")  # two of them make a word


@dataclass(frozen=True)
class ErrorReport:
    """One exception, read."""

    kind: type[BaseException]
    statuses: frozenset[int]
    """HTTP statuses, also such as stand in a body (a 400 inside a 200)."""
    codes: frozenset[str]
    """Codes and types in lower case, words joined by `_`."""
    text: str
    """All texts, one a line, without what they quote of the request."""
    numbers: Mapping[str, int]
    """Whole numbers of the body by name, for example llama.cpp's `n_ctx`."""


def read_errors(error: BaseException) -> Iterator[ErrorReport]:
    """The error and then those it was explicitly raised from (`raise … from …`), outermost first.

    An error that merely happened while another was handled (`__context__`) has its own
    reason: the other one is not read.
    """
    seen: set[int] = set()
    current: object = error
    while issubclass(type(current), BaseException) and id(current) not in seen and len(seen) < 10:
        seen.add(id(current))
        yield _read(current)  # type: ignore[arg-type]  # checked by type(), which cannot raise
        current = _attribute(current, "__cause__")


def _read(error: BaseException) -> ErrorReport:
    response = _attribute(error, "response")
    sources: list[object] = [_attributes(error, (*_STATUS_NAMES, *_CODE_NAMES, *_TEXT_NAMES))]
    sources += [_attribute(error, name) for name in ("body", "details", "errors", "error")]
    args = _attribute(error, "args")
    if isinstance(args, tuple):
        sources += [part for part in args[:_ITEMS] if isinstance(part, Mapping)]
    if isinstance(response, Mapping):
        sources.append(response)
    else:
        sources.append(_attributes(response, ("status_code",)))
        # Only a response that was read completely: asking for the text of another would do I/O.
        if _attribute(response, "is_closed") is True:
            sources.append(_attribute(response, "text"))
    statuses: set[int] = set()
    codes: set[str] = set()
    texts: dict[str, None] = {_text(error): None}
    numbers: dict[str, int] = {}
    for source in sources:
        for name, value in _fields(source):
            if isinstance(value, int) and not isinstance(value, bool):
                numbers.setdefault(name, int(value))
            if name in _STATUS_NAMES and (status := _status(value)) is not None:
                statuses.add(status)
            if name in _CODE_NAMES and isinstance(value, str | int):
                codes.add(re.sub(r"[^0-9a-z]+", "_", str(value)[:200].lower()).strip("_"))
            if name in _TEXT_NAMES and isinstance(value, str):
                texts[_bounded(value)] = None
    return ErrorReport(
        kind=type(error),
        statuses=frozenset(statuses),
        codes=frozenset(codes),
        text="\n".join(without_quotes(text) for text in texts),
        numbers=numbers,
    )


def without_quotes(text: str) -> str:
    """The text without quoted passages of three words and more.

    They are somebody else's words, a message of the conversation for example. What stands
    behind a label such as `message:` or `error=` is the error itself and stays.

    >>> without_quotes('the word "prompt is too long" was refused')
    'the word  was refused'
    >>> without_quotes('{"message": "prompt is too long"}')
    '{"message": "prompt is too long"}'
    """

    def keep(match: re.Match[str]) -> str:
        label, quoted = match["label"] or "", match["quoted"]
        if label or match.start() == 0:
            return f"{label}{quoted[0]}{without_quotes(quoted[1:-1])}{quoted[-1]}"
        short = len(quoted.split()) < 3 and len(_HAN.findall(quoted)) < 6
        return quoted if short else ""

    return _QUOTED.sub(keep, text)


def _fields(value: object, depth: int = 0) -> Iterator[tuple[str, object]]:
    """Names and plain values of a body; a bare text is a message."""
    if isinstance(value, str):
        yield "message", value
    elif depth < _DEPTH and isinstance(value, list | tuple):
        for item in value[:_ITEMS]:
            yield from _fields(item, depth + 1)
    elif depth < _DEPTH and isinstance(value, Mapping):
        try:
            items = list(value.items())[: 2 * _ITEMS]
        except Exception:
            return
        for name, item in items:
            if isinstance(item, str | int):
                yield str(name), item
            elif name in _NESTED_NAMES:
                yield from _fields(item, depth + 1)


def _status(value: object) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"[1-5]\d\d", value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599:
        return int(value)
    return None


def _attributes(owner: object, names: tuple[str, ...]) -> dict[str, object]:
    return {name: _attribute(owner, name) for name in dict.fromkeys(names)}


def _attribute(owner: object, name: str) -> object:
    """The attribute of a foreign object, None if it is missing or raises."""
    try:
        return getattr(owner, name, None)
    except Exception:
        return None


def _text(error: BaseException) -> str:
    try:
        return _bounded(str(error))
    except Exception:
        return ""


def _bounded(text: str) -> str:
    if len(text) <= _HEAD_CHARS + _TAIL_CHARS:
        return text
    return f"{text[:_HEAD_CHARS]}\n{text[-_TAIL_CHARS:]}"
