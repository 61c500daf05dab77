"""The token estimate: features of the text times the rates of a profile."""

from langgraph_compression.state.settings import Profile
from langgraph_compression.tokens.features import features
from langgraph_compression.tokens.rates import RATES

_COLUMNS: tuple[Profile, ...] = ("default", "o200k", "qwen3", "llama3", "gemma3")

_RATES = {
    profile: {name: rates[column] for name, rates in RATES.items()}
    for column, profile in enumerate(_COLUMNS)
}

FEWEST_PER_CHARACTER = 1 / 64
"""Tokens are no longer than that on average; only runs of one character come near it."""


def estimate_tokens(text: str, profile: Profile = "default") -> int:
    """Approximate tokens of a text, for pressure and preview size, never for billing.

    Args:
        text: Any text; lone surrogates are counted too.
        profile: Whose tokens. `default` lies between o200k (OpenAI) and qwen3.

    Returns:
        0 for an empty text, else at least 1.

    Raises:
        KeyError: There is no such profile.

    >>> estimate_tokens("Compress the context of long conversations.")
    9
    >>> estimate_tokens("")
    0
    """
    rates = _RATES[profile]
    tokens = sum(rates[name] * count for name, count in features(text).items())
    return max(round(tokens), round(len(text) * FEWEST_PER_CHARACTER), 1 if text else 0)
