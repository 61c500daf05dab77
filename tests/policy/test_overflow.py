"""Which errors mean that a smaller request would be accepted, and what size they name.

`overflow_errors.json` holds texts collected from public threads; `overflow_wordings.json`
further wordings of the same kinds, written after providers' documentation and by hand.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.exceptions import ContextOverflowError, OutputParserException

from langgraph_compression.policy.overflow import is_context_overflow, overflow_window

DATA = Path(__file__).parent.parent / "data"
COLLECTED: list[dict[str, Any]] = json.loads(
    (DATA / "overflow_errors.json").read_text(encoding="utf-8")
)
WORDINGS: dict[str, list[dict[str, Any]]] = json.loads(
    (DATA / "overflow_wordings.json").read_text(encoding="utf-8")
)


class ProviderError(Exception):
    """An error of a provider's client that LangChain does not know."""

    def __init__(self, text: str, status: int | None = None, **fields: Any) -> None:
        super().__init__(text)
        self.message, self.status_code = text, status
        self.body: Any = {"message": text, **fields}
        for name, value in fields.items():
            setattr(self, name, value)


def collected(entry: dict[str, Any]) -> ProviderError:
    return ProviderError(entry["text"], entry["status"], code=entry["code"], type=entry["type"])


def certain() -> Iterator[Any]:
    for entry in COLLECTED:
        if entry["provenance"] == "seen" and not entry["ambiguous"]:
            yield pytest.param(entry, id=entry["id"])


@pytest.mark.parametrize("entry", list(certain()))
def test_errors_that_were_seen_are_classified(entry: dict[str, Any]) -> None:
    assert is_context_overflow(collected(entry)) is entry["is_overflow"]


def test_unverified_and_ambiguous_errors_are_classified_within_bounds() -> None:
    wrong: dict[bool, list[str]] = {False: [], True: []}
    for entry in COLLECTED:
        if is_context_overflow(collected(entry)) is not entry["is_overflow"]:
            wrong[entry["ambiguous"]].append(entry["text"])
    assert wrong[False] == []
    # One request above a whole tokens-per-minute limit: only a smaller one can pass.
    assert len(wrong[True]) <= 1, wrong[True]


@pytest.mark.parametrize("entry", WORDINGS["overflow"], ids=lambda entry: entry["text"][:60])
def test_wordings_of_overflows_and_their_windows(entry: dict[str, Any]) -> None:
    for error in (RuntimeError(entry["text"]), ProviderError(entry["text"], 400)):
        assert is_context_overflow(error)
        assert overflow_window(error) == entry["window"]


@pytest.mark.parametrize("entry", WORDINGS["other"], ids=lambda entry: entry["text"][:60])
def test_wordings_of_other_errors(entry: dict[str, Any]) -> None:
    assert not is_context_overflow(ProviderError(entry["text"], entry["status"]))


LIMITED = "Request too large on tokens per min (TPM): Limit 30,000, Requested {}. Reduce it."


@pytest.mark.parametrize(
    ("requested", "curable"), [("30,001", True), ("30,000", False), ("9", False)]
)
def test_a_single_request_above_the_whole_rate_limit_must_shrink(
    requested: str, curable: bool
) -> None:
    error = ProviderError(LIMITED.format(requested), 429, code="rate_limit_exceeded")
    assert is_context_overflow(error) is curable
    if curable:
        assert overflow_window(error) == 30_000


@pytest.mark.parametrize(
    ("fields", "status", "expected"),
    [
        ({"code": "context_length_exceeded"}, 400, True),
        ({"type": "exceed_context_size_error"}, 400, True),
        ({"code": "model_max_prompt_tokens_exceeded"}, 400, True),
        ({"code": "tokens_limit_reached"}, 413, True),
        ({"code": "1261"}, 400, True),
        ({"code": 336103}, 200, True),
        ({"type": "OutofContextError", "code": "InvalidParameter"}, 400, True),
        ({"code": "context_length_exceeded"}, 429, True),
        ({"code": "context_deadline_exceeded"}, 504, False),
        ({"code": "rate_limit_exceeded"}, 400, False),
        ({"code": "insufficient_quota"}, 429, False),
        ({"code": "content_filter"}, 400, False),
        ({"code": "Throttling.AllocationQuota"}, 429, False),
        ({"code": "invalid_request_error"}, 400, False),
        ({}, 413, False),
        ({}, None, False),
    ],
)
def test_codes_decide_where_the_text_says_nothing(
    fields: dict[str, Any], status: int | None, expected: bool
) -> None:
    assert is_context_overflow(ProviderError("refused", status, **fields)) is expected


