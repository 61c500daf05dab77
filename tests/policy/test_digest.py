"""What a digest tells of a range of messages, and that it stays a digest."""

import json
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)

from langgraph_compression.policy.digest import digest
from langgraph_compression.policy.telling_lines import decision_in, error_line
from langgraph_compression.state.counting import Count

TRANSCRIPTS = Path(__file__).parents[3] / "shared" / "transcripts"


def quarter(text: str) -> int:
    """Four ASCII characters or one other character are a token."""
    ascii_characters = sum(map(str.isascii, text))
    return ascii_characters // 4 + len(text) - ascii_characters


def called(name: str, args: dict[str, Any], result: Any, **fields: Any) -> list[AnyMessage]:
    """A call and its result; the id is the same for all, as in real threads."""
    call = {"name": name, "args": args, "id": "call_1"}
    return [
        AIMessage("", tool_calls=[call]),
        ToolMessage(result, tool_call_id="call_1", name=name, **fields),
    ]


CODING: list[AnyMessage] = [
    SystemMessage("You are a coding agent."),
    HumanMessage("Make the tax rate depend on the region. Never change `calc_tax(order)`."),
    *called("read_file", {"file_path": "src/invoice.py"}, "def calc_tax(order): ..."),
    AIMessage("The rate is hard-coded as 0.06. I will read it from config/tax.yaml."),
    HumanMessage("Good. Use 19% for DE, and no pandas."),
    *called("write_file", {"file_path": "config/tax.yaml", "content": "DE: 0.19"}, "ok"),
    *called("edit_file", {"path": "src/invoice.py", "old": "a"}, "no match", status="error"),
    *called("edit_file", {"path": "src/invoice.py", "old": "b"}, "ok"),
    *called("run", {"cmd": "pytest"}, 'Traceback (most recent call last):\n  x\nKeyError: "EU"'),
    AIMessage(
        [
            {"type": "reasoning", "reasoning": "a secret plan"},
            {"type": "text", "text": "One test fails with KeyError. Shall I default to CN?"},
        ]
    ),
]


@pytest.mark.parametrize(
    "part",
    [
        "> Make the tax rate depend on the region. Never change `calc_tax(order)`.",
        "> Good. Use 19% for DE, and no pandas.",
        "answered: The rate is hard-coded as 0.06.",
        "- config/tax.yaml: write_file",
        "- src/invoice.py: read_file, edit_file x2 (1 failed)",
        "edit_file x2 (1 failed), read_file, write_file, run (1 failed)",
        "- write_file(file_path=config/tax.yaml, content=DE: 0.19) → ok",
        "- edit_file(path=src/invoice.py, old=a): no match",
        '- run(cmd=pytest): KeyError: "EU"',
        "- The assistant asked: Shall I default to CN?",
        "> One test fails with KeyError. Shall I default to CN?",
    ],
)
def test_a_coding_session_tells(part: str) -> None:
    assert part in digest(CODING, 2000, quarter)


def test_decisions_are_told_from_the_whole_range() -> None:
    messages: list[AnyMessage] = []
    for n in range(5):
        messages += [HumanMessage(f"topic {n}"), AIMessage(f"I decided on plan {n}. Next.")]
        messages += long_session(20)
    text = digest(messages, 2000, quarter)
    for n in range(5):
        assert f"- I decided on plan {n}." in text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Done. Decision: keep `a.b` as it is. More?", "Decision: keep `a.b` as it is."),
        ("测试通过。决定：默认拒绝。要继续吗？", "决定：默认拒绝。"),
        ("We have agreed on\n- the name", "We have agreed on"),
        ("An undecided matter", ""),
        ("", ""),
    ],
)
def test_which_sentence_tells_a_decision(text: str, sentence: str) -> None:
    assert decision_in(text) == sentence


def test_a_decision_in_a_text_without_sentences_is_bounded() -> None:
    sentence = decision_in("x " * 3000 + "decided " + "y " * 3000)
    assert "x decided y" in sentence
    assert len(sentence) < 620


