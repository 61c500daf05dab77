"""What an error of a model provider says: HTTP status, codes and texts, wherever they stand.

Clients differ: the parts are attributes of the exception, items of a body, of a nested
`error` object or of a response. Gateways put the provider's answer into a text of their own,
sometimes several times. So an error is read in layers: each body that stands inside of a text
is a layer of its own. Reading them never raises and never does I/O.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from langgraph_compression.policy.embedded import unwrapped, without_quotes

_CODE_NAMES = frozenset(
    {"code", "type", "status", "reason", "error_code", "err_code", "errcode", "internal_code",
     "status_code", "http_status", "httpstatus_code", "http_code", "original_status_code"}
)  # fmt: skip
"""In each of them stands, depending on the provider, an HTTP status or a code of its own."""
_TEXT_NAMES = frozenset(
    {"message", "msg", "error_msg", "error_message", "err_msg", "errmsg", "status_msg", "detail",
     "description", "error_description", "reason", "raw", "error", "original_message",
     "response_body", "body"}
)  # fmt: skip
_NESTED_NAMES = frozenset(
    {"error", "errors", "detail", "details", "base_resp", "response_metadata", "body", "response"}
)
_INNER_NAMES = frozenset(
    {"metadata", "raw", "inner_error", "innererror", "original_error", "upstream_error",
     "provider_error", "provider_response", "response_body", "cause"}
)  # fmt: skip
"""What another party said stands there: a layer of its own."""
_DEPTH = 32
_ITEMS = 40
_HEAD_CHARS, _TAIL_CHARS = 3000, 1000
"""Longer texts quote the request; what went wrong stands in front or at the end."""
LAYER_CHARS = 20_000
"""Characters of a layer that are looked at, at most."""

_NOISE = re.compile(
    r"https?://[^\s'\"<>)]+|\(?\b(?:request|trace)[ _-]?id\b['\"]?[:=]? ?['\"]?[\w\-]*['\"]?\)?",
    re.IGNORECASE,
)
"""Addresses and ids."""
_CLASS_NAME = re.compile(r"(?<![\w.])(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\b")
_LABELLED_CODE = re.compile(
    r"\b(?:(?:error|status|err)[ _]?code|code|errcode|http|status)\b['\"]?(?: is)? ?[:=#]? ?"
    r"['\"(]?([A-Za-z_.]*\d[\w.]*|[A-Za-z]+(?:[_.][A-Za-z]+)+)"
    r"|(?:\berror |错误码?[:： ]?) ?\(?(\d{3,6})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Layer:
    """What one party says: the provider, or a gateway around the provider's answer."""

    statuses: frozenset[int]
    """HTTP statuses, also such as stand in a body (a 400 inside a 200)."""
    codes: frozenset[str]
    """Codes and types in lower case, words joined by `_`."""
    classes: frozenset[str]
    """Names of error classes that the text mentions, in the same form."""
    text: str
    """All texts, one a line, without what they quote of the request."""
    numbers: Mapping[str, int]
    """Whole numbers of the body by name, for example llama.cpp's `n_ctx`."""


@dataclass(frozen=True)
class ErrorReport:
    """One exception, read."""

    kind: type[BaseException]
    layers: tuple[Layer, ...]
    """Innermost first: the provider's own answer before what was put around it."""
    origin: str
    """Who answered, in lower case: the error's classes with their modules, and the URL asked."""


@dataclass
class _Draft:
    statuses: set[int] = field(default_factory=set)
    codes: set[str] = field(default_factory=set)
    texts: dict[str, None] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def layer(self) -> Layer:
        text = "\n".join(self.texts)[:LAYER_CHARS]
        found = [first or second for first, second in _LABELLED_CODE.findall(text)]
        classes = frozenset(map(_snake, _CLASS_NAME.findall(text)))
        text = _CLASS_NAME.sub("", text)
        codes, statuses = set(self.codes), set(self.statuses)
        for code in found:
            status = _status(code)
            if status is None:
                codes.add(_snake(code))
            else:
                statuses.add(status)
        return Layer(frozenset(statuses), frozenset(codes), classes, text, self.numbers)


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
    names = ("status_code", "http_status", "status", "code", "type", "reason", "error_code",
             "message", "msg", "error_msg", "detail", "description", "raw")  # fmt: skip
    sources: list[object] = [_attributes(error, names)]
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
    drafts: dict[int, _Draft] = {}
    for source in [_written(error), *sources]:
        _collect(drafts, source)
    return ErrorReport(
        kind=type(error),
        layers=tuple(drafts[level].layer() for level in sorted(drafts, reverse=True)),
        origin=_origin(error, response),
    )


def _collect(drafts: dict[int, _Draft], value: object, level: int = 0, depth: int = 0) -> None:
    """Read a body into the layers; a bare text is a message."""
    if depth > _DEPTH:
        return
    draft = drafts.setdefault(level, _Draft())
    if isinstance(value, bytes):
        value = value[: 1 << 20].decode("utf-8", "replace")
    if isinstance(value, str):
        prose, bodies = unwrapped(value)
        draft.texts[_NOISE.sub("", without_quotes(_bounded(prose)))] = None
        for body in bodies:
            _collect(drafts, body, level + 1, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value[:_ITEMS]:
            _collect(drafts, item, level, depth + 1)
    elif isinstance(value, Mapping):
        try:
            items = list(value.items())[:_ITEMS]
        except Exception:
            return
        for key, item in items:
            name = _snake(key) if isinstance(key, str) else ""
            if isinstance(item, int) and not isinstance(item, bool):
                draft.numbers.setdefault(name, int(item))
            if name in _CODE_NAMES and isinstance(item, str | int) and not isinstance(item, bool):
                _note_code(draft, item)
            plain = isinstance(item, str | bytes)
            if name in (_TEXT_NAMES if plain else _NESTED_NAMES):
                _collect(drafts, item, level + (name in _INNER_NAMES), depth + 1)
            elif name in _INNER_NAMES and not plain:
                _collect(drafts, item, level + 1, depth + 1)


def _note_code(draft: _Draft, value: str | int) -> None:
    status = _status(value)
    if status is not None:
        draft.statuses.add(status)
    else:
        draft.codes.add(_snake(str(value)[:200]))


def _snake(name: str) -> str:
    """`InvalidParameter.Length` as `invalid_parameter_length`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name[:200])
    return re.sub(r"[^0-9a-z]+", "_", words.lower()).strip("_")


def _status(value: object) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"[1-5]\d\d", value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599:
        return int(value)
    return None


def _origin(error: BaseException, response: object) -> str:
    parts: list[object] = []
    for base in type(error).__mro__[:-3]:  # without Exception, BaseException, object
        parts += [_attribute(base, "__module__"), _attribute(base, "__qualname__")]
    for owner in (error, response):
        parts += [_attribute(owner, "url"), _attribute(_attribute(owner, "request"), "url")]
    return " ".join(_written(part)[:200] for part in parts if part is not None).lower()


def _attributes(owner: object, names: tuple[str, ...]) -> dict[str, object]:
    return {name: _attribute(owner, name) for name in names}


def _attribute(owner: object, name: str) -> object:
    """The attribute of a foreign object, None if it is missing or raises."""
    try:
        return getattr(owner, name, None)
    except Exception:
        return None


def _written(value: object) -> str:
    try:
        return str(value)
    except Exception:
        return ""


def _bounded(text: str) -> str:
    if len(text) <= _HEAD_CHARS + _TAIL_CHARS:
        return text
    return f"{text[:_HEAD_CHARS]}\n{text[-_TAIL_CHARS:]}"
