"""Counting messages and tools: what counts, what does not, and that it counts once."""

import gc
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, cast
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langgraph_compression.errors import CompressionError
from langgraph_compression.tokens.counter import LISTS_IN_USE, MOST, MessageCounter
from langgraph_compression.tokens.messages import MESSAGE_TOKENS
from tests.support.conversations import conversations

PAYLOAD = "QUJD" * 5000


def size(message: AnyMessage) -> int:
    """Characters that count, with the frame."""
    return MessageCounter(len).message(message)


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage("four"),
        SystemMessage("four"),
        AIMessage("four"),
        ChatMessage(content="four", role="critic"),
        HumanMessage([{"type": "text", "text": "four"}]),
        HumanMessage(["four"]),
        AIMessage([{"type": "thinking", "thinking": "four", "signature": PAYLOAD}]),
    ],
)
def test_text_counts_with_a_frame(message: AnyMessage) -> None:
    assert size(message) == 4 + MESSAGE_TOKENS


def texts(message: AnyMessage) -> str:
    """What a counter is given of a message."""
    seen: list[str] = []

    def count(text: str) -> int:
        seen.append(text)
        return len(text)

    MessageCounter(count).message(message)
    return "\n".join(seen)


CALL: Any = {"name": "look", "args": {"q": "码头"}, "id": "call-1", "type": "tool_call"}
RAW: Any = {"id": "call-1", "function": {"name": "look", "arguments": '{"q": "码头"}'}}


@pytest.mark.parametrize(
    ("message", "counted"),
    [
        (AIMessage("", tool_calls=[CALL]), ["look", "码头", "call-1"]),
        (AIMessage("", additional_kwargs={"tool_calls": [RAW]}), ["look", "码头", "call-1"]),
        (AIMessage("", invalid_tool_calls=[
            {"name": "look", "args": '{"q": ', "id": "call-1", "error": "not sent"}
        ]), ["look", '{"q": ', "call-1"]),
        (AIMessage("", additional_kwargs={"function_call": {"name": "old", "arguments": "{}"}}),
         ["old"]),
        (AIMessage([{"type": "tool_use", "id": "call-1", "name": "look", "input": {"q": "码头"}}]),
         ["look", "码头"]),
        (ToolMessage("found", tool_call_id="call-1", name="look"), ["found", "call-1", "look"]),
        (FunctionMessage(name="old", content="found"), ["old", "found"]),
        (HumanMessage("hi", name="ada"), ["hi", "ada"]),
        (HumanMessage([{"type": "tool_result", "tool_use_id": "1", "content": [
            {"type": "text", "text": "found"}]}]), ["found"]),
    ],
)  # fmt: skip
def test_what_counts(message: AnyMessage, counted: list[str]) -> None:
    text = texts(message)
    assert all(one in text for one in counted)


def test_copies_of_a_call_count_once() -> None:
    block = {"type": "tool_use", "id": "call-1", "name": "look", "input": {"q": "码头"}}
    once = AIMessage("", tool_calls=[CALL])
    thrice = AIMessage([block], tool_calls=[CALL], additional_kwargs={"tool_calls": [RAW]})
    assert texts(thrice).count("码头") == texts(once).count("码头") == 1


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "base64": PAYLOAD, "mime_type": "image/png"},
        {"type": "image", "source": {"type": "base64", "data": PAYLOAD}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PAYLOAD}"}},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PAYLOAD}"},
        {"type": "audio", "base64": PAYLOAD, "mime_type": "audio/wav"},
        {"type": "input_audio", "input_audio": {"data": PAYLOAD, "format": "wav"}},
        {"type": "video", "base64": PAYLOAD, "mime_type": "video/mp4"},
        {"type": "file", "base64": PAYLOAD, "mime_type": "application/pdf"},
        {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PAYLOAD}"}},
    ],
)
def test_media_have_a_fixed_cost(block: dict[str, Any]) -> None:
    message = HumanMessage([block])
    assert PAYLOAD not in texts(message)
    assert 100 < size(message) < 3000
    assert size(HumanMessage([block, block])) > 1.8 * size(message)


