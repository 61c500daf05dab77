"""[C1]: long arguments become hints, the same in every copy, in JSON that stays JSON."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk

from langgraph_compression.policy.arguments import clip_arguments

TOOLS = {"write_file", "edit_file"}
LONG = "x = 1\n" * 1000
ARGS = {"file_path": "/ü/数据.txt", "content": LONG, "edits": [{"new": LONG}, 7, None, True]}


def call(args: Any = ARGS, name: str = "write_file", call_id: str = "c1") -> dict[str, Any]:
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


def clip(message: AIMessage, limit: int = 2000) -> AIMessage:
    return clip_arguments(message, TOOLS, limit)


CLIPPED = clip(AIMessage("", tool_calls=[call()])).tool_calls[0]["args"]


def test_a_hint_says_how_much_is_gone_and_that_the_tool_had_it() -> None:
    hint = CLIPPED["content"]
    assert "6,000 characters" in hint
    assert not LONG.startswith(hint)
    assert len(hint) < 250
    assert ARGS | {"content": hint, "edits": [{"new": hint}, 7, None, True]} == CLIPPED


BLOCKS: dict[str, tuple[dict[str, Any], Any]] = {
    "anthropic": ({"type": "tool_use", "id": "c1", "name": "write_file", "input": ARGS}, "input"),
    "anthropic streamed": (
        {"type": "tool_use", "id": "c1", "name": "write_file", "input": {},
         "partial_json": json.dumps(ARGS)},
        "partial_json",
    ),
    "openai responses": (
        {"type": "function_call", "id": "fc", "call_id": "c1", "name": "write_file",
         "arguments": json.dumps(ARGS)},
        "arguments",
    ),
    "langchain": ({"type": "tool_call", "id": "c1", "name": "write_file", "args": ARGS}, "args"),
    "server": (
        {"type": "server_tool_call", "id": "c1", "name": "write_file", "args": ARGS}, "args",
    ),
    "google": ({"type": "function_call", "name": "write_file", "args": ARGS}, "args"),
}  # fmt: skip


@pytest.mark.parametrize(("block", "key"), BLOCKS.values(), ids=BLOCKS)
def test_blocks_agree_with_the_calls(block: dict[str, Any], key: str) -> None:
    before: list[str | dict[Any, Any]] = [
        {"type": "thinking", "thinking": LONG, "signature": "s"},
        {"type": "text", "text": LONG},
        block,
    ]
    message = AIMessage(before, tool_calls=[call()], id="a")
    after = clip(message)
    value = after.content[2][key]  # type: ignore[index]
    assert (json.loads(value) if isinstance(value, str) else value) == CLIPPED
    assert after.content[:2] == before[:2]
    assert after.content[2] == block | {key: value}
    assert after.tool_calls == [call(CLIPPED)]
    assert after.id == "a"
    assert message.content == before
    assert message.tool_calls == [call()]


@pytest.mark.parametrize("wrapper", ["toolUse", "functionCall"])
def test_nested_calls_agree(wrapper: str) -> None:
    block = {wrapper: {"toolUseId": "c1", "name": "write_file", "input": ARGS}}
    after = clip(AIMessage([block], tool_calls=[call()]))
    assert after.content[0] == {wrapper: block[wrapper] | {"input": CLIPPED}}


def test_the_old_copies_agree() -> None:
    function = {"name": "write_file", "arguments": json.dumps(ARGS, ensure_ascii=False)}
    raw = {"id": "c1", "type": "function", "function": function, "index": 0}
    extra = {"tool_calls": [raw], "function_call": function, "reasoning_content": LONG}
    after = clip(AIMessage("", tool_calls=[call()], additional_kwargs=extra))
    new = after.additional_kwargs
    assert json.loads(new["tool_calls"][0]["function"]["arguments"]) == CLIPPED
    assert json.loads(new["function_call"]["arguments"]) == CLIPPED
    assert new["tool_calls"][0] | {"function": function} == raw
    assert new["reasoning_content"] == LONG
    assert extra["tool_calls"] == [raw]


def test_plain_text_of_a_custom_call() -> None:
    block = {"type": "custom_tool_call", "call_id": "c1", "name": "edit_file", "input": LONG}
    after = clip(AIMessage([block], tool_calls=[call({"__arg1": LONG}, "edit_file")]))
    assert after.content[0]["input"] == after.tool_calls[0]["args"]["__arg1"]  # type: ignore[index]


@pytest.mark.parametrize(
    "message",
    [
        AIMessage(""),
        AIMessage(LONG),
        AIMessage("", tool_calls=[call(name="other")]),
        AIMessage("", tool_calls=[call({"content": "x" * 2000})]),
        AIMessage("", tool_calls=[call({"n" * 5000: 1, "nested": [[[]]]})]),
        AIMessage(
            "",
            invalid_tool_calls=[
                {"name": "write_file", "args": '{"content": "' + LONG, "id": "c1", "error": None}
            ],
            additional_kwargs={
                "tool_calls": [
                    {"function": {"name": "write_file", "arguments": '{"content": "' + LONG}}
                ]
            },
        ),
        AIMessage([{"type": "tool_use", "name": "write_file", "partial_json": '{"a": "' + LONG}]),
        AIMessage("", additional_kwargs={"tool_calls": None, "function_call": "odd", "x": [1]}),
        AIMessage("", additional_kwargs={"tool_calls": ["odd", {"function": None}]}),
    ],
)
def test_nothing_to_clip_is_the_same_object(message: AIMessage) -> None:
    assert clip(message) is message


@pytest.mark.parametrize(("size", "clipped"), [(1999, False), (2000, False), (2001, True)])
def test_the_limit(size: int, clipped: bool) -> None:
    message = AIMessage("", tool_calls=[call({"content": "a" * size})])
    after = clip(message)
    assert (after is not message) == clipped
    assert len(after.tool_calls[0]["args"]["content"]) <= size


@pytest.mark.parametrize("limit", [0, 5, 30, 70, 200])
def test_no_string_gets_longer(limit: int) -> None:
    for size in (1, 25, 31, 60, 71, 100, 250, 5000):
        after = clip(AIMessage("", tool_calls=[call({"content": "a" * size})]), limit)
        text = after.tool_calls[0]["args"]["content"]
        assert len(text) < size or text == "a" * size


def test_a_path_is_kept_and_several_calls_are_clipped_apart() -> None:
    calls = [call({"path": "/1", "content": LONG}), call({"content": LONG}, "other", "c2")]
    after = clip(AIMessage("", tool_calls=calls))
    assert after.tool_calls[0]["args"]["path"] == "/1"
    assert after.tool_calls[1] == calls[1]


def test_chunks_of_calls_agree() -> None:
    chunk = AIMessageChunk(
        content="",
        tool_call_chunks=[
            {"name": "write_file", "args": json.dumps(ARGS), "id": "c1", "index": 0,
             "type": "tool_call_chunk"}
        ],
    )  # fmt: skip
    after = clip(chunk)
    assert isinstance(after, AIMessageChunk)
    assert json.loads(after.tool_call_chunks[0]["args"] or "") == CLIPPED
    assert after.tool_calls[0]["args"] == CLIPPED


def test_any_depth() -> None:
    deep: Any = LONG
    for n in range(100_000):
        deep = {"k": deep} if n % 2 else [deep]
    text = '{"a": ' + "[" * 100_000 + json.dumps(LONG) + "]" * 100_000 + "}"
    extra = {"tool_calls": [{"id": "c1", "function": {"name": "write_file", "arguments": text}}]}
    # Built past the checks of the message class, which would not take it.
    message = AIMessage("", additional_kwargs=extra).model_copy(
        update={"tool_calls": [call({"a": deep})]}
    )
    after = clip(message)
    inner = after.tool_calls[0]["args"]["a"]
    while not isinstance(inner, str):
        inner = inner["k"] if isinstance(inner, dict) else inner[0]
    assert inner == CLIPPED["content"]
    arguments = after.additional_kwargs["tool_calls"][0]["function"]["arguments"]
    assert json.dumps(CLIPPED["content"]) in arguments
    assert len(arguments) < len(text) - len(LONG) + 200


def test_numbers_and_repeated_keys_in_json_stay_as_written() -> None:
    text = '{"n": ' + "9" * 5000 + ', "k": 1.10, "k": 1e999, "c": ' + json.dumps(LONG) + "}"
    block = {"type": "function_call", "name": "write_file", "arguments": text}
    after = clip(AIMessage([block])).content[0]["arguments"]  # type: ignore[index]
    assert after.startswith(text[:5030])
    assert len(after) < len(text)


strings = st.text(st.characters(), max_size=60)
values = st.recursive(
    st.none() | st.integers() | st.booleans() | strings,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings, inner, max_size=3),
    max_leaves=8,
)


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


@given(st.dictionaries(strings, values, max_size=4), st.integers(0, 60), st.booleans())
def test_copies_agree_and_are_valid(args: dict[str, Any], limit: int, ascii_only: bool) -> None:
    text = json.dumps(args, ensure_ascii=ascii_only)
    args = json.loads(text)
    extra = {"tool_calls": [{"id": "c1", "function": {"name": "write_file", "arguments": text}}]}
    block = {"type": "tool_use", "id": "c1", "name": "write_file", "input": args}
    message = AIMessage([block], tool_calls=[call(args)], additional_kwargs=extra)
    after = clip(message, limit)
    new = after.tool_calls[0]["args"]
    arguments = after.additional_kwargs["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == new == after.content[0]["input"]  # type: ignore[index]
    assert len(arguments) <= len(text)
    for old, clipped in zip(leaves(args), leaves(new), strict=True):
        assert old == clipped or (len(old) > limit and len(clipped) < len(old))
