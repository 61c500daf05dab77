"""The text of content blocks, and the media in them, in the forms of the providers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_compression.policy.content import (
    content_text,
    media_blocks,
    name_media,
    readable_text,
)

DATA = "QUJD" * 4000

MEDIA: dict[str, tuple[dict[str, Any], str]] = {
    "openai image": (
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}},
        "[image: image/png, 12 kB]",
    ),
    "openai image link": (
        {"type": "image_url", "image_url": {"url": "https://example.test/a.png"}},
        "[image: https://example.test/a.png]",
    ),
    "openai image as string": (
        {"type": "image_url", "image_url": f"data:image/gif;base64,{DATA}"},
        "[image: image/gif, 12 kB]",
    ),
    "openai responses image": (
        {"type": "input_image", "image_url": f"data:image/jpeg;base64,{DATA}"},
        "[image: image/jpeg, 12 kB]",
    ),
    "openai responses made image": (
        {"type": "image_generation_call", "id": "ig_1", "result": DATA},
        "[image: 12 kB]",
    ),
    "openai audio": (
        {"type": "input_audio", "input_audio": {"data": DATA, "format": "mp3"}},
        "[audio: mp3, 12 kB]",
    ),
    "openai file": (
        {"type": "file", "file": {"filename": "a.pdf", "file_data": DATA}},
        "[file: 12 kB, a.pdf]",
    ),
    "openai responses file": (
        {"type": "input_file", "file_id": "file-1"},
        "[file: file-1]",
    ),
    "anthropic image": (
        {"type": "image",
         "source": {"type": "base64", "media_type": "image/webp", "data": DATA}},
        "[image: image/webp, 12 kB]",
    ),
    "anthropic document": (
        {"type": "document", "title": "Bericht",
         "source": {"type": "base64", "media_type": "application/pdf", "data": DATA}},
        "[document: application/pdf, 12 kB, Bericht]",
    ),
    "anthropic link": (
        {"type": "image", "source": {"type": "url", "url": "https://example.test/b"}},
        "[image: https://example.test/b]",
    ),
    "google": (
        {"type": "media", "mime_type": "video/mp4", "data": DATA},
        "[media: video/mp4, 12 kB]",
    ),
    "google part": (
        {"inline_data": {"mime_type": "image/png", "data": DATA}},
        "[media: image/png, 12 kB]",
    ),
    "bedrock": (
        {"image": {"format": "png", "source": {"bytes": b"x" * 12_000}}},
        "[image: png, 12 kB]",
    ),
    "langchain image": (
        {"type": "image", "base64": DATA, "mime_type": "image/png"},
        "[image: image/png, 12 kB]",
    ),
    "langchain old": (
        {"type": "image", "source_type": "base64", "data": DATA, "mime_type": "image/png"},
        "[image: image/png, 12 kB]",
    ),
    "langchain audio": (
        {"type": "audio", "base64": DATA, "mime_type": "audio/wav"},
        "[audio: audio/wav, 12 kB]",
    ),
    "langchain video": (
        {"type": "video", "url": "https://example.test/v"}, "[video: https://example.test/v]",
    ),
    "langchain file": (
        {"type": "file", "base64": DATA, "mime_type": "application/pdf", "filename": "b.pdf"},
        "[file: application/pdf, 12 kB, b.pdf]",
    ),
    "nothing known": ({"type": "image"}, "[image]"),
    "odd name": (
        {"type": "file", "file_id": "a]\n\x00" + "x" * 500}, f"[file: a___{'x' * 96}…]",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("block", "name"), MEDIA.values(), ids=MEDIA)
def test_media_are_found_and_named_without_their_payload(block: dict[str, Any], name: str) -> None:
    assert name_media(block) == name
    content = ["before", block, {"type": "text", "text": "after"}]
    assert media_blocks(content) == [block]
    assert content_text(content) == readable_text(content) == f"before\n{name}\nafter"
    nested = [{"type": "tool_result", "tool_use_id": "c1", "content": content}]
    assert media_blocks(nested) == [block]
    assert content_text(nested) == f"before\n{name}\nafter"


TEXTS: dict[str, tuple[Any, str]] = {
    "string": ("plain", "plain"),
    "empty": ([], ""),
    "strings": (["a", "b"], "a\nb"),
    "responses": (
        [{"type": "output_text", "text": "a"}, {"type": "input_text", "text": "b"}], "a\nb",
    ),
    "refusal": ([{"type": "refusal", "refusal": "no"}], "no"),
    "untyped": ([{"text": "a"}], "a"),
    "tool result": ([{"type": "tool_result", "content": "a"}], "a"),
    "text document": (
        [{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a"}}],
        "a",
    ),
    "block document": (
        [{"type": "document", "source": {"type": "content", "content": ["a"]}}],
        "a",
    ),
    "langchain document": ([{"type": "text-plain", "text": "a", "mime_type": "text/plain"}], "a"),
    "search result": (
        [{"type": "search_result", "title": "T", "source": "https://x.test",
          "content": [{"type": "text", "text": "a"}]}],
        "T\nhttps://x.test\na",
    ),
    "json": ([{"type": "json", "json": {"a": ["é"]}}], '{"a": ["é"]}'),
    "bedrock json": ([{"json": {"a": 1}}], '{"a": 1}'),
    "unknown": ([{"type": "odd", "k": 1}], '{"type": "odd", "k": 1}'),
    "unknown with payload": (
        [{"type": "odd", "k": DATA}], '{"type": "odd", "k": "[base64: 16,000 characters]"}',
    ),
    "type that is no text": ([{"type": 7}], ""),
    "not a block": ([7, None], "7"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "text"), TEXTS.values(), ids=TEXTS)
def test_text_of_blocks(content: Any, text: str) -> None:
    assert content_text(content) == text


REASONING = [
    {"type": "thinking", "thinking": "hm", "signature": DATA},
    {"type": "redacted_thinking", "data": DATA},
    {"type": "reasoning", "reasoning": "hm"},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}],
     "encrypted_content": DATA},
    {"type": "reasoning_content", "reasoning_content": {"text": "hm", "signature": "s"}},
    {"reasoning_content": {"text": "hm", "signature": "s"}},
]  # fmt: skip


@pytest.mark.parametrize("block", REASONING)
def test_reasoning_is_text_but_not_for_a_summarizer(block: dict[str, Any]) -> None:
    assert content_text([block]) == ("" if block.get("type") == "redacted_thinking" else "hm")
    assert readable_text([block, "answer"]) == "answer"


CALLS: list[dict[str, Any]] = [
    {"type": "tool_use", "id": "c1", "name": "t", "input": {"a": 1}},
    {"type": "function_call", "call_id": "c1", "name": "t", "arguments": '{"a": 1}'},
    {"type": "tool_call", "id": "c1", "name": "t", "args": {"a": 1}},
]


@pytest.mark.parametrize("block", CALLS)
def test_calls_are_text_but_the_summarizer_gets_them_otherwise(block: dict[str, Any]) -> None:
    assert content_text([block]) == 't\n{"a": 1}'
    assert readable_text([block, "answer"]) == "answer"


def test_payload_in_plain_text_is_kept_from_a_summarizer() -> None:
    assert readable_text(f"see data:image/png;base64,{DATA} here") == (
        "see [base64: 16,022 characters] here"
    )


def test_blocks_nested_without_end_are_text() -> None:
    deep: Any = ["core"]
    for _ in range(100_000):
        deep = [{"type": "tool_result", "content": deep}]
    assert isinstance(content_text(deep), str)
    assert media_blocks(deep) == []


KEYS = st.sampled_from(
    ["text", "content", "source", "data", "image_url", "name", "title", "input", "summary",
     "thinking", "file", "url", "json"]
)  # fmt: skip
KINDS = st.sampled_from(
    ["text", "image", "image_url", "document", "file", "tool_use", "thinking", "tool_result",
     "reasoning", "search_result", "json", "odd", 7, None]
)  # fmt: skip
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.binary()


def blocks(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = st.dictionaries(KEYS, inner, max_size=4)
    return st.lists(inner, max_size=3) | st.builds(
        lambda more, kind: more | {"type": kind}, fields, KINDS
    )


@given(st.lists(st.recursive(plain, blocks), max_size=4))
def test_any_content_has_a_text(content: list[Any]) -> None:
    assert isinstance(content_text(content), str)
    assert isinstance(readable_text(content), str)
    for block in media_blocks(content):
        assert name_media(block).startswith("[")
        assert "\n" not in name_media(block)