def test_media_inside_of_a_result_cost_the_same() -> None:
    image: Any = {"type": "image", "source": {"type": "base64", "data": PAYLOAD}}
    result: Any = {"type": "tool_result", "tool_use_id": "1", "content": [image]}
    assert size(HumanMessage([result])) >= size(HumanMessage([image])) - 20
    assert PAYLOAD not in texts(HumanMessage([result]))


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"leaf": 1}
    for _ in range(levels):
        value = {"k": value}
    return value


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("", tool_calls=[{"name": "t", "args": deep(5000), "id": "1"}]),
        AIMessage("", tool_calls=[{"name": "t", "args": {"x": object()}, "id": "1"}]),
        AIMessage("", tool_calls=[{"name": "t", "args": {"x": 10**5000}, "id": "1"}]),
        AIMessage("", tool_calls=[{"name": "t", "args": {"x": float("nan")}, "id": "1"}]),
        AIMessage("", additional_kwargs={"tool_calls": ["no call"]}),
        HumanMessage([{"type": "text"}]),
        HumanMessage([{}]),
        HumanMessage("\ud800 \0"),
    ],
    ids=["deep", "object", "digits", "nan", "no call", "no text", "no type", "surrogate"],
)
def test_odd_messages_are_counted(message: AnyMessage) -> None:
    assert size(message) >= MESSAGE_TOKENS


def test_tool_schemas_count() -> None:
    schema = {"type": "function", "function": {"name": "look", "description": "d" * 500}}
    assert MessageCounter(len).tools([schema]) > 500
    assert MessageCounter(len).tools([schema, schema]) == 2 * MessageCounter(len).tools([schema])
    assert MessageCounter(len).tools([]) == 0


def test_a_message_is_counted_once_and_again_when_its_content_changes() -> None:
    seen: list[str] = []

    def count(text: str) -> int:
        seen.append(text)
        return len(text)

    counter = MessageCounter(count)
    message = HumanMessage("one")
    assert counter.messages([message]) == counter.messages([message]) == 3 + MESSAGE_TOKENS
    assert len(seen) == 1
    message.content = "three"
    assert counter.message(message) == 5 + MESSAGE_TOKENS


def _spoken(**changed: Any) -> AIMessage:
    said: dict[str, Any] = {"content": "", "id": "2", "tool_calls": [CALL], **changed}
    return AIMessage(**said)


