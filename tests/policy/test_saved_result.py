"""[C2], [C6], [C9] and the texts of [O3]: what is saved, and the frame that stands for it."""

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langgraph_compression.policy.content import content_text, media_blocks
from langgraph_compression.policy.saved_result import (
    Saved,
    is_saved_result,
    result_blocks,
    save_result,
    save_result_block,
    save_text,
)
from langgraph_compression.state.settings import ResultKind

LOG = "\n".join(f"line {n}: something happened" for n in range(2000))
KINDS: dict[str, ResultKind] = {"query_kb": "knowledge_base"}
IMAGE = {"type": "image", "base64": "QUJD" * 2000, "mime_type": "image/png"}


def quarter(text: str) -> int:
    return (len(text) + 3) // 4


def save(
    content: str | list[Any],
    tool: str = "read_log",
    limit: int = 300,
    count: Callable[[str], int] = quarter,
    **more: Any,
) -> Saved | None:
    message = ToolMessage(content, tool_call_id="c1")
    return save_result(message, tool=tool, limit=limit, kinds=KINDS, count=count, **more)


def saved(content: str | list[Any], *args: Any, **more: Any) -> Saved:
    found = save(content, *args, **more)
    assert found is not None
    return found


def frame(found: Saved) -> str:
    content = found.message.content
    text = content if isinstance(content, str) else content[0]["text"]  # type: ignore[index]
    assert isinstance(text, str)
    return text


def preview_of(found: Saved) -> str:
    mark = hashlib.sha256(found.text.encode()).hexdigest()[:16]
    text = frame(found)
    assert text.count(mark) == text.count(f"<<<preview {mark}") + 3
    if "<<<preview" not in text:
        return ""
    return text.split(f"<<<preview {mark}\n", 1)[1].rsplit(f"\n{mark}>>>", 1)[0]


def test_the_frame_names_the_tool_the_size_the_hash_and_the_file() -> None:
    found = saved(LOG)
    digest = hashlib.sha256(LOG.encode()).hexdigest()
    assert found.text == LOG
    assert found.path == f"outputs/large_tool_results/read_log-{digest[:16]}.txt"
    lines = frame(found).split("\n")
    left_out = quarter(LOG) - quarter(preview_of(found))
    assert lines[:4] == [
        f"[Saved result of tool read_log: about {quarter(LOG):,} tokens]",
        f"sha256: {digest}",
        f"file: {found.path}",
        f"About {left_out:,} tokens are left out below; read_file reads the file in slices.",
    ]
    assert 250 < quarter(preview_of(found)) <= 300


def test_all_but_the_content_stays() -> None:
    message = ToolMessage(
        LOG, tool_call_id="c" * 1500, id="m", name="read_log", status="error",
        artifact={"a": 1}, additional_kwargs={"k": "v"}, response_metadata={"r": 1},
    )  # fmt: skip
    found = save_result(message, tool="read_log", limit=300, kinds=KINDS, count=quarter)
    assert found is not None
    assert found.message.model_dump(exclude={"content"}) == message.model_dump(exclude={"content"})
    assert message.content == LOG
    assert "c" * 100 not in frame(found)


@pytest.mark.parametrize(
    ("content", "limit"),
    [("", 0), ("", 300), ("short", 300), ("x" * 1200, 300), ("short", 0), ([], 0),
     ([{"type": "text", "text": ""}], 0), ([IMAGE], 0), (LOG[:1400], 300)],
)  # fmt: skip
def test_what_is_within_the_limit_or_would_not_get_smaller_stays(
    content: str | list[Any], limit: int
) -> None:
    assert save(content, limit=limit) is None


def test_limit_zero_saves_without_a_preview() -> None:
    found = saved(LOG[:2000], limit=0)
    assert preview_of(found) == ""
    assert found.text == LOG[:2000]
    assert save(frame(found), limit=0) is None


def test_records_are_previewed_as_json() -> None:
    content = json.dumps({"results": [{"id": n, "text": "word " * 99} for n in range(30)]})
    found = saved(content, tool="query_kb", query="pumps")
    assert found.text == content
    fenced = re.findall(r"```json\s*(.*?)```", frame(found), re.DOTALL)
    preview = json.loads(fenced[0])
    assert (preview["kind"], preview["query"], len(fenced)) == ("knowledge_base", "pumps", 1)
    assert "```" not in frame(saved(content, tool="other"))


@pytest.mark.parametrize(
    "tool",
    ["mcp/fs\\..\\read", "a/b/../../c", "nul", "..", "", "数据", "C:\\x", "x" * 500, "a\nb]\x00",
     "con.txt", "--help", "\ud800", " ", "Read", "read"],
)  # fmt: skip
def test_paths_and_frames_are_safe_whatever_the_tool_is_called(tool: str) -> None:
    found = saved(LOG, tool=tool)
    name = re.fullmatch(
        r"outputs/large_tool_results/([A-Za-z0-9_-]{1,64})-[0-9a-f]{16}\.txt", found.path
    )
    assert name is not None
    assert is_saved_result(found.message.content)
    frame(found).encode()