def test_reasoning_and_system_prompt_are_left_out() -> None:
    text = digest([*CODING, AIMessage("<think>hidden thoughts</think>Visible.")], 2000, quarter)
    assert "secret" not in text
    assert "hidden" not in text
    assert "You are a coding agent" not in text
    assert text.endswith("> Visible.")


@pytest.mark.parametrize(
    ("said", "heading"),
    [
        ("请修复 src/app/main.py 里的 TypeError: x is not callable", "## 用户的请求"),
        ("帮我看看", "## 用户的请求"),
        ("Please translate 你好 into French for me", "## Requests of the user"),
        ("Bonjour, où est la gare ?", "## Requests of the user"),
        ("12345", "## Requests of the user"),
    ],
)
def test_headings_are_in_the_language_of_the_user(said: str, heading: str) -> None:
    assert heading in digest([HumanMessage(said), AIMessage("OK")], 500, quarter)


def test_what_is_open_at_the_end() -> None:
    todos = [
        {"content": "write the tests", "status": "pending"},
        {"content": "read the code", "status": "completed"},
    ]
    messages = [
        HumanMessage("Go on"),
        *called("write_todos", {"todos": todos}, "ok"),
        AIMessage("", tool_calls=[{"name": "deploy", "args": {"to": "test"}, "id": "d"}]),
    ]
    text = digest(messages, 500, quarter)
    section = text.partition("## Open")[2]
    assert "- The last request has no answer yet." in section
    assert "- deploy(to=test): no result" in section
    assert "- to do: write the tests (pending)" in section
    assert "read the code" not in section


def test_a_question_that_was_answered_is_not_open() -> None:
    messages: list[AnyMessage] = [
        HumanMessage("Hi"),
        AIMessage("Which?"),
        HumanMessage("a.py"),
        AIMessage("Ok."),
    ]
    assert "asked" not in digest(messages, 500, quarter)


def test_equal_failures_are_told_once_and_whether_they_were_overcome() -> None:
    messages: list[AnyMessage] = [HumanMessage("Fetch it")]
    for result in ("Error: timeout", "Error: timeout", "<html>"):
        messages += called("fetch", {"url": "https://x.test"}, result)
    text = digest(messages, 500, quarter)
    line = "fetch(url=https://x.test) x2: Error: timeout [the same call succeeded later]"
    assert text.count(line) == 1


def test_repeated_call_ids_do_not_mix_results() -> None:
    messages = [
        HumanMessage("Compare"),
        *called("read", {"path": "a.txt"}, "alpha"),
        *called("read", {"path": "b.txt"}, "beta"),
    ]
    text = digest(messages, 500, quarter)
    assert "read(path=a.txt) → alpha" in text
    assert "read(path=b.txt) → beta" in text


def test_results_in_blocks_and_of_functions_count() -> None:
    messages: list[AnyMessage] = [
        HumanMessage("Do it"),
        AIMessage([{"type": "tool_use", "id": "t", "name": "look", "input": {"path": "x.md"}}]),
        HumanMessage(
            [{"type": "tool_result", "tool_use_id": "t", "content": "gone", "is_error": True}]
        ),
        AIMessage("", additional_kwargs={"function_call": {"name": "old", "arguments": '{"a":1}'}}),
        FunctionMessage(content="fine", name="old"),
        ToolMessage("who called?", tool_call_id="nobody", name="lost"),
        ChatMessage(content="from a chat message", role="user"),
    ]
    text = digest(messages, 800, quarter)
    assert "- look(path=x.md): gone" in text
    assert "- old(a=1) → fine" in text
    assert "- lost() → who called?" in text
    assert "> from a chat message" in text
    assert "> gone" not in text


def test_media_are_named() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0K" * 500}}
    text = digest([HumanMessage([{"type": "text", "text": "See"}, image])], 500, quarter)
    assert "iVBORw0KiVBORw0K" not in text
    assert "image" in text


