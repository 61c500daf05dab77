"""Which errors mean that a smaller request would be accepted, and what size they name.

`overflow_errors.json` holds texts collected from public threads; `overflow_wordings.json`
further wordings of the same kinds, written after providers' documentation and by hand;
`overflow_kinds.json` tables per kind, each text with a near twin that is judged otherwise.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.exceptions import ContextOverflowError, OutputParserException

from langgraph_compression.policy.overflow import is_context_overflow, overflow_window
from langgraph_compression.policy.provider_error import LAYER_CHARS, read_errors

DATA = Path(__file__).parent.parent / "data"
COLLECTED: list[dict[str, Any]] = json.loads(
    (DATA / "overflow_errors.json").read_text(encoding="utf-8")
)
WORDINGS: dict[str, list[dict[str, Any]]] = json.loads(
    (DATA / "overflow_wordings.json").read_text(encoding="utf-8")
)
KINDS: dict[str, list[dict[str, Any]]] = json.loads(
    (DATA / "overflow_kinds.json").read_text(encoding="utf-8")
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
    assert wrong[True] == []


@pytest.mark.parametrize("entry", WORDINGS["overflow"], ids=lambda entry: entry["text"][:60])
def test_wordings_of_overflows_and_their_windows(entry: dict[str, Any]) -> None:
    for error in (RuntimeError(entry["text"]), ProviderError(entry["text"], 400)):
        assert is_context_overflow(error)
        assert overflow_window(error) == entry["window"]


@pytest.mark.parametrize("entry", WORDINGS["other"], ids=lambda entry: entry["text"][:60])
def test_wordings_of_other_errors(entry: dict[str, Any]) -> None:
    assert not is_context_overflow(ProviderError(entry["text"], entry["status"]))


FORMS: dict[str, Callable[[Any], Exception]] = {
    "body": lambda body: with_body(body),
    "response": lambda body: http_error(400, json.dumps(body)),
    "printed": lambda body: ValueError(f"Error code: 400 - {body}"),
    "json": lambda body: ValueError(json.dumps(body)),
    "json in a string": lambda body: ValueError(f"upstream: {json.dumps(json.dumps(body))}"),
    "arguments": lambda body: ValueError(body),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("entry", KINDS["codes"], ids=lambda entry: entry["source"])
def test_codes_of_providers_that_answer_with_a_plain_400(form: str, entry: dict[str, Any]) -> None:
    assert is_context_overflow(FORMS[form](entry["body"])) is entry["overflow"]


@pytest.mark.parametrize("entry", KINDS["numbers"], ids=lambda entry: entry["overflow"][:60])
def test_a_request_and_a_smaller_limit_in_tokens(entry: dict[str, Any]) -> None:
    assert is_context_overflow(ProviderError(entry["overflow"], 400))
    assert overflow_window(ProviderError(entry["overflow"], 400)) == entry["window"]
    assert not is_context_overflow(ProviderError(entry["other"], 400))


@pytest.mark.parametrize("entry", KINDS["single_strings"], ids=lambda entry: entry["other"][:60])
def test_a_single_refused_string_is_not_the_context(entry: dict[str, Any]) -> None:
    assert not is_context_overflow(ProviderError(entry["other"], 400))
    assert is_context_overflow(ProviderError(entry["overflow"], 400))


@pytest.mark.parametrize(
    "entry", KINDS["single_requests_over_a_rate"], ids=lambda entry: entry["text"][:60]
)
def test_one_request_above_a_whole_rate_limit_is_no_overflow(entry: dict[str, Any]) -> None:
    assert not is_context_overflow(ProviderError(entry["text"], entry["status"]))


@pytest.mark.parametrize("entry", KINDS["waiting"], ids=lambda entry: entry["text"][:60])
def test_a_status_to_wait_yields_only_to_a_text_about_the_context(entry: dict[str, Any]) -> None:
    assert is_context_overflow(ProviderError(entry["text"], entry["status"])) is entry["overflow"]


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


UNITS = [
    "token ", "(", '"', "'", '\\"', "input exceeds ", "1,", "9 > ", "message: '", "“", "[1, 2", "{",
    "[{", '{"a":', "{'a': ", "b'{\"", "\\\\u8d85", "'a' ", '"a b c {" ', "error ", "128 000 ",
    "x'y", "https://", "request id ", "a.b.", "messages[1].", "string ", '{"error": "{', "输入",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_of_a_long_text_a_bounded_part_is_judged(unit: str) -> None:
    """The patterns never see more of a layer, and the search for bodies takes few steps."""
    error = ValueError(unit * (1_000_000 // len(unit)))
    (report,) = read_errors(error)
    assert sum(len(layer.text) for layer in report.layers) <= LAYER_CHARS
    is_context_overflow(error)
    overflow_window(error)
    middling = ValueError(unit * (40_000 // len(unit)))
    assert isinstance(is_context_overflow(middling), bool)


def http_error(status: int, text: str, url: str = "https://127.0.0.1/v1") -> httpx.HTTPStatusError:
    request = httpx.Request("POST", url)
    response = httpx.Response(status, text=text, request=request)
    return httpx.HTTPStatusError(f"Error code: {status}", request=request, response=response)


# -- what stands around the provider's answer ---------------------------------------------------


def as_json(text: str) -> str:
    return json.dumps({"error": {"message": text, "type": "invalid_request_error"}})


def openrouter(text: str, code: int = 400) -> dict[str, Any]:
    inner = {"raw": as_json(text), "provider_name": "Some Provider Of Models"}
    return {"error": {"message": "Provider returned error", "code": code, "metadata": inner}}


GATEWAYS: dict[str, Callable[[str], str]] = {
    "openai": lambda text: f"Error code: 400 - {json.loads(as_json(text))!r}",
    "litellm": lambda text: f"litellm.BadRequestError: OpenAIException - {text}",
    "litellm, as rate limit": lambda text: (
        f"litellm.RateLimitError: RateLimitError: OpenrouterException - {as_json(text)}"
    ),
    "litellm, as unavailable": lambda text: (
        f"litellm.ServiceUnavailableError: VertexAIException - b'{as_json(text)}'"
        " LiteLLM Retried: 2 times, LiteLLM Max Retries: 3"
    ),
    "bytes": lambda text: f"litellm.BadRequestError: VertexAI - {as_json(text).encode()!r}",
    "openrouter, printed": lambda text: f"Error code: 400 - {openrouter(text)!r}",
    "openrouter, 429": lambda text: json.dumps(openrouter(text, 429)),
    "portkey": lambda text: json.dumps(
        {"error": {"message": f"openai error: {text}", "type": None}, "provider": "openai"}
    ),
    "cloudflare": lambda text: json.dumps(
        {
            "success": False,
            "messages": [],
            "errors": [{"code": 5021, "message": f"AiError: {text}"}],
        }
    ),
    "azure apim": lambda text: json.dumps({"statusCode": 400, "message": text}),
    "new-api": lambda text: json.dumps(
        {
            "error": {
                "message": f"{text} (request id: 2025101208593217175902998820017)",
                "type": "upstream_error",
                "code": "bad_response_status_code",
            }
        }
    ),
    "bedrock": lambda text: (
        "An error occurred (ModelErrorException) when calling the InvokeModel operation: Received "
        f'client error (400) from primary with message "{as_json(text)}". See '
        "https://127.0.0.1/x in account 1 for more information."
    ),
    "bedrock, converse": lambda text: (
        "An error occurred (ValidationException) when calling the Converse operation: "
        f"The model returned the following errors: {text}"
    ),
    "vertex": lambda text: json.dumps(
        [{"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT", "details": []}}]
    ),
    "claude-code-router": lambda text: (
        f'{{"error":{{"message":"Error from provider(x: 400): {as_json(text)}Error: at x (cli.js)",'
        '"type":"api_error"}}'
    ),
    "a string": lambda text: json.dumps(as_json(text)),
    "escaped": lambda text: f"upstream: {json.dumps(as_json(text))[1:-1]}",
    "bad gateway": lambda text: f"502 Bad Gateway: upstream said {as_json(text)}",
    "indented": lambda text: "failed\n" + json.dumps(json.loads(as_json(text)), indent=2),
}
TEXTS = sorted(
    {entry["text"] for table in WORDINGS.values() for entry in table}
    | {entry["text"] for entry in COLLECTED}
    | {entry[side] for kind in ("numbers", "single_strings") for entry in KINDS[kind]
       for side in ("overflow", "other")}
)  # fmt: skip


@pytest.mark.parametrize("gateway", GATEWAYS)
def test_a_gateway_around_the_answer_changes_nothing(gateway: str) -> None:
    for text in TEXTS:
        plain, wrapped = ValueError(text), ValueError(GATEWAYS[gateway](text))
        assert is_context_overflow(wrapped) is is_context_overflow(plain), str(wrapped)
        if is_context_overflow(plain):
            assert overflow_window(wrapped) == overflow_window(plain), str(wrapped)


@given(
    st.sampled_from(TEXTS),
    st.lists(st.sampled_from(sorted(GATEWAYS)), min_size=2, max_size=3),
    st.sampled_from([500, 502, 503]),
)
def test_neither_do_several_gateways_nor_their_status(
    text: str, gateways: list[str], status: int
) -> None:
    wrapped = text
    for gateway in gateways:
        wrapped = GATEWAYS[gateway](wrapped)
    assert is_context_overflow(ProviderError(wrapped, status)) is is_context_overflow(
        ValueError(text)
    )


QUOTING: dict[str, Callable[[str], str]] = {
    "double": lambda text: f"Invalid content in {json.dumps(text, ensure_ascii=False)} at 3",
    "single": lambda text: f"Unknown word in {text!r}",
    "chinese": lambda text: f"消息「{text}」无法解析",
    "value": lambda text: f"Error code: 400 - { ({'error': {'message': 'No.', 'value': text}})!r}",
    "input": lambda text: (
        "Error code: 422 - "
        + repr([{"loc": ["body"], "msg": "Field required", "input": {"messages": [text]}}])
    ),
    "messages": lambda text: f"Invalid messages: {[{'role': 'user', 'content': text}]!r}",
    "a quoted body": lambda text: f"Unknown word in {json.dumps(as_json(text))}",
}


@pytest.mark.parametrize("quoting", QUOTING)
def test_a_quoted_message_never_makes_an_overflow(quoting: str) -> None:
    for text in TEXTS:
        if len(text.split()) >= 3 or len(re.findall("[\u4e00-\u9fff]", text)) >= 6:
            quoted = QUOTING[quoting](text)
            assert not is_context_overflow(ValueError(quoted)), quoted


WRITTEN: list[Callable[[int], str]] = [
    str,
    lambda n: f"{n:,}",
    lambda n: f"{n:_}",
    lambda n: f"{n:,}".replace(",", " "),
    lambda n: f"{n:,}".replace(",", "\u202f"),
    lambda n: f"{n:,}".replace(",", "'"),
    lambda n: f"{n // 1000}K",
    lambda n: f"{n // 1000}k",
]


@given(
    st.integers(4, 2000),
    st.integers(1, 500),
    st.sampled_from(WRITTEN),
    st.sampled_from(WRITTEN),
    st.sampled_from(
        [
            "The request uses {size} tokens; the limit of claude-4.5 is {limit}.",
            "Limit: {limit} tokens, got {size} tokens",
            "gpt-4-32k supports {limit} tokens and the prompt has {size}",
            "prompt is too long: {size} tokens, maximum {limit}",
        ]
    ),
)
def test_how_numbers_are_written_changes_nothing(
    limit: int, more: int, first: Callable[[int], str], second: Callable[[int], str], text: str
) -> None:
    limit, size = limit * 1000, (limit + more) * 1000
    error = ValueError(text.format(limit=first(limit), size=second(size)))
    assert is_context_overflow(error), error
    assert overflow_window(error) == limit, error


@given(st.permutations(["message", "code", "type", "param", "status"]), st.booleans())
def test_the_order_of_the_parts_changes_nothing(order: list[str], overflow: bool) -> None:
    parts = {
        "message": TOO_LONG if overflow else "Rate limit reached: too many tokens per minute",
        "code": "1210" if overflow else "1302",
        "type": "invalid_request_error",
        "param": None,
        "status": 400,
    }
    body = {"error": {name: parts[name] for name in order}}
    for form in FORMS.values():
        assert is_context_overflow(form(body)) is overflow


# -- a refusal without a reason -----------------------------------------------------------------


class CerebrasBadRequest(ProviderError):
    """As the client of a provider that gives no reason."""


CEREBRAS = "https://api.cerebras.invalid/v1/chat/completions"


@pytest.mark.parametrize(
    "error",
    [
        CerebrasBadRequest("Error code: 400 (no body)", 400),
        CerebrasBadRequest("400 status code (no body)", 400),
        CerebrasBadRequest("413 status code (no body)", 413),
        http_error(400, "", CEREBRAS),
        ProviderError("Google request failed with status code 400", 400),
    ],
    ids=str,
)
def test_a_bare_400_is_an_overflow_if_the_request_was_near_the_window(error: Exception) -> None:
    assert not is_context_overflow(error)
    assert not is_context_overflow(error, tokens=100_000)
    assert not is_context_overflow(error, window=100_000)
    assert not is_context_overflow(error, tokens=50_000, window=100_000)
    assert is_context_overflow(error, tokens=90_000, window=100_000)
    assert is_context_overflow(error, tokens=120_000, window=100_000)
    assert overflow_window(error) is None


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("Error code: 400 (no body)", 400),
        CerebrasBadRequest("Error code: 429 (no body)", 429),
        CerebrasBadRequest("Error code: 401 (no body)", 401),
        CerebrasBadRequest("Error code: 500 (no body)", 500),
        CerebrasBadRequest("Error code: 400 - Invalid role 'tool'", 400),
        CerebrasBadRequest("Error code: 400 (no body)", 400, code="wrong_api_format"),
        http_error(400, '{"message": "temperature must be <= 2"}', CEREBRAS),
    ],
    ids=str,
)
def test_other_refusals_of_large_requests_are_none(error: Exception) -> None:
    assert not is_context_overflow(error, tokens=120_000, window=100_000)


def test_the_provider_of_a_bare_400_may_be_told() -> None:
    error = ProviderError("Error code: 400 (no body)", 400)
    assert is_context_overflow(error, tokens=9, window=10, provider="ChatCerebras")
    assert not is_context_overflow(error, tokens=9, window=10, provider="ChatOpenAI")