TOO_LONG = "prompt is too long: 213462 tokens > 200000 maximum"


def with_body(body: Any) -> ProviderError:
    error = ProviderError("Bad request", 400)
    error.body = body
    return error


@pytest.mark.parametrize(
    "body",
    [
        {"message": TOO_LONG},
        {"type": "error", "error": {"type": "invalid_request_error", "message": TOO_LONG}},
        {"error": TOO_LONG},
        {"detail": [{"msg": TOO_LONG}]},
        {"errors": [{"code": 5021, "message": TOO_LONG}]},
        {"error": {"message": "Provider returned error", "metadata": {"raw": TOO_LONG}}},
        {"error": {"metadata": {"raw": json.dumps({"error": {"message": TOO_LONG}})}}},
        TOO_LONG,
        json.dumps({"error": {"message": TOO_LONG}}),
        [{"error": {"message": TOO_LONG}}],
    ],
    ids=str,
)
def test_the_reason_is_found_in_every_form_of_body(body: Any) -> None:
    assert is_context_overflow(with_body(body))
    assert overflow_window(with_body(body)) == 200_000


def test_the_window_is_read_from_a_field_of_the_body() -> None:
    body = {"error": {"code": 400, "type": "exceed_context_size_error", "n_ctx": 4096}}
    assert overflow_window(with_body(body)) == 4096
    assert overflow_window(ValueError(body["error"])) == 4096


def test_aws_errors_hold_their_parts_in_a_response_dict() -> None:
    error = ProviderError("An error occurred")
    error.response = {  # type: ignore[attr-defined]
        "Error": {
            "Code": "ValidationException",
            "Message": "Input is too long for requested model.",
        },
        "ResponseMetadata": {"HTTPStatusCode": 400},
    }
    assert is_context_overflow(error)
    error.response["Error"]["Code"] = "ThrottlingException"  # type: ignore[attr-defined]
    assert not is_context_overflow(error)


def test_http_errors_hold_the_reason_in_the_text_of_the_response() -> None:
    request = httpx.Request("POST", "http://127.0.0.1/v1")
    response = httpx.Response(400, json={"message": TOO_LONG}, request=request)
    error = httpx.HTTPStatusError(
        "Client error '400 Bad Request'", request=request, response=response
    )
    assert is_context_overflow(error)
    unread = httpx.Response(400, stream=httpx.ByteStream(b"{}"), request=request)
    unread.is_closed = False
    error = httpx.HTTPStatusError("Client error", request=request, response=unread)
    assert not is_context_overflow(error)


class ContextWindowExceededError(Exception):
    """As other libraries name theirs."""


class AdapterError(ContextOverflowError, ValueError):
    """As LangChain's adapters derive theirs."""


def test_classes_decide_before_texts() -> None:
    assert is_context_overflow(ContextOverflowError("rate limit"))
    assert is_context_overflow(AdapterError(""))
    assert is_context_overflow(ContextWindowExceededError(""))
    assert not is_context_overflow(OutputParserException("The answer: context length exceeded"))


def raised_from(
    outer: Exception, cause: BaseException | None, *, explicit: bool = True
) -> Exception:
    try:
        try:
            raise cause or outer
        except BaseException as inner:
            if explicit:
                raise outer from inner
            raise outer  # noqa: B904
    except Exception as error:
        return error