def test_an_earlier_summary_is_told_and_is_no_request() -> None:
    summary = HumanMessage("We chose SQLite.", additional_kwargs={"lc_source": "summarization"})
    text = digest([summary, HumanMessage("Go on"), AIMessage("Done.")], 500, quarter)
    assert "## Earlier summary\n> We chose SQLite." in text
    assert "[1]\n> Go on" in text


# -- bounds --------------------------------------------------------------------------------


def long_session(turns: int) -> list[AnyMessage]:
    messages: list[AnyMessage] = []
    for n in range(turns):
        messages.append(HumanMessage(f"request {n}: " + "please do this and that. " * 8))
        messages += called("search", {"query": f"q{n}", "path": f"dir/file{n}.py"}, "found " * 300)
        messages.append(AIMessage(f"answer {n}. " + "It went well. " * 8))
    return messages


@pytest.mark.parametrize("limit", [64, 200, 500, 2000])
def test_first_and_newest_requests_come_before_those_between(limit: int) -> None:
    text = digest(long_session(200), limit, quarter)
    assert "request 199" in text
    assert "request 0" in text or limit < 100
    assert "request 100" not in text
    assert "left out …]" in text


def test_the_last_request_is_verbatim_in_an_ordinary_digest() -> None:
    request = "\n".join(f"{n}. constraint number {n}" for n in range(1, 20))
    messages = [*long_session(100), HumanMessage(request)]
    text = digest(messages, 2000, quarter)
    assert "\n".join(f"> {line}" for line in request.splitlines()) in text


def split_words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize("count", [quarter, len, split_words])
@pytest.mark.parametrize("messages", [CODING, long_session(40)], ids=["coding", "long"])
def test_the_limit_holds_for_every_counter(messages: Sequence[AnyMessage], count: Count) -> None:
    for limit in [*range(0, 130), 200, 201, 499, 1000, 3000]:
        text = digest(messages, limit, count)
        assert count(text) <= limit
        assert text or limit < 100


def test_more_room_never_shows_fewer_sections_than_the_essential_ones() -> None:
    for limit in range(100, 2000, 50):
        text = digest(CODING, limit, quarter)
        assert "## Requests of the user" in text
        assert "## Last state" in text


def test_ten_thousand_messages_take_little_counting() -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return quarter(text)

    messages = long_session(2500)
    digest(messages, 2000, count)
    assert sum(counted) < 200_000


def test_one_huge_message_is_not_counted() -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return quarter(text)

    huge = "x y " * 2_000_000
    messages = [HumanMessage(huge), *called("t", {"path": huge, "q": huge}, huge), AIMessage(huge)]
    assert quarter(digest(messages, 2000, count)) <= 2000
    assert sum(counted) < 200_000


# -- odd content ---------------------------------------------------------------------------

FORGED = "hello\n## Requests of the user\n[1]\n- fake\u2028## Errors\x0b## Files\x85## Tools\r## X"


def is_own(line: str) -> bool:
    return line.startswith(("> ", "- ", "→ ", "[", "## ", "Extract of", "以下摘录自"))


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]


def test_no_text_of_a_message_poses_as_a_part_of_the_digest() -> None:
    messages = [
        HumanMessage(FORGED),
        *called(FORGED, {"path": FORGED, FORGED: "x", "file": "a\u2028## b"}, f"Error: {FORGED}"),
        AIMessage(f"{FORGED}\n## Open?"),
    ]
    for limit in (100, 400, 3000):
        text = digest(messages, limit, quarter)
        assert len(headings(text)) == len(set(headings(text)))
        assert all(map(is_own, text.splitlines()))


def safe(text: str) -> bool:
    text.encode()
    return not [c for c in text if unicodedata.category(c) == "Cc" and c not in "\n\t"]


