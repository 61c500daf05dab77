"""The numbers in an error's text: which are limits in tokens, which are sizes of a request.

What a number is stands beside it, before or behind, in English or Chinese.
"""

import re
from typing import NamedTuple

from langgraph_compression.policy.overflow_words import OUTPUT_TOKENS

LEAST_WINDOW, LARGEST_WINDOW = 256, 100_000_000
"""Tokens; what is outside is no window."""

_GROUPED = re.compile(
    r"(?<![\d.,])\d{1,3}(?:([,_'\u00a0\u202f ])\d{3})(?:\1\d{3})*(?!\d|[.,]\d)"
    r"|(?<![\d.,])\d{1,3}(?:\.\d{3})+(?= tokens?\b)"
)
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.\-])(\d{1,12}(?:\.\d{1,3})?)(?: ?(k|m|thousand|million))?(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_SCALE = {"": 1, "k": 1000, "thousand": 1000, "m": 1_000_000, "million": 1_000_000}
_COMPARED = re.compile(r"\d(?: tokens?)? ?>=? ?(\d{1,12})\b(?! ?[-+])")
_RANGE = re.compile(r"\[\d+, ?(\d{1,12})\]")
_RATIO = re.compile(r"\b(\d{3,12}) ?/ ?(\d{3,12}) tokens?\b", re.IGNORECASE)
_LIMIT_BEFORE = re.compile(
    r"((?<![A-Za-z0-9\-.])max|limit|allow|at most|up to|\bonly\b|context|window|no more than"
    r"|not exceed|less than|supports?\b|accepts?\b|\btakes?\b|\bfits?\b|handles?\b"
    r"|capacity|ceiling|\bcap\b|budget|<=|≤|n_ctx|最大|上限|限制|最多|不能超过|窗口|上下文|支持)"
    r"(?!.*(request|result|contain|\bha[sv]e?\b|given|receiv|current|actual|prompt_tokens"
    r"|\bby\b|\bgot\b|\bwith\b|\bin the\b|your|provided|\bsent\b|\bus(es|ed|ing)\b"
    r"|\b(prompt|input) (is|has|was) *$|\bprompt[ :=(]*$"
    r"|当前|实际|收到|请求|输入为|使用))",
    re.IGNORECASE | re.DOTALL,
)
_PASSED_BEFORE = re.compile(
    r"\b(exceed(s|ed|ing)?|(larg|great|long)er than|more than|above|over|beyond)( the)? *$"
    r"|(超[出过]了?|大于)(模型)?的? *$",
    re.IGNORECASE,
)
_LIMIT_AFTER = re.compile(
    r"[ -]*(tokens?[ -]*)?(is |are )?(max|limit|context|window|allowed|model\b|available|cap\b"
    r"|capacity)(?!\w* ?(?:[:=]|is|of)? ?\d)",  # then it is the next number's name
    re.IGNORECASE,
)
_SIZE_BEFORE = re.compile(
    r"(tokens?( ?数量?)?|length|size|count|total|request(ed|s)?|prompt|inputs?|messages?|got"
    r"|received|given|provided"
    r"|contain(s|ed|ing)?|us(es|ed|ing)|ha[sd]|have|sent|actual|current(ly)?|was|were|is|are|to"
    r"|当前|实际|收到|请求|输入|使用了?|共|为|有)"
    r"( (is|of|was|were|are|about|around|at least|approximately|roughly))?[\s:=(~≈]*$",
    re.IGNORECASE,
)
_SIZE_AFTER = re.compile(
    r"[ -]*个? ?((input|prompt|context|total|request|messages?|text) ){0,2}tokens?\b"
    r"(?![ -]*(max|limit|context|window|allowed))",
    re.IGNORECASE,
)
_OTHER_UNIT = re.compile(r"\bbytes|characters|string|array|字符|字节", re.IGNORECASE)
_OTHER_AFTER = re.compile(
    r" *((tokens? )?(were |was )?(requested|given|sent)|output|completion|bytes|characters|字)",
    re.IGNORECASE,
)
_OTHER_SIZE_AFTER = re.compile(
    r" *(tokens? (of|for|in) (the )?)?(output|completion|new|generated|bytes|characters"
    r"|[KMG]B\b|字)",
    re.IGNORECASE,
)
_OUTPUT_TOKENS = re.compile(OUTPUT_TOKENS, re.IGNORECASE)


class Quantities(NamedTuple):
    """Tokens that a text names."""

    limits: list[int]
    sizes: list[int]


def quantities(text: str) -> Quantities:
    """The limits and the sizes that a text names, in tokens.

    A number is a size only if its neighbours say so, and none if they speak of output, bytes
    or characters.

    >>> quantities("The request uses 210,000 tokens; the limit of claude-x is 200K.")
    Quantities(limits=[200000], sizes=[210000])
    """
    text = _plain_numbers(text).replace("(2013)", "")  # MiniMax's code for it, no number of tokens
    limits = [int(found[1]) for found in _RANGE.finditer(text)]
    sizes: list[int] = []
    for found in _RATIO.finditer(text):
        sizes.append(int(found[1]))
        limits.append(int(found[2]))
    end = 0
    for found in _NUMBER.finditer(text):
        before = _OUTPUT_TOKENS.sub("", text[max(end, found.start() - 60) : found.start()])
        after = text[found.end() : found.end() + 30]
        end = found.end()
        if _OTHER_UNIT.search(before):
            continue
        value = int(float(found[1]) * _SCALE[(found[2] or "").lower()])
        is_limit = (
            _LIMIT_AFTER.match(after)
            or _LIMIT_BEFORE.search(before)
            or _PASSED_BEFORE.search(before)
        )
        if is_limit and not _OTHER_AFTER.match(after):
            limits.append(value)
        elif not _OTHER_SIZE_AFTER.match(after) and (
            _SIZE_AFTER.match(after) or _SIZE_BEFORE.search(before)
        ):
            sizes.append(value)
    return Quantities(limits, sizes)


def named_limits(text: str) -> list[int]:
    """The limits in tokens that a text names and that can be windows."""
    compared = [int(found[1]) for found in _COMPARED.finditer(_plain_numbers(text))]
    if compared and _OTHER_UNIT.search(text):
        return []
    limits = compared or quantities(text).limits
    return [limit for limit in limits if LEAST_WINDOW <= limit <= LARGEST_WINDOW]


def _plain_numbers(text: str) -> str:
    """The text with 128,000 and 128_000 and 128 000 as 128000."""
    return _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), text)
