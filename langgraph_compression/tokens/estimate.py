"""The token estimate: features of the text times the rates of a profile."""

from collections import Counter
from collections.abc import Iterator, Mapping
from string import punctuation

from langgraph_compression.state.settings import Profile
from langgraph_compression.tokens.features import features
from langgraph_compression.tokens.rates import COLUMNS, RATES
from langgraph_compression.tokens.scripts import SCRIPT_KINDS
from langgraph_compression.tokens.weights import weighed

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

_TIE = 1e-6
"""How near to a half tokens are added up again, in the order of the features: so the estimate of
a text does not hang on the way in which it was made."""

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
    profiles = ("o200k", "qwen3") if profile == "default" else (profile,)
    parts = [weighed(part, profiles, _MARKS) for part in _parts(text)]
    thousandths = map(sum, zip(*(sums for sums, _ in parts), strict=True))
    marks = sum(marks for _, marks in parts)
    tokens = _together([total / 1000 for total in thousandths], marks)
    if abs(tokens % 1 - 0.5) < _TIE:
        counts = _features(text)
        tokens = _together([_tokens(counts, one) for one in profiles], marks)
    return max(1, round(tokens))


def _parts(text: str) -> Iterator[str]:
    """Long texts part by part, so that no large copies are made."""
    return (text[start : start + _PART] for start in range(0, len(text), _PART))


def _together(tokens: list[float], marks: int) -> float:
    """The harmonic mean of the tokens by one or two profiles."""
    # Rates are for the order in which people write marks; this holds whatever the order.
    first, *more = (max(one, marks / _TOGETHER) for one in tokens)
    if not more:
        return first
    second = more[0]
    return 2 * first * second / (first + second) if first > 0 and second > 0 else 0


def _features(text: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for part in _parts(text):
        found.update({name: count for name, count in features(part).items() if count})
    return found


def _tokens(counts: Mapping[str, int], profile: str) -> float:
    rates = _RATES[profile]
    return sum(rates[name] * count for name, count in counts.items())
