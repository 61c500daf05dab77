"""What goes to the summarizer and what comes back."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from langgraph_compression.policy.summary import (
    answer_text,
    failure_of,
    filled,
    framed,
    last_request,
    notice_message,
    rendered,
    summary_message,
    summary_text,
)

FILE = "outputs/conversation_history/000000-000004-0123456789abcdef.jsonl"


def call(args: dict[str, Any]) -> AIMessage:
    return AIMessage("Looking.", tool_calls=[{"name": "look", "args": args, "id": "1"}])


# -- what the summarizer reads


@pytest.mark.parametrize(
    ("message", "holds", "lacks"),
    [
        (HumanMessage("Please."), ["#7 user", "Please."], []),
        (call({"q": "码头"}), ["#7 assistant", "Looking.", "look", "码头"], []),
        (ToolMessage("down", tool_call_id="1", name="look", status="error"),
         ["#7 tool look (error)", "down"], []),
        (AIMessage([{"type": "thinking", "thinking": "SECRET-THOUGHT", "signature": "s"},
                    {"type": "text", "text": "Yes."}]), ["Yes."], ["SECRET-THOUGHT"]),
        (AIMessage([{"type": "reasoning", "summary": [{"text": "SECRET-THOUGHT"}]},
                    {"type": "text", "text": "Yes."}]), ["Yes."], ["SECRET-THOUGHT"]),
        (HumanMessage([{"type": "text", "text": "See."},
                       {"type": "image", "base64": "QUJD" * 500, "mime_type": "image/png"}]),
         ["See.", "image"], ["QUJDQUJD"]),
        (HumanMessage([{"type": "image_url",
                        "image_url": {"url": "data:image/png;base64," + "QUJD" * 500}}]),
         ["image"], ["QUJDQUJD"]),
        (AIMessage("", invalid_tool_calls=[
            {"name": "look", "args": '{"q": ', "id": "1", "error": None}]), ["look", '{"q": '], []),
        (AIMessage("", additional_kwargs={"function_call": {"name": "old", "arguments": "{}"}}),
         ["old"], []),
    ],
)  # fmt: skip
def test_a_message_as_the_summarizer_reads_it(
    message: AnyMessage, holds: list[str], lacks: list[str]
) -> None:
    text = rendered(message, 7)
    assert all(one in text for one in holds)
    assert not any(one in text for one in lacks)


@given(st.lists(st.text(max_size=40), max_size=5), st.none() | st.text(max_size=40))
def test_no_text_can_break_out_of_its_frame(texts: list[str], so_far: str | None) -> None:
    frame = framed(texts, so_far)
    mark = re.findall(r"</history ([0-9a-f]+)>", frame)[-1]
    assert frame.count(f"<history {mark}>") == frame.count(f"</history {mark}>") == 1
    assert frame.count(f"<message {mark}>") == frame.count(f"</message {mark}>") == len(texts)
    assert all(text.replace("\0", "") in frame for text in texts)
    frame.encode()


def test_a_text_that_holds_the_marker_of_another_request_is_just_text() -> None:
    first = framed(["hello"], None)
    second = framed([first, "rest"], None)
    (mark,) = set(re.findall(r"<history ([0-9a-f]+)>", second)) - set(
        re.findall(r"<history ([0-9a-f]+)>", first)
    )
    assert second.startswith(f"<history {mark}>")
    assert second.endswith(f"</history {mark}>")


def test_texts_with_lone_surrogates_and_nul_can_be_sent() -> None:
    framed(["a \ud800 b \0 c"], "d \udfff").encode()


@pytest.mark.parametrize("history", ["{messages}", "{0} %s {messages} \\1 $1", "{"])
def test_the_place_is_filled_once_and_literally(history: str) -> None:
    assert filled("before {messages} after {messages}", history) == (
        f"before {history} after {{messages}}"
    )


# -- what comes back


def metadata(**values: Any) -> AIMessage:
    return AIMessage("A summary.", response_metadata=values)


TOOL_CALL = [{"name": "x", "args": {}, "id": "1"}]


@pytest.mark.parametrize(
    ("answer", "text", "failure"),
    [
        (AIMessage("A summary."), "A summary.", None),
        (AIMessage("<think>hm</think>A summary."), "A summary.", None),
        (AIMessage("<thinking>\nhm\n</thinking>\n\nA summary."), "A summary.", None),
        (AIMessage([{"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "text", "text": "A summary."}]), "A summary.", None),
        (AIMessage("<think>never closed"), "", "empty"),
        (AIMessage("<think>only</think> \n"), "", "empty"),
        (AIMessage(""), "", "empty"),
        (AIMessage([]), "", "empty"),
        (AIMessage([{"type": "thinking", "thinking": "hm", "signature": "s"}]), "", "empty"),
        (AIMessage("", tool_calls=TOOL_CALL), "", "tool_call"),
        (AIMessage("A summary.", tool_calls=TOOL_CALL), "A summary.", None),
        (metadata(finish_reason="length"), "A summary.", "cut_off"),
        (metadata(finish_reason="MAX_TOKENS"), "A summary.", "cut_off"),
        (metadata(stop_reason="max_tokens"), "A summary.", "cut_off"),
        (metadata(done_reason="length"), "A summary.", "cut_off"),
        (metadata(status="incomplete"), "A summary.", "cut_off"),
        (metadata(finish_reason="stop"), "A summary.", None),
        (metadata(stop_reason="end_turn"), "A summary.", None),
        (metadata(status="completed"), "A summary.", None),
    ],
)  # fmt: skip
def test_which_answers_count(answer: AIMessage, text: str, failure: str | None) -> None:
    assert answer_text(answer) == text
    assert failure_of(answer, answer_text(answer)) == failure


# -- messages that stand for a range


def test_the_summary_message() -> None:
    message = summary_message("TEXT", file_path=FILE, quote="Please.", cutoff=4)
    assert message.type == "human"
    assert message.additional_kwargs["lc_source"] == "summarization"
    assert message.id
    assert all(one in message.text for one in ("TEXT", FILE, "Please."))
    assert summary_text(message) == "TEXT"


def test_without_a_file_it_names_none() -> None:
    message = summary_message("TEXT", file_path=None, quote=None, cutoff=4)
    assert "outputs/" not in message.text


@given(st.text(min_size=1), st.none() | st.text())
def test_the_summary_is_read_back_from_its_message(text: str, quote: str | None) -> None:
    message = summary_message(text, file_path=FILE, quote=quote, cutoff=4)
    assert summary_text(message) == text.replace("\0", "")
    assert FILE in message.text


def test_the_same_summary_is_the_same_message() -> None:
    one, two = (summary_message("T", file_path=FILE, quote=None, cutoff=4) for _ in range(2))
    other = summary_message("U", file_path=FILE, quote=None, cutoff=4)
    assert one == two
    assert one.id != other.id


@pytest.mark.parametrize("kwargs", [{}, {"summary_span": None}, {"summary_span": ["a", 3]},
                                    {"summary_span": "0-3"}])  # fmt: skip
def test_summaries_of_elsewhere_are_read_whole(kwargs: dict[str, Any]) -> None:
    assert summary_text(HumanMessage("Elsewhere's", additional_kwargs=kwargs)) == "Elsewhere's"


def test_the_notice_tells_the_kind_and_holds_the_digest() -> None:
    message = notice_message("DIGEST", kind="RuntimeError", file_path=FILE, cutoff=4)
    assert message.type == "human"
    assert all(one in message.text for one in ("DIGEST", "RuntimeError", FILE))
    assert "outputs/" not in notice_message("D", kind="empty", file_path=None, cutoff=4).text


def words(text: str) -> int:
    return len(text.split())


QUESTION = HumanMessage("The last request")


@pytest.mark.parametrize(
    ("messages", "cut", "quote"),
    [
        ([QUESTION, AIMessage("a"), AIMessage("b")], 1, "The last request"),
        ([QUESTION, AIMessage("a"), AIMessage("b")], 2, "The last request"),
        ([HumanMessage("old"), AIMessage("a"), QUESTION], 2, None),
        ([AIMessage("a"), AIMessage("b")], 1, None),
        ([QUESTION, call({}), HumanMessage(
            [{"type": "tool_result", "tool_use_id": "1", "content": "r"}]), AIMessage("b")],
         3, "The last request"),
    ],
)  # fmt: skip
def test_the_last_request_is_quoted_if_it_is_summarized(
    messages: list[AnyMessage], cut: int, quote: str | None
) -> None:
    assert last_request(messages, cut, words) == quote


def test_a_long_last_request_is_bounded() -> None:
    quote = last_request([HumanMessage("word " * 5000), AIMessage("a")], 1, words)
    assert quote is not None
    assert words(quote) < 500
