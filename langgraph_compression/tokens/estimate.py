"""The token estimate: features of the text times the rates of a profile."""

from collections import Counter
from collections.abc import Mapping
from itertools import compress
from operator import mul
from string import punctuation

from langgraph_compression.state.settings import Profile
from langgraph_compression.tokens.features import features
from langgraph_compression.tokens.rates import COLUMNS, RATES
from langgraph_compression.tokens.scripts import SCRIPT_KINDS

_RATES: dict[str, dict[str, float]] = {
    profile: {name: rates[column] for name, rates in RATES.items()}
    for column, profile in enumerate(COLUMNS)
}

_MARKS = frozenset(
    name
    for name in RATES
    if name in {"control", *(f"mark_{mark}" for mark in punctuation)}
    or SCRIPT_KINDS.get(name.removeprefix("script_")) == "symbol"
)
_TOGETHER = 6
"""Marks and symbols that make a token at most. Their rates hold for the order in which people
write them: what repeats a few strange ones would come to nearly nothing."""

_PART = 1 << 17
"""Characters that are looked at together. A meeting of kinds is lost at each border."""


def estimate_tokens(text: str, profile: Profile = "default") -> int:
    """Approximate tokens of a text, for pressure and preview size, never for billing.

    Args:
        text: Any text; lone surrogates are counted too.
        profile: Whose tokens. `default` is the harmonic mean of o200k (OpenAI) and qwen3, the
            number with the least relative error against both.

    Returns:
        0 for an empty text, else at least 1. The cost is linear in the text.

    Raises:
        KeyError: There is no such profile.

    >>> estimate_tokens("Compress the context of long conversations.")
    9
    >>> estimate_tokens("")
    0
    """
    if not text:
        return 0
    counts = _features(text)
    # Rates are for the order in which people write marks; these hold whatever the order.
    least = sum(counts[name] for name in _MARKS & counts.keys()) / _TOGETHER
    if profile != "default":
        return max(1, round(max(_tokens(counts, profile), least)))
    first, second = (max(_tokens(counts, one), least) for one in ("o200k", "qwen3"))
    if first <= 0 or second <= 0:
        return 1
    return max(1, round(2 * first * second / (first + second)))


def _features(text: str) -> Mapping[str, int]:
    """The features that occur; long texts part by part, so that no large copies are made."""
    if len(text) <= _PART:
        return _occurring(text)
    found: Counter[str] = Counter()
    for start in range(0, len(text), _PART):
        found.update(_occurring(text[start : start + _PART]))
    return found


def _occurring(part: str) -> dict[str, int]:
    found = features(part)
    counts = found.values()
    return dict(compress(found.items(), counts))


def _tokens(counts: Mapping[str, int], profile: str) -> float:
    rates = map(_RATES[profile].__getitem__, counts)
    tokens: float = sum(map(mul, rates, counts.values()))
    return tokens
