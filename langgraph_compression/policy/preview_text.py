"""The preview of a long text: its head, middle and tail."""

from collections.abc import Callable, Mapping
from typing import Any

from langgraph_compression.policy.short_values import dumps, short_scalars
from langgraph_compression.policy.visible_text import (
    is_visible,
    visible,
    whole_character,
    without_base64,
)
from langgraph_compression.state.counting import Count

TELLING = frozenset(
    {
        "status",
        "state",
        "ok",
        "success",
        "error",
        "message",
        "code",
        "total",
        "count",
        "took",
        "page",
    }
)
"""Fields of a result that matter most beside its body."""
TRIES = 16
"""What does not fit until nothing further is tried."""
GUESSES = 3
"""Sizes of a preview that are guessed."""
GAPS = 16
"""Tokens, about, that say what is left out."""
HEAD, MIDDLE = 0.4, 0.2
"""Shares of the preview; the tail has the rest."""


def longest_candidate(limit: int) -> int:
    """Characters that are ever tried for a preview of `limit` tokens.

    More than any script needs, so only texts like long white space lose by it; and it keeps
    the whole of a large text from being counted.
    """
    return 16 * limit + 256


def preview_text(text: str, limit: int, count: Count) -> str:
    r"""Head, middle and tail of a text, 40/20/40, within a limit.

    Cut at line ends where there are lines, else between characters. What is left out is said
    where it is missing, and runs of base64 are replaced by their length. Of a JSON object the
    short fields of the top level (status, total, error) come first, wherever they stand.

    Args:
        text: Any text.
        limit: Tokens of the preview by `count`; 0 gives an empty preview.
        count: The counter; called a bounded number of times, on short texts only.

    >>> print(preview_text("\n".join(f"line {n}" for n in range(1000)), 36, lambda t: len(t) // 4))
    line 0
    line 1
    line 2
    line 3
    line 4
    … 4,409 characters left out …
    line 506
    … 4,402 characters left out …
    line 996
    line 997
    line 998
    line 999
    """
    if limit <= 0 or not text:
        return ""
    body = without_base64(text)
    size = 4 * limit
    if len(body) <= longest_candidate(limit):
        whole = _shown(body)
        tokens = count(whole)
        if tokens <= limit:
            return whole
        size = _guess(len(body), tokens, limit - GAPS)
    head = _scalars_line(text, limit, count)
    return head + _fitting(body, limit, size, lambda part: count(head + part))


def _scalars_line(text: str, limit: int, count: Count) -> str:
    kept = fitting_fields(dict(short_scalars(text)), limit // 2, count)
    return dumps(kept) + "\n" if kept else ""


def fitting_fields(fields: Mapping[str, Any], limit: int, count: Count) -> dict[str, Any]:
    """As many fields, in their order, as fit into the limit as JSON; the telling ones first.

    >>> fitting_fields({"a": 1, "b": 2, "status": "ok"}, 25, len)
    {'a': 1, 'status': 'ok'}
    """
    kept: list[str] = []
    misses = 0
    for key in sorted(fields, key=lambda key: key.lower() not in TELLING):
        tried = {name: fields[name] for name in (*kept, key)}
        if count(dumps(tried) + "\n") <= limit:
            kept.append(key)
        elif (misses := misses + 1) == TRIES:
            break
    return {key: value for key, value in fields.items() if key in kept}


def _fitting(body: str, limit: int, size: int, count: Count) -> str:
    """A head, middle and tail of `body` that `count` finds within the limit, and nearly fill it.

    Where the limit lies is guessed from what was counted; only when that comes not near enough
    are the sizes between halved, to a part in 64.
    """
    low, best = 0, ""
    high = min(len(body), longest_candidate(limit))
    size = min(high, size)
    shown = _shown_as_it_is if _is_shown_as_it_is(body, high) else _shown
    guesses = GUESSES
    while high - low > max(1, low // 64):
        candidate = _parts(body, size, shown)
        tokens = count(candidate)
        if tokens > limit:
            high = size
        elif tokens >= limit - limit // 20:
            return candidate
        else:
            low, best = size, candidate
        guess = _guess(size, tokens, limit)
        guesses -= 1
        size = guess if guesses >= 0 and low < guess < high else (low + high) // 2
    return best


def _guess(size: int, tokens: int, limit: int) -> int:
    """How many characters come near the limit, if so many have so many tokens."""
    return max(1, size * (limit - limit // 40) // max(1, tokens))


def _parts(body: str, size: int, shown: Callable[[str], str]) -> str:
    """Head, middle and tail of together about `size` characters, and what lies between."""
    end_head = _end(body, 0, int(size * HEAD))
    start_tail = _start(body, len(body) - (size - int(size * HEAD) - int(size * MIDDLE)), len(body))
    half = int(size * MIDDLE) // 2
    centre = len(body) // 2
    start_middle = _start(body, max(end_head, centre - half), centre + half)
    end_middle = _end(body, start_middle, min(start_tail, centre + half))
    pieces = [shown(body[:end_head]).removesuffix("\n"), _gap(start_middle - end_head)]
    if end_middle > start_middle:
        pieces += [shown(body[start_middle:end_middle]).strip("\n")]
        pieces += [_gap(start_tail - end_middle)]
    else:
        pieces[1] = _gap(start_tail - end_head)
    pieces.append(shown(body[start_tail:]))
    return "\n".join(piece for piece in pieces if piece)


def _gap(size: int) -> str:
    return f"… {size:,} characters left out …" if size > 0 else ""


def _end(body: str, start: int, end: int) -> int:
    """Where a part that begins at `start` ends: after a line if one ends in its second half."""
    if end <= start:
        return start
    newline = body.rfind("\n", (start + end) // 2, end)
    return newline + 1 if newline >= 0 else whole_character(body, end)


def _start(body: str, start: int, end: int) -> int:
    """Where a part that stops at `end` begins: at a line if one begins in its first half."""
    newline = body.find("\n", max(0, start - 1), (start + end + 1) // 2)
    return newline + 1 if newline >= 0 else whole_character(body, start)


def _shown(part: str) -> str:
    # A fence that is cut in the middle would pose as a block of JSON that does not parse.
    return visible(part).replace("```json", "``` json")


def _shown_as_it_is(part: str) -> str:
    return part


def _is_shown_as_it_is(body: str, size: int) -> bool:
    """Whether `_shown` changes nothing where parts of together `size` characters are taken."""
    centre = len(body) // 2
    places = (body[:size], body[max(0, centre - size) : centre + size], body[-size:])
    return all(is_visible(place) and "```json" not in place for place in places)
