"""Did the provider refuse a request because it was too large, and what would it have taken?

LangChain's adapters raise `ContextOverflowError` for the wordings they know. Every other error
is judged by its class, its codes, its HTTP status and its text. What rules an overflow out
comes first: to compress because of a rate limit costs the user his context and cures nothing.
"""

import re

from langchain_core.exceptions import ContextOverflowError, OutputParserException

from langgraph_compression.policy import overflow_words as words
from langgraph_compression.policy.provider_error import ErrorReport, read_errors


def is_context_overflow(error: BaseException) -> bool:
    """Whether a smaller request would be accepted.

    Rate limits, quotas, wrong `max_tokens`, malformed histories and refused contents are no
    overflows. A single request above a whole tokens-per-minute limit is one: waiting cannot
    help. An error raised `from` an overflow counts, unless it has another reason of its own.

    Args:
        error: What the chat model raised; any exception object, read without raising.

    >>> is_context_overflow(ValueError("prompt is too long: 210000 tokens > 200000 maximum"))
    True
    >>> is_context_overflow(ValueError("Rate limit reached: too many tokens per minute"))
    False
    """
    for report in read_errors(error):
        answer = _judge(report)
        if answer is not None:
            return answer
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
    text = report.text
    if any(map(words.RATE_CODE.search, report.codes)):
        return _is_above_whole_limit(text)
    if any(map(words.OTHER_CODE.search, report.codes)):
        return False
    if any(map(words.OVERFLOW_CODE.search, report.codes)):
        return True
    if report.statuses & words.OTHER_STATUS or words.RATE.search(text):
        return _is_above_whole_limit(text)
    if words.NOTHING_LEFT.search(text):
        return True
    if any(other.search(text) for other in (words.POLICY, words.MACHINE, words.OUTPUT_PARAMETER)):
        return False
    if words.OVERFLOW.search(text) or (words.LIMIT.search(text) and words.EXCESS.search(text)):
        return True
    return True if any(map(_is_chinese_overflow, re.split(r"[。；;!！\n]", text))) else None


_TOKEN_RATE = re.compile(
    r"(tokens? per|\bTP[MDH]\b).*?"
    r"limit:? (?P<limit>\d{1,12})\b.*?requested:? (?P<requested>\d{1,12})\b",
    re.IGNORECASE | re.DOTALL,
)


def _is_above_whole_limit(text: str) -> bool:
    """Whether one request asks for more tokens than the rate limit allows in all."""
    found = _TOKEN_RATE.search(_plain_numbers(text))
    return found is not None and int(found["requested"]) > int(found["limit"])


def _is_chinese_overflow(clause: str) -> bool:
    if words.CHINESE_OTHER.search(clause):
        return False
    return all(pattern.search(clause) for pattern in words.CHINESE)


_LEAST_WINDOW, _LARGEST_WINDOW = 256, 100_000_000
_LIMIT_FIELDS = frozenset(
    {"n_ctx", "context_length", "context_window", "max_context_length", "max_model_len"}
)


def overflow_window(error: BaseException) -> int | None:
    """The largest request in tokens that the error says would have been accepted.

    Usually the context window; for a request above a tokens-per-minute limit that limit.

    Args:
        error: An error for which `is_context_overflow` holds.

    Returns:
        The limit, not the size of the refused request. None if none is named, or only one
        that cannot be a window (below 256 tokens, above 100 million, or counted in bytes).

    >>> overflow_window(ValueError("context limit exceeded: 188240 + 21333 > 200,000"))
    200000
    """
    for report in read_errors(error):
        limits = [value for name, value in report.numbers.items() if name in _LIMIT_FIELDS]
        limits = [
            limit
            for limit in limits + _limits(report.text)
            if _LEAST_WINDOW <= limit <= _LARGEST_WINDOW
        ]
        if limits:
            # A size that was mistaken for a limit is larger: it was refused.
            return min(limits)
    return None


_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.\-])(\d{1,12}(?:\.\d{1,3})?) ?([km]?)(?![A-Za-z0-9_])", re.IGNORECASE
)
_SCALE = {"": 1, "k": 1000, "m": 1_000_000}
_COMPARED = re.compile(r"\d(?: tokens?)? ?>=? ?(\d{1,12})\b(?! ?[-+])")
_RANGE = re.compile(r"\[\d+, ?(\d{1,12})\]")
_LIMIT_BEFORE = re.compile(
    r"(max|limit|allow|at most|up to|\bonly\b|context|window|no more than|not exceed|less than"
    r"|<=|≤|n_ctx|最大|上限|限制|最多|不能超过|窗口|上下文)"
    r"(?!.*(request|result|contain|\bha[sv]e?\b|given|receiv|current|actual|prompt_tokens"
    r"|\bby\b|\bgot\b|\bwith\b|\bin the\b|your|当前|实际|收到|请求|输入为))",
    re.IGNORECASE | re.DOTALL,
)
_LIMIT_AFTER = re.compile(
    r"[ -]*(tokens?[ -]*)?(is |are )?(max|limit|context|window|allowed)", re.IGNORECASE
)
_OTHER_UNIT = re.compile(r"\bbytes|characters|string|array|字符|字节", re.IGNORECASE)
_OTHER_AFTER = re.compile(
    r" *((tokens? )?(were |was )?(requested|given|sent)|output|completion|bytes|characters|字)",
    re.IGNORECASE,
)
_OUTPUT_TOKENS = re.compile(words.OUTPUT_TOKENS, re.IGNORECASE)


def _limits(text: str) -> list[int]:
    """The numbers of a text that are limits in tokens: what they are stands beside them."""
    text = _plain_numbers(text).replace("(2013)", "")  # MiniMax's code for it, no number of tokens
    compared = [int(found[1]) for found in _COMPARED.finditer(text)]
    if compared:
        return [] if _OTHER_UNIT.search(text) else compared
    limits = [int(found[1]) for found in _RANGE.finditer(text)]
    end = 0
    for found in _NUMBER.finditer(text):
        before = _OUTPUT_TOKENS.sub("", text[max(end, found.start() - 60) : found.start()])
        after = text[found.end() : found.end() + 30]
        end = found.end()
        if _OTHER_UNIT.search(before) or _OTHER_AFTER.match(after):
            continue
        if _LIMIT_AFTER.match(after) or _LIMIT_BEFORE.search(before):
            limits.append(int(float(found[1]) * _SCALE[found[2].lower()]))
    return limits


def _plain_numbers(text: str) -> str:
    """The text with 128,000 and 128_000 as 128000."""
    return re.sub(r"(?<=\d)[,_\u00a0\u202f](?=\d{3}(?!\d))", "", text)