def test_one_path_for_one_content_and_another_for_another() -> None:
    assert saved(LOG).path == saved(LOG).path
    paths = {saved(LOG + end).path.casefold() for end in ("", "\n", "\r\n", " ")}
    assert len(paths) == 4


@pytest.mark.parametrize(
    ("content", "stored"),
    [
        (LOG, LOG),
        (LOG + "\r\n", LOG + "\r\n"),
        ("\ud800" + LOG + "\udfff", "\\ud800" + LOG + "\\udfff"),
        ([LOG], LOG),
        ([{"type": "text", "text": LOG, "id": "b"}], LOG),
        ([{"type": "text", "text": LOG}, IMAGE], LOG),
    ],
)
def test_one_text_is_stored_as_it_is(content: str | list[Any], stored: str) -> None:
    found = saved(content)
    assert found.text == stored
    found.text.encode()


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": LOG}, {"type": "text", "text": "tail"}],
        [LOG, IMAGE, "é\ud800\x00"],
        [{"type": "json", "json": {"rows": [LOG]}}],
        [{"type": "search_result", "title": "T", "content": [{"type": "text", "text": LOG}]}],
        [{"type": "unknown", "anything": [LOG]}],
    ],
)
def test_blocks_are_stored_as_json_without_loss(content: list[Any]) -> None:
    found = saved(content)
    assert json.loads(found.text) == content
    found.text.encode()


def test_media_blocks_stay_behind_the_frame() -> None:
    content: list[Any] = [
        IMAGE,
        {"type": "text", "text": LOG},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 900}},
    ]
    found = saved(content)
    assert found.message.content[0] == {"type": "text", "text": frame(found)}
    assert found.message.content[1:] == [content[0], content[2]] == media_blocks(content)
    assert "QUJD" not in frame(found)
    assert save(found.message.content, limit=0) is None


def test_a_redacted_text_is_stored_and_shown() -> None:
    secret = "API_KEY=EXAMPLE-NOT-A-KEY\n" + LOG

    def redact(text: str) -> str:
        return text.replace("EXAMPLE-NOT-A-KEY", "***")

    for content in (secret, [secret, {"type": "text", "text": secret}]):
        found = saved(content, redact=redact)
        assert "API_KEY=***" in found.text
        assert "API_KEY=***" in frame(found)
        assert "EXAMPLE" not in found.text + frame(found)
        assert found.path.endswith(hashlib.sha256(found.text.encode()).hexdigest()[:16] + ".txt")


def test_what_is_nested_too_deeply_for_json_stays_or_is_stored() -> None:
    deep: Any = LOG
    for _ in range(100_000):
        deep = [deep]
    message = ToolMessage("", tool_call_id="c1").model_copy(
        update={"content": [{"type": "text", "text": LOG}, {"type": "odd", "x": deep}]}
    )
    found = save_result(message, tool="t", limit=300, kinds=KINDS, count=quarter)
    assert found is None or LOG in found.text


def test_a_frame_is_recognised_only_whole() -> None:
    text = frame(saved(LOG))
    assert is_saved_result(text)
    mark = text[-19:-3]
    for broken in (
        "",
        text + "\n",
        text + " more",
        " " + text,
        text.replace(f"-{mark}.txt", f"-{mark[::-1]}.txt"),
        text.replace("sha256: ", "sha256: 0", 1),
        text.replace("outputs/large_tool_results/", "outputs/other/"),
        text.replace("outputs/large_tool_results/", "outputs/large_tool_results/../"),
        text.replace("line 0:", f"{mark}>>>\nline 0:"),
        text.replace(f"<<<preview {mark}\n", ""),
        text.replace("line 0:", "line 0:" + "x" * 10_000),
    ):
        assert not is_saved_result(broken)
    assert not is_saved_result([{"type": "text", "text": text}, {"type": "text", "text": LOG}])
    assert not is_saved_result(
        [text, {"type": "document", "source": {"type": "text", "data": LOG}}]
    )
    assert not is_saved_result([])


def test_a_tool_that_writes_a_frame_cannot_hold_a_large_text() -> None:
    text = frame(saved(LOG))
    fake = text.replace("line 0:", "line 0:" + "x y " * 50_000)
    found = saved(fake)
    assert quarter(frame(found)) < 500
    assert found.text == fake


MARKERS = [
    "{mark}>>>", "<<<preview {mark}", "[Saved result of tool x: about 1 tokens]", "```json", "```",
    "\x00", "\x1b[31m", "\ud83d", "{{messages}}", "{0}", "</result>", "\r\n", "\u202e", "\u2028",
]  # fmt: skip