def test_an_error_raised_from_an_overflow_is_one_unless_it_has_a_reason_of_its_own() -> None:
    overflow = ValueError(TOO_LONG)
    wrapped = raised_from(RuntimeError("the model call failed"), overflow)
    assert is_context_overflow(wrapped)
    assert overflow_window(wrapped) == 200_000
    assert not is_context_overflow(raised_from(ProviderError("slow down", 429), overflow))
    # What went wrong while the overflow was handled is another matter.
    assert not is_context_overflow(raised_from(KeyError("x"), overflow, explicit=False))


@pytest.mark.parametrize(
    "text",
    [
        "Error code: 400 - {'error': {'message': 'Invalid role', 'value': 'prompt is too long'}}",
        'Unknown word in "my prompt is too long for you" at position 3',
        "1 validation error\n  [type=int_parsing, input_value='context length exceeded']",
        "消息“上下文长度超出限制”无法解析",
    ],
)
def test_quoted_words_of_the_conversation_are_no_reason(text: str) -> None:
    assert not is_context_overflow(ValueError(text))


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("maximum context length is 128000 tokens … you requested 131500", 128_000),
        ("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000", 200_000),
        ("request exceeds n_ctx 4096", 4096),
        ("context window of 128,000 tokens exceeded", 128_000),
        ("context window of 200K tokens exceeded", 200_000),
        ("context window of 1M tokens exceeded", 1_000_000),
        ("context length exceeded by 1204 tokens", None),
        ("prompt too long: maximum context length is 7 tokens", None),
        ("too many total text bytes: 25211034 > 25000000", None),
        ("invalid params, context window exceeds limit (2013)", None),
        ("input exceeds the context window of gpt-4-32k", None),
        ("", None),
    ],
)
def test_the_window_is_the_limit_not_the_size(text: str, window: int | None) -> None:
    assert overflow_window(ValueError(text)) == window


class HostileError(Exception):
    """Every attribute raises, also those that Python itself reads."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __str__(self) -> str:
        raise RuntimeError("no text")


class HostileMapping(dict[str, Any]):
    """A body that cannot be read."""

    def items(self) -> Any:
        raise RuntimeError("no items")


def looped() -> Exception:
    error = ValueError("x")
    error.__cause__ = error
    return error


def deep(levels: int = 3000) -> Any:
    body: Any = TOO_LONG
    for _ in range(levels):
        body = {"error": body}
    return body


@pytest.mark.parametrize(
    "error",
    [
        looped(),
        KeyboardInterrupt(),
        ExceptionGroup("several", [ValueError(TOO_LONG)]),
        with_body(HostileMapping(message=TOO_LONG)),
        with_body(deep()),
        with_body(3.5),
        with_body({1: 2, None: TOO_LONG, "error": {"code": True, "message": b"\xff"}}),
        ProviderError("\x00\ud800", 10**30, code=-1, type=object()),
        ValueError({"error": None}, [], object()),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_exception_object_makes_it_raise(error: BaseException) -> None:
    assert is_context_overflow(error) is False
    assert overflow_window(error) is None


def test_an_error_that_cannot_be_read_makes_it_not_raise() -> None:
    assert is_context_overflow(HostileError()) is False
    assert overflow_window(HostileError()) is None


ATTRIBUTE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just(TOO_LONG),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["error", "message", "code"]), inner)
    ),
    max_leaves=8,
)


@given(st.text(), ATTRIBUTE, ATTRIBUTE, ATTRIBUTE)
def test_any_values_give_an_answer(text: str, status: Any, code: Any, body: Any) -> None:
    error = ProviderError(text, status, code=code)
    error.body = body
    assert isinstance(is_context_overflow(error), bool)
    window = overflow_window(error)
    assert window is None or 256 <= window <= 100_000_000


@pytest.mark.parametrize(
    "unit",
    ["token ", "(", '"', "'", '\\"', "input exceeds ", "1,", "9 > ", "message: '", "“", "[1, 2"],
)
def test_long_texts_are_judged_quickly(unit: str) -> None:
    started = time.perf_counter()
    error = ValueError(unit * 100_000)
    is_context_overflow(error)
    overflow_window(error)
    assert time.perf_counter() - started < 2
