"""Did the provider refuse a request because it was too large, and what would it have taken?

LangChain's adapters raise `ContextOverflowError` for the wordings they know. Every other error
is judged by its class, its codes, its HTTP status and its text. What rules an overflow out
comes first: to compress because of a rate limit costs the user his context and cures nothing.
"""

import re

from langchain_core.exceptions import ContextOverflowError, OutputParserException

from langgraph_compression.policy import overflow_words as words
from langgraph_compression.policy.overflow_numbers import (
    LARGEST_WINDOW,
    LEAST_WINDOW,
    named_limits,
    quantities,
)
from langgraph_compression.policy.provider_error import ErrorReport, Layer, read_errors

NEAR = 0.8
"""Share of the window from which a refusal without a reason is taken for an overflow: the
estimate of a request may be that much too low."""


def is_context_overflow(
    error: BaseException,
    *,
    tokens: int | None = None,
    window: int | None = None,
    provider: str | None = None,
) -> bool:
    """Whether the request was too large for the model's context, so that a smaller one may pass.

    Rate limits, quotas, wrong `max_tokens`, malformed histories, refused contents and a single
    refused string are no overflows; neither is one request above a whole tokens-per-minute
    limit. What a gateway puts around the provider's answer does not count against it. An error
    raised `from` an overflow counts, unless it has another reason of its own.

    Some providers refuse a large request with a bare 400. That is an overflow only if the
    request was near the window, for which `tokens` and `window` must be given.

    Args:
        error: What the chat model raised; any exception object, read without raising.
        tokens: Size of the refused request in tokens.
        window: Tokens of input the model takes, as far as known.
        provider: Who was asked, for example the model's class; the error's own class and URL
            are read anyway.

    >>> is_context_overflow(ValueError("prompt is too long: 210000 tokens > 200000 maximum"))
    True
    >>> is_context_overflow(ValueError("Rate limit reached: too many tokens per minute"))
    False
    """
    near = tokens is not None and window is not None and tokens >= NEAR * window
    for report in read_errors(error):
        answer = _judge(report)
        if answer is not None:
            return answer
        if near and _is_bare(report, provider or ""):
            return True
    return False


def _judge(report: ErrorReport) -> bool | None:
    """True or False if the error gives a reason, None if it gives none."""
    names = [base.__name__ for base in report.kind.__mro__]
    if issubclass(report.kind, ContextOverflowError) or any(
        map(words.OVERFLOW_CLASS.search, names)
    ):
        return True
    if issubclass(report.kind, OutputParserException):
        return False  # its text is the model's answer
    statuses = frozenset[int]().union(*(layer.statuses for layer in report.layers))
    for at, layer in enumerate(report.layers):
        doubted = _is_doubted(report.layers[at:])
        answer = _judge_layer(layer, statuses, doubted=doubted)
        if answer is not None:
            return answer
    return False if statuses & words.WAITING_STATUS else None


def _is_doubted(layers: tuple[Layer, ...]) -> bool:
    """Whether it is a matter of waiting, by status and code of the first layer that says."""
    for layer in layers:
        names = layer.codes | layer.classes
        if layer.statuses & words.WAITING_STATUS or any(map(words.RATE_CODE.search, names)):
            return True
        if layer.statuses & words.INVALID_STATUS or any(map(words.INVALID_CODE.search, names)):
            return False
    return False


def _judge_layer(layer: Layer, statuses: frozenset[int], *, doubted: bool) -> bool | None:
    """What one layer says.

    Args:
        layer: The layer.
        statuses: HTTP statuses of all layers.
        doubted: A status or a gateway says that it is a matter of waiting: then only a text
            that speaks of the context is believed.
    """
    text = layer.text
    if any(map(words.RATE_CODE.search, layer.codes)):
        return False
    if any(map(words.OTHER_CODE.search, layer.codes)):
        return False
    if any(map(words.OVERFLOW_CODE.search, layer.codes | layer.classes)):
        return True
    if statuses & words.OTHER_STATUS or words.RATE.search(text):
        return False
    if words.NOTHING_LEFT.search(text):
        return True
    if any(rule.search(text) for rule in (words.POLICY, words.MACHINE, words.OUTPUT_PARAMETER)):
        return False
    named = words.LIMIT.search(text) is not None
    if words.SINGLE_STRING.search(text) and not named:
        return False
    if (named and words.EXCESS.search(text)) or words.TOO_LONG.search(text):
        return True
    if doubted:
        return None
    other = words.OTHER_SUBJECT.search(text) or words.OUTPUT.search(text)
    if other and not words.INPUT.search(text):
        return None
    if words.OVERFLOW.search(text) or _asks_for_more(text):
        return True
    return True if any(map(_is_chinese_overflow, re.split(r"[。；;!！\n]", text))) else None


def _asks_for_more(text: str) -> bool:
    """Whether the text names a request and a limit in tokens, and the request is larger."""
    if not words.TOKENS.search(text) or words.OTHER_SUBJECT.search(text):
        return False
    limits, sizes = quantities(text)
    limits = [limit for limit in limits if limit >= LEAST_WINDOW]
    return bool(limits and sizes) and max(sizes) > min(limits)


def _is_chinese_overflow(clause: str) -> bool:
    if words.CHINESE_OTHER.search(clause):
        return False
    return all(pattern.search(clause) for pattern in words.CHINESE)


def _is_bare(report: ErrorReport, provider: str) -> bool:
    """A 400 or 413 without a word, from a provider that refuses large requests so."""
    said = "\n".join(layer.text for layer in report.layers)
    statuses = {status for layer in report.layers for status in layer.statuses}
    codes = {code for layer in report.layers for code in layer.codes}
    return (
        words.SILENT_PROVIDER.search(f"{report.origin} {provider} {said}") is not None
        and bool(statuses & words.BARE_STATUS)
        and all(map(words.BARE_CODE.search, codes))
        and re.search(r"\w", words.BARE_WORDS.sub("", said)) is None
    )


_LIMIT_FIELDS = frozenset(
    {"n_ctx", "context_length", "context_window", "max_context_length", "max_model_len"}
)


def overflow_window(error: BaseException) -> int | None:
    """The largest request in tokens that the error says would have been accepted.

    Args:
        error: An error for which `is_context_overflow` holds.

    Returns:
        The limit, not the size of the refused request. None if none is named, or only one
        that cannot be a window (below 256 tokens, above 100 million, or counted in bytes).

    >>> overflow_window(ValueError("context limit exceeded: 188240 + 21333 > 200,000"))
    200000
    """
    for report in read_errors(error):
        for layer in report.layers:
            limits = [value for name, value in layer.numbers.items() if name in _LIMIT_FIELDS]
            limits = [limit for limit in limits if LEAST_WINDOW <= limit <= LARGEST_WINDOW]
            limits += named_limits(layer.text)
            if limits:
                # A size that was mistaken for a limit is larger: it was refused.
                return min(limits)
    return None
