"""Short values of JSON objects: which are shown, and how they are written."""

import json
import re
from itertools import islice
from typing import Any

from langgraph_compression.policy.json_text import SHORT, NotJsonError, Span, load, members, values

_ESCAPED = re.compile("[`\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SEGMENTS = re.compile(r"[^\s/\\:]+(?:/[^\s/\\:]+){2,}|[^\s/]+\\\S+")
_PATH = re.compile(r"(?:[A-Za-z]:)?[\\/]\S|~[\\/]|\.{1,2}[\\/]|file:", re.IGNORECASE)


def dumps(value: object) -> str:
    """JSON on one line, safe to show inside a code fence and to encode as UTF-8.

    Control characters, halves of surrogate pairs and backticks are escaped, not changed.
    """
    text = json.dumps(value, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def short_scalars(text: str) -> list[tuple[str, Any]]:
    """The short fields of a JSON object's top level: numbers, booleans, null, short strings.

    Strings that are paths are left out. Anything that is not one JSON object has none.

    >>> short_scalars('{"log": ["x"], "status": "partial", "total": 911, "at": "/srv/x"}')
    [('status', 'partial'), ('total', 911)]
    """
    try:
        spans = list(islice(values(text), 2))
        if len(spans) != 1 or text[spans[0][0]] != "{":
            return []
        found = dict(members(text, spans[0]))
        return [
            (key, value)
            for key, span in found.items()
            if is_short(span) and len(key) <= SHORT and is_scalar(value := load(text, span))
        ]
    except NotJsonError:
        return []


def is_short(span: Span) -> bool:
    """Whether a value may be a short scalar, before it is read (escapes are longer)."""
    return span[1] - span[0] <= 6 * SHORT + 2


def is_scalar(value: object) -> bool:
    """Whether a value is a short number, boolean, null, or string that is no path."""
    if isinstance(value, str):
        return len(value) <= SHORT and not is_path(value)
    return value is None or isinstance(value, int | float)


def is_path(value: str) -> bool:
    r"""Whether a string looks like a path of a file system.

    >>> [is_path(s) for s in ("/srv/kb", "C:\\data", "kb/2024/a.pdf", "1/20", "2024/05/01", "ok")]
    [True, True, True, False, False, False]
    """
    value = value.strip()
    if _PATH.match(value):
        return True
    found = _SEGMENTS.fullmatch(value)
    return found is not None and not value.replace("/", "").isdigit()
