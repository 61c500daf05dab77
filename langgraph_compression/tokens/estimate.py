"""The token estimate: features of the text times the rates of a profile."""

from collections import Counter
from collections.abc import Mapping
from string import punctuation

from langgraph_compression.state.settings import Profile
from langgraph_compression.tokens.features import features
from langgraph_compression.tokens.rates import COLUMNS, RATES
from langgraph_compression.tokens.scripts import SCRIPT_KINDS

_RATES: dict[str, dict[str, float]] = {
    profile: {name: rates[column] for name, rates in RATES.items() if rates[column]}
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
    if profile != "default":
        return max(1, round(_tokens(counts, profile)))
    first, second = _tokens(counts, "o200k"), _tokens(counts, "qwen3")
    if first <= 0 or second <= 0:
        return 1
    return max(1, round(2 * first * second / (first + second)))


def _features(text: str) -> Counter[str]:
    """The features that occur; long texts part by part, so that no large copies are made."""
    found: Counter[str] = Counter()
    for start in range(0, len(text), _PART):
        part = features(text[start : start + _PART])
        found.update({name: count for name, count in part.items() if count})
    return found


def _tokens(counts: Mapping[str, int], profile: str) -> float:
    rates = _RATES[profile]
    tokens = sum(rates.get(name, 0) * count for name, count in counts.items())
    return max(tokens, sum(counts[name] for name in _MARKS & counts.keys()) / _TOGETHER)