@pytest.mark.parametrize(
    "changed",
    [
        {"tool_calls": [{**CALL, "args": {"q": "a longer question"}}]},
        {"tool_calls": [{**CALL, "args": {"q": {"deep": [1, None, 2.5]}}}]},
        {"tool_calls": [{**CALL, "args": {"q": {1, 2, 3}}}]},  # no JSON
        {"tool_calls": [{**CALL, "name": "look_around"}]},
        {"tool_calls": [CALL, CALL]},
        {"tool_calls": [], "invalid_tool_calls": [{**CALL, "args": "{", "error": None}]},
        {"tool_calls": [], "additional_kwargs": {"tool_calls": [{**RAW, "more": "m" * 50}]}},
        {"tool_calls": [], "additional_kwargs": {"function_call": RAW["function"]}},
        {"content": "said"},
        {"content": [{"type": "text", "text": "said in a block"}]},
        {"content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}]},
        {"name": "somebody"},
    ],
)
def test_a_message_that_took_another_ones_place_is_counted_anew(changed: dict[str, Any]) -> None:
    """With the same id, in the middle of a list whose other messages stay the same."""
    counter = MessageCounter(len)
    first, last = HumanMessage("first", id="1"), ToolMessage("x", tool_call_id="call-1", id="3")
    for message in (_spoken(), _spoken(**changed), _spoken(), _spoken(**changed)):
        messages: list[AnyMessage] = [first, message, last]
        expected = sum(map(size, messages))
        assert counter.messages(messages) == counter.messages(messages) == expected


def test_a_list_that_shrinks_or_grows_is_counted_as_it_is() -> None:
    counter = MessageCounter(len)
    messages: list[AnyMessage] = [HumanMessage("x" * n) for n in range(1, 8)]
    for end in (3, 7, 5, 1, 6, 0, 7):
        assert counter.messages(messages[:end]) == sum(map(size, messages[:end]))


def test_counting_keeps_no_conversation_alive() -> None:
    counter = MessageCounter(len)
    messages = [HumanMessage("x" * n) for n in range(5)]
    counter.messages(messages)
    counter.messages(messages[1:])
    watched = [ref(message) for message in messages]
    del messages
    gc.collect()
    assert [message() for message in watched] == [None] * 5


def _returned(value: Any, _: str) -> Any:
    return value


def test_a_counter_may_return_fractions_and_nonsense() -> None:
    message, schema = HumanMessage("x" * 6), {"name": "x" * 20}
    counter: Any = MessageCounter(lambda text: len(text) / 4)  # type: ignore[arg-type, return-value]
    assert counter.messages([message] * 2) == 2 * (1 + MESSAGE_TOKENS)
    assert isinstance(counter.tools([schema]), int)
    for number, expected in ((-5, 0), (float("inf"), MOST), (2**70, MOST), (True, 1)):
        counter = MessageCounter(cast("Any", partial(_returned, number)))
        assert counter.messages([message]) == counter.message(message) == expected + MESSAGE_TOKENS
    for nonsense in (None, "many", float("nan")):
        counter = MessageCounter(cast("Any", partial(_returned, nonsense)))
        for _ in range(2):
            with pytest.raises(CompressionError, match="must return a number of tokens"):
                counter.messages([message])


def test_a_conversation_that_begins_with_a_constant_is_not_kept() -> None:
    constant = SystemMessage("Be brief.")
    messages = [constant, HumanMessage("one"), HumanMessage("two")]
    counter = MessageCounter(len)
    counter.messages(messages)
    watched = [ref(message) for message in messages[1:]]
    del messages
    gc.collect()
    assert [message() for message in watched] == [None, None]


def test_lists_that_hold_each_others_last_message_are_let_go_in_time() -> None:
    counter = MessageCounter(len)
    one, other = HumanMessage("one"), SystemMessage("other")
    counter.messages([one, other])
    counter.messages([other, one])
    watched = ref(one)
    del one, other
    for number in range(LISTS_IN_USE):
        counter.messages([HumanMessage(str(number))])
    gc.collect()
    assert watched() is None


@given(st.data())
def test_what_was_counted_before_does_not_matter(data: st.DataObject) -> None:
    """Lists that begin alike, by object or by what they say, in any order and length."""
    counter = MessageCounter(len)
    texts = st.text("ab", max_size=3)
    pool: list[AnyMessage] = [
        _spoken(content=text, name=name) for text in ("", "a", "bb") for name in (None, "n")
    ]
    pool += [HumanMessage(text, id="1") for text in ("", "a", "b", "bb")]
    for _ in range(6):
        messages = data.draw(st.lists(st.sampled_from(pool), max_size=6))
        anew, changed = data.draw(st.tuples(st.booleans(), st.booleans()))
        if anew:  # out of a checkpoint
            messages = [message.model_copy(deep=True) for message in messages]
        if messages and changed:  # in place
            messages[-1].content = data.draw(texts)
        assert counter.messages(messages) == sum(map(size, messages))


def test_many_threads_count_alike() -> None:
    counter = MessageCounter(len)
    messages = [HumanMessage("x" * (n % 90)) for n in range(400)]
    expected = sum(map(size, messages))
    with ThreadPoolExecutor(8) as pool:
        heads = [messages[: 400 - n % 7] for n in range(200)]
        counted = list(pool.map(counter.messages, heads))
    assert counted == [expected - sum(map(size, messages[len(h) :])) for h in heads]


def test_a_message_in_the_place_of_a_freed_one_is_counted_by_itself() -> None:
    counter = MessageCounter(len)
    for length in range(300):
        assert counter.message(HumanMessage("x" * length)) == length + MESSAGE_TOKENS
        if length % 50 == 0:
            gc.collect()


def test_a_long_text_is_counted_beside_the_short_ones() -> None:
    text = "x" * 1_500_000
    blocks: list[Any] = [{"type": "text", "text": text}, {"type": "text", "text": "y"}]
    for content in (text, blocks):
        message = ToolMessage(content, tool_call_id="c1", name="lookup")
        block = 0 if content is text else 2
        assert size(message) == len(text) + block + len("lookup\nc1") + MESSAGE_TOKENS


@given(conversations())
def test_a_sum_is_the_sum_and_does_not_depend_on_what_was_counted(
    messages: list[AnyMessage],
) -> None:
    counter = MessageCounter(len)
    assert counter.messages(messages) == sum(map(size, messages))
    assert counter.messages(reversed(messages)) == counter.messages(messages)
