"""A provider that refuses large requests without a word; what a predicate of the user's gets."""

from typing import Any

import pytest
from langchain_core.messages import AnyMessage, HumanMessage

from langgraph_compression import CompressionSettings, is_context_overflow
from tests.support.bench import CONFIG, Bench
from tests.support.fakes import FakeModel, Reply, drive

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
SETTINGS = CompressionSettings(summary_threshold=10, summary_keep_messages=4)


class BadRequest(Exception):
    """As clients raise it for a response without a body."""

    status_code = 400

    def __init__(self) -> None:
        super().__init__("Error code: 400 (no body)")


class ChatCerebras(FakeModel):
    """Its provider refuses so."""

    def __init__(self, *script: Reply, **fields: Any) -> None:
        super().__init__(*script, **fields)


def conversation(tokens: int) -> list[AnyMessage]:
    return [HumanMessage("word " * (tokens * 4 // 5 // 20), id=f"m{n}") for n in range(20)]


@BOTH
def test_a_bare_400_near_the_threshold_is_answered_by_a_smaller_request(asynchronous: bool) -> None:
    bench = Bench(SETTINGS, model=ChatCerebras(BadRequest()))
    bench.put(conversation(9_500))
    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)
    assert outcome.error is None
    assert outcome.last("completed")["trigger"] == "overflow"
    first, second = (sum(len(m.content) for m in view) for view in bench.model.views)
    assert second * 2 <= first * 1.1


@BOTH
def test_a_bare_400_near_the_known_window_too(asynchronous: bool) -> None:
    model = ChatCerebras(BadRequest(), profile={"max_input_tokens": 4_000})
    bench = Bench(SETTINGS, model=model)
    bench.put(conversation(3_800))
    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)
    assert outcome.error is None
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    ("kind", "tokens"), [(FakeModel, 9_500), (ChatCerebras, 3_000)], ids=["provider", "size"]
)
@BOTH
def test_any_other_bare_400_is_raised_as_it_is(
    kind: type[FakeModel], tokens: int, asynchronous: bool
) -> None:
    error = BadRequest()
    model = kind(error)
    bench = Bench(SETTINGS, model=model)
    bench.put(conversation(tokens))
    outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)
    assert outcome.error is error
    assert len(model.requests) == 1


@BOTH
def test_a_summarizer_is_judged_by_its_own_window(asynchronous: bool) -> None:
    """Near it the pieces get smaller; far from it the same request is tried once more."""
    for profile, smaller in ((None, True), ({"max_input_tokens": 200_000}, False)):
        summarizer = ChatCerebras(BadRequest(), answer="SUMMARY", profile=profile)
        bench = Bench(SETTINGS, summary_model=summarizer)
        bench.put(conversation(15_000))
        outcome = drive(bench.graph, {"messages": []}, CONFIG, asynchronous=asynchronous)
        assert outcome.error is None
        first, second = (len(request.text) for request in summarizer.requests[:2])
        assert (second < first) is smaller


def asked(is_overflow: Any) -> Bench:
    bench = Bench(SETTINGS, model=FakeModel(BadRequest()), is_overflow=is_overflow)
    bench.put(conversation(5_000))
    return bench


def test_a_predicate_of_one_parameter_is_called_with_the_error_alone() -> None:
    bench = asked(lambda error: isinstance(error, BadRequest))
    assert drive(bench.graph, {"messages": []}, CONFIG, asynchronous=False).error is None
    assert len(bench.model.requests) == 2


def test_a_predicate_gets_the_size_and_the_window_by_name() -> None:
    seen: list[Any] = []

    def is_overflow(error: BaseException, tokens: int, *, window: int, note: str = "") -> bool:
        seen.append((tokens, window, note))
        return True

    bench = asked(is_overflow)
    assert drive(bench.graph, {"messages": []}, CONFIG, asynchronous=False).error is None
    ((tokens, window, note),) = seen
    assert 4_500 < tokens < 5_500
    assert (window, note) == (SETTINGS.threshold, "")


def test_a_parameter_that_has_a_value_keeps_it() -> None:
    bench = asked(lambda error, tokens=7, other=5: (tokens, other) == (7, 5))
    assert drive(bench.graph, {"messages": []}, CONFIG, asynchronous=False).error is None


def test_the_built_in_predicate_inside_of_a_users_own_works_with_the_error_alone() -> None:
    bench = asked(lambda error: is_context_overflow(error))
    assert isinstance(
        drive(bench.graph, {"messages": []}, CONFIG, asynchronous=False).error, BadRequest
    )