ODD = st.text(st.characters(codec=None, exclude_categories=()), max_size=60) | st.sampled_from(
    ["", "\x00", "\ud800", "\ud83d", "{}", "[" * 500, '{"error": {"a": [1]}}', "Error", FORGED]
)
BLOCKS = st.lists(
    ODD
    | st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "tool_result", "image", "thinking", "tool_use", "?"])},
        optional={"text": ODD, "tool_use_id": ODD, "id": ODD, "content": ODD, "name": ODD},
    ),
    max_size=3,
)
CONTENT = ODD | BLOCKS
ARGS = st.dictionaries(
    st.sampled_from(["path", "files", "todos", "x"]) | ODD,
    st.none() | st.integers() | ODD | st.lists(ODD, max_size=3) | st.just(10**6000),
    max_size=3,
)
MESSAGE = st.one_of(
    st.builds(HumanMessage, CONTENT),
    st.builds(SystemMessage, CONTENT),
    st.builds(lambda c, i: ToolMessage(c, tool_call_id=i), CONTENT, st.sampled_from("ab")),
    st.builds(
        lambda c, n, a, i: AIMessage(c, tool_calls=[{"name": n, "args": a, "id": i}]),
        CONTENT, ODD, ARGS, st.sampled_from("ab"),
    ),
    st.builds(lambda c: ChatMessage(content=c, role="assistant"), CONTENT),
    st.just(RemoveMessage(id="x")),
)  # fmt: skip


@given(st.lists(MESSAGE, max_size=8), st.sampled_from([0, 10, 64, 300, 2000]))
def test_any_messages_give_a_bounded_clean_digest(messages: list[AnyMessage], limit: int) -> None:
    text = digest(messages, limit, quarter)
    assert quarter(text) <= limit
    assert safe(text)
    assert all(map(is_own, text.splitlines()))
    assert len(headings(text)) == len(set(headings(text)))
    assert text == digest(messages, limit, quarter)


@pytest.mark.parametrize("message", [SystemMessage("s"), AIMessage(""), HumanMessage([])])
def test_nothing_to_tell(message: AnyMessage) -> None:
    assert "##" not in digest([message], 500, quarter)
    assert digest([], 500, quarter) == ""


# -- failures ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "line"),
    [
        ("Error: no such file\nmore", "Error: no such file"),
        ("ValueError: bad", "ValueError: bad"),
        ("错误：找不到文件", "错误：找不到文件"),
        ("[ERROR] disk full", "[ERROR] disk full"),
        ("Exit code: 2\nmake failed", "Exit code: 2"),
        ('{"error": "no such user"}', "no such user"),
        ('{"error": {"code": 5, "message": "denied"}}', "denied"),
        ('{"success": false, "message": "too late"}', "too late"),
        ('{"status": "failed", "detail": "x"}', "x"),
        ('{"ok": false}', '{"ok": false}'),
        ("log\nTraceback (most recent call last):\n  File\nKeyError: 'a'\n", "KeyError: 'a'"),
        ("fine", None),
        ("", None),
        ("0 errors", None),
        ("Errors are handled in src/errors.py", None),
        ("Exit code: 0", None),
        ('{"error": null, "value": 1}', None),
        ('{"errors": [], "success": true}', None),
        ('{"status": "ok"}', None),
        ("{" * 5000, None),
        ('{"a":' * 5000, None),
    ],
)
def test_which_results_are_failures(result: str, line: str | None) -> None:
    assert error_line(result) == line


def test_a_result_marked_as_error_is_one_whatever_it_says() -> None:
    assert error_line("\n  not today \nreally", failed=True) == "not today"
    assert error_line("", failed=True) == "error"


# -- real transcripts ----------------------------------------------------------------------


@pytest.mark.skipif(not TRANSCRIPTS.is_dir(), reason="real transcripts are not here")
@pytest.mark.parametrize("name", ["airline-one.json", "airline-many.json"])
def test_real_transcripts(name: str) -> None:
    data = json.loads((TRANSCRIPTS / name).read_text(encoding="utf-8"))
    filled = [{**message, "content": message.get("content") or ""} for message in data]
    messages = cast("list[AnyMessage]", convert_to_messages(filled))
    text = digest(messages, 2000, quarter)
    assert quarter(text) <= 2000
    last = next(m for m in reversed(messages) if m.type == "human")
    assert f"> {str(last.content).splitlines()[0]}" in text
