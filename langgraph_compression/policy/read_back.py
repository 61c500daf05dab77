"""Is a call one that reads a saved file back? Its result is in a file already."""

import json
from typing import Any

_SAVED = "outputs/"
_LONGEST_PATH = 4096
_LONGEST_JSON = 100_000
"""Arguments that read a file are short."""


def names_saved_file(args: Any) -> bool:
    """Whether an argument, at any depth, is a path of a file under outputs/.

    Arguments that a provider keeps as JSON text are read as such.

    >>> names_saved_file({"files": [{"path": "/outputs/large_tool_results/a.txt"}]})
    True
    >>> names_saved_file('{"path": "outputs/a.txt"}'), names_saved_file({"q": "see outputs/a"})
    (True, False)
    """
    todo = [args]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo.extend(value.values())
        elif isinstance(value, list | tuple):
            todo.extend(value)
        elif isinstance(value, str):
            if _is_saved_path(value):
                return True
            todo.append(_parsed(value))
    return False


def _is_saved_path(text: str) -> bool:
    return len(text) <= _LONGEST_PATH and text.removeprefix("./").lstrip("/").startswith(_SAVED)


def _parsed(text: str) -> Any:
    """Objects, lists and strings that stand in a text as JSON; None for any other text."""
    text = text.strip()
    if text[:1] not in ("{", "[", '"') or len(text) > _LONGEST_JSON:
        return None
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