@given(
    st.lists(st.sampled_from(MARKERS) | st.text(st.characters(), max_size=40), max_size=12),
    st.integers(1, 60),
    st.integers(0, 120),
    st.sampled_from([len, quarter, lambda text: len(text.encode("utf-8", "replace"))]),
    st.sampled_from(["read_log", "query_kb"]),
)
@settings(max_examples=300)
def test_no_text_breaks_its_frame(
    pieces: list[str], times: int, limit: int, count: Callable[[str], int], tool: str
) -> None:
    content = "".join(pieces) * times
    content = content.replace(
        "{mark}", hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]
    )
    found = save(content, tool, limit, count)
    if found is None:
        return
    assert count(frame(found)) < count(content)
    assert count(preview_of(found)) <= limit
    assert found.text == content.encode("utf-8", "backslashreplace").decode()
    assert is_saved_result(found.message.content)
    assert save(found.message.content, tool, 0, count) is None
    frame(found).encode()
    assert found == save(content, tool, limit, count)


CALL = {"name": "t", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
THINKING = {"type": "thinking", "thinking": LOG, "signature": "s"}


def clip(message: BaseMessage, limit: int = 100) -> Saved | None:
    return save_text(message, limit=limit, count=quarter)


@pytest.mark.parametrize("make", [HumanMessage, AIMessage])
def test_a_long_text_is_saved_as_a_message(make: type[BaseMessage]) -> None:
    found = clip(make(content=LOG, id="m"))
    assert found is not None
    digest = hashlib.sha256(LOG.encode()).hexdigest()
    assert found.path == f"outputs/large_tool_results/message-{digest[:16]}.txt"
    assert found.text == LOG
    assert (found.message.id, found.message.type) == ("m", make(content="").type)
    assert frame(found).startswith("[Saved message text: about ")
    assert preview_of(found).startswith("line 0:")
    assert preview_of(found).endswith("line 1999: something happened")
    assert clip(found.message, 0) is None


def test_only_the_text_of_a_message_is_replaced() -> None:
    content = [
        THINKING,
        {"type": "text", "text": LOG, "annotations": [{"end": 9}], "id": "t1"},
        IMAGE,
        {"type": "text", "text": "more"},
        {"type": "tool_use", "id": "c1", "name": "t", "input": {"a": LOG}},
    ]
    message = AIMessage(content, tool_calls=[CALL], additional_kwargs={"k": 1})  # type: ignore[arg-type]
    found = clip(message)
    assert found is not None
    assert [b for b in found.message.content if b["type"] != "text"] == [  # type: ignore[index]
        THINKING, IMAGE, content[4],
    ]  # fmt: skip
    text = content_text([found.message.content[1]])
    assert found.message.content[1] == {"type": "text", "text": text, "id": "t1"}
    assert json.loads(found.text) == [content[1], content[3]]
    assert found.message.model_dump(exclude={"content"}) == message.model_dump(exclude={"content"})


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage(""),
        HumanMessage("short"),
        HumanMessage(LOG[:600]),
        HumanMessage([IMAGE]),
        AIMessage("", tool_calls=[CALL | {"args": {"a": LOG}}]),
        AIMessage([THINKING]),
        HumanMessage([{"type": "tool_result", "tool_use_id": "c1", "content": LOG}]),
    ],
)
def test_messages_without_a_long_text_stay(message: BaseMessage) -> None:
    assert clip(message) is None


def test_results_in_blocks_are_replaced_one_by_one() -> None:
    message = HumanMessage(
        [
            {"type": "tool_result", "tool_use_id": "c1", "content": LOG, "is_error": True},
            {"type": "tool_result", "tool_use_id": "c2", "content": "short"},
            {"type": "text", "text": LOG},
            {"type": "tool_result", "tool_use_id": "c3", "content": [LOG, IMAGE]},
            {"type": "tool_result", "tool_use_id": "c4"},
        ],
        id="h",
    )
    assert result_blocks(message) == [(0, "c1"), (1, "c2"), (3, "c3"), (4, "c4")]
    assert result_blocks(HumanMessage("text")) == []
    after: BaseMessage = message
    texts = []
    for index, _ in result_blocks(message):
        found = save_result_block(
            after, index, tool="read_log", limit=300, kinds=KINDS, count=quarter
        )
        if found is not None:
            after = found.message
            texts.append(found.text)
    assert texts == [LOG, LOG]
    new: list[Any] = list(after.content)
    old: list[Any] = list(message.content)
    assert new[0] == old[0] | {"content": new[0]["content"]}
    assert new[1:3] == old[1:3]
    assert is_saved_result(new[0]["content"])
    assert is_saved_result(new[3]["content"])
    assert new[3]["content"][1] == IMAGE
    assert new[4] == old[4]


def test_stored_reasoning_goes_with_the_text_it_belongs_to() -> None:
    def said(number: int) -> list[Any]:
        return [
            {"type": "reasoning", "id": f"rs_{number}", "summary": []},
            {"type": "text", "id": f"msg_{number}", "text": LOG},
        ]

    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}
    content = [*said(1), *said(2), thought, *said(3)[1:], call]
    clipped = save_text(AIMessage(content), limit=300, count=quarter)
    assert clipped is not None
    blocks: Any = clipped.message.content
    assert [block.get("id") or block["type"] for block in blocks] == [
        "rs_1",
        "msg_1",
        "thinking",
        "fc_1",
    ]
