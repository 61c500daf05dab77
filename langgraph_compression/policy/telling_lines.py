"""The line of a text that tells what matters: a failure in a result, a decision in an answer."""

import json
import re
from collections.abc import Mapping
from typing import Any

_JSON_CHARS = 20_000
"""Results above this are not parsed: a failure is short."""
_HEAD_CHARS, _TAIL_CHARS = 2000, 500
"""Where a failure is looked for in a long result."""

_ERROR_START = re.compile(
    r"[^\w{\"]{0,4}(\w*(error|exception)\b|fatal\b|failed\b|failure\b|panic\b"
    r"|错误|失败|异常|报错|出错|执行失败|调用失败)",
    re.IGNORECASE,
)
_EXIT_CODE = re.compile(
    r"\b(exit[ _]?(code|status)|returncode)\W{1,4}([1-9]\d{0,2})\b", re.IGNORECASE
)
_TRACEBACK = re.compile(r"Traceback \(most recent call last\)")
_FAILED_WORDS = ("error", "failed", "failure", "exception")
_MESSAGE_KEYS = ("message", "msg", "detail", "error_message", "reason")


def error_line(text: str, *, failed: bool = False) -> str | None:
    """The line that tells why a tool failed, None if the result is no failure.

    Args:
        text: The whole result.
        failed: The message itself is marked as an error.

    >>> error_line('{"success": false, "error": "no such user"}')
    'no such user'
    >>> error_line("0 errors found") is None
    True
    """
    start = text[:_HEAD_CHARS].strip()
    value = _json_object(text)
    if value is not None:
        reason = _told_by(value)
        if reason is not None:
            return reason or start
    elif _TRACEBACK.search(start):
        return _last_line(text)
    elif _ERROR_START.match(start) or _EXIT_CODE.search(start[:200]):
        failed = True
    if failed:
        lines = [line.strip() for line in start.splitlines() if line.strip()]
        return lines[0] if lines else "error"
    return None


def _json_object(text: str) -> Mapping[str, Any] | None:
    if len(text) > _JSON_CHARS or text.lstrip()[:1] != "{":
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _told_by(value: Mapping[str, Any]) -> str | None:
    """The reason that an object gives; empty if it only says that it failed, None if not even."""
    error = next((value[key] for key in ("error", "errors", "exception") if value.get(key)), None)
    said_no = any(value.get(key) is False for key in ("success", "ok"))
    said_no |= str(value.get("status", "")).lower() in _FAILED_WORDS
    said_no |= value.get("isError") is True
    if not error and not said_no:
        return None
    if isinstance(error, dict):
        error = next((error[key] for key in _MESSAGE_KEYS if error.get(key)), error)
    if not error or error is True:
        error = next((value[key] for key in _MESSAGE_KEYS if value.get(key)), "")
    return error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)


def _last_line(text: str) -> str:
    lines = text[-_TAIL_CHARS:].strip().splitlines()
    return lines[-1].strip() if lines else ""


_DECISION = re.compile(
    r"\b(decision|decided|conclusion|agreed)\b|决定|结论|敲定|选定", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？；;\n]")
_SENTENCE_CHARS = 300


def decision_in(text: str) -> str:
    """The first sentence that tells a decision, empty if there is none.

    >>> decision_in("Tests pass. We decided to keep v1.2 for now. Anything else?")
    'We decided to keep v1.2 for now.'
    """
    found = _DECISION.search(text, 0, 10_000)
    if found is None:
        return ""
    start = max(0, found.start() - _SENTENCE_CHARS)
    for end in _SENTENCE_END.finditer(text, start, found.start()):
        start = end.end()
    stop = _SENTENCE_END.search(text, found.end(), found.end() + _SENTENCE_CHARS)
    return text[start : stop.end() if stop else found.end() + _SENTENCE_CHARS].strip()
