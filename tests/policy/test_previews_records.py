"""[C3]: search results are previewed as records, in valid JSON, with nothing cut that names."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_compression.policy.preview_records import preview_records

WORDS = "The pump is serviced every spring. " * 20


def quarter(text: str) -> int:
    return (len(text) + 3) // 4


def shown(
    content: str | Any,
    limit: int = 300,
    count: Callable[[str], int] = quarter,
    query: str | None = None,
) -> dict[str, Any]:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    preview = preview_records(text, "knowledge_base", limit, count, query)
    assert preview is not None
    assert count(preview) <= limit
    fenced: dict[str, Any] = json.loads(
        preview.removeprefix("```json\n").removesuffix("\n```"), parse_constant=pytest.fail
    )
    assert "```" not in preview[3:-3]
    assert fenced["result_count"] == fenced["omitted_results"] + len(fenced["results"])
    return fenced


def record(n: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"r{n}",
        "kb_id": "kb-7",
        "file_id": 9_223_372_036_854_775_807_000 + n,
        "title": f"Title {n}",
        "url": f"https://example.test/{n}?q=a%20b",
        "score": 0.5,
        "content": f"Body {n}. {WORDS}",
    } | more


def test_everything_fits() -> None:
    content = {"query": "pumps", "kb_id": "kb-7", "results": [{"id": 1, "content": "Hello"}]}
    assert shown(content) == {
        "kind": "knowledge_base",
        "query": "pumps",
        "kb_id": "kb-7",
        "result_count": 1,
        "omitted_results": 0,
        "results": [{"id": 1, "content_preview": "Hello"}],
    }


def test_records_stay_in_order_and_whole_but_for_their_body() -> None:
    given_records = [record(n) for n in range(30)]
    preview = shown({"results": given_records}, limit=500)
    assert preview["result_count"] == 30
    assert 3 <= len(preview["results"]) < 30
    for kept, full in zip(preview["results"], given_records, strict=False):
        body = kept.pop("content_preview")
        assert full.pop("content").startswith(body.removesuffix("…"))
        assert kept == full


def test_bodies_grow_when_all_records_are_shown() -> None:
    preview = shown({"results": [record(0), record(1)]}, limit=400)
    assert [len(r["content_preview"]) > 300 for r in preview["results"]] == [True, True]


def test_the_query_of_the_call_is_shown_if_the_result_has_none() -> None:
    assert shown([record(0)], query="pumps")["query"] == "pumps"
    assert shown({"query": "q", "results": [record(0)]}, query="pumps")["query"] == "q"
    assert len(shown([record(0)], query="pumps " * 500)["query"]) == 200
    assert "query" not in shown([record(0)])


def test_short_fields_stay_and_unknown_ones_do_not_pass() -> None:
    preview = shown(
        {
            "debug": {"trace": WORDS * 9, "path": "/srv/kb/index"},
            "index_path": "/srv/kb/index",
            "local": "C:\\kb\\index",
            "note": "x" * 101,
            "results": [record(0, path="/srv/kb/a.pdf", embedding=[0.1] * 99, owner="root")],
            "status": "partial",
            "total": 911,
            "error": None,
            "took": 0.25,
            "page": 2,
            "more": True,
        }
    )
    assert {k: v for k, v in preview.items() if k not in ("kind", "results")} == {
        "result_count": 1,
        "omitted_results": 0,
        "status": "partial",
        "total": 911,
        "error": None,
        "took": 0.25,
        "page": 2,
        "more": True,
    }
    assert set(preview["results"][0]) == {
        "id", "kb_id", "file_id", "title", "url", "score", "content_preview",
    }  # fmt: skip


def test_fields_keep_their_names_also_in_metadata() -> None:
    nested = {
        "page_content": "Hello",
        "metadata": {"source": "a.pdf", "chunk_index": 3, "host_path": "/srv", "fileId": "f"},
    }
    assert shown([nested])["results"] == [
        {
            "metadata": {"source": "a.pdf", "chunk_index": 3, "fileId": "f"},
            "content_preview": "Hello",
        }
    ]


@pytest.mark.parametrize(
    "body", ["content", "text", "snippet", "body", "chunk", "page_content", "summary",
             "description", "Content", "rawContent"],
)  # fmt: skip
def test_the_body_may_have_many_names(body: str) -> None:
    assert shown([{"id": 1, body: "Hello"}])["results"] == [{"id": 1, "content_preview": "Hello"}]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"results": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]}),
        json.dumps([{"id": 1, "text": "a"}, {"id": 2, "text": "b"}], indent=2),
        '{"id": 1, "text": "a"}\n{"id": 2, "text": "b"}\n',
        '\ufeff```json\n[{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]\n```\nNote: cut',
        'Found two:\n[{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]',
        json.dumps({"data": {"items": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]}}),
        json.dumps(json.dumps({"results": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]})),
    ],
    ids=["object", "array", "lines", "fence", "remark", "nested", "twice"],
)
def test_records_are_found_in_many_shapes(content: str) -> None:
    assert shown(content)["results"] == [
        {"id": 1, "content_preview": "a"},
        {"id": 2, "content_preview": "b"},
    ]


def test_texts_may_be_records() -> None:
    assert shown({"results": ["Hello", "there"]})["results"] == [
        {"content_preview": "Hello"},
        {"content_preview": "there"},
    ]


@pytest.mark.parametrize(
    "content",
    ["", "plain", "{}", "[1, 2]", '{"results": 7}', '{"results": [{"id": 1}', '{"a": [{"id": 1}]}',
     '{"results": [{"id": tru}]}', "[" * 100_000 + "]" * 100_000, '{"results": [{"id": 1},]}',
     '[{"id": ' + "[" * 100_000 + "]" * 100_000 + "}]", "[1] First\n[2] Second", '"text"', '"'],
)  # fmt: skip
def test_what_cannot_be_read_goes_to_the_general_rule(content: str) -> None:
    assert preview_records(content, "web_search", 300, quarter) is None


def test_no_record_fits() -> None:
    content = {"results": [record(0, url="https://example.test/" + "u" * 3000)], "x": 1}
    preview = shown(content, limit=100)
    assert preview["results"] == []
    assert (preview["result_count"], preview["omitted_results"]) == (1, 1)


def test_a_record_that_does_not_fit_is_left_out_and_the_next_is_shown() -> None:
    content = [record(0, id="i" * 3000), record(1)]
    preview = shown(content, limit=120)
    assert [r["id"] for r in preview["results"]] == ["r1"]


def test_not_even_the_empty_list_fits() -> None:
    assert preview_records('[{"id": 1}]', "web_search", 5, quarter) is None


def test_fields_beside_the_records_give_way() -> None:
    content = {f"field{n}": n for n in range(3000)} | {"results": [record(0)], "status": "late"}
    preview = shown(content, limit=300)
    assert preview["status"] == "late"
    assert len(preview["results"]) == 1


def test_numbers_that_json_has_no_form_for() -> None:
    text = (
        '{"score": NaN, "max": Infinity, "big": ' + "9" * 5000 + ', "id": 9223372036854775809123,'
        '"results": [{"id": 123456789012345678901234567890, "score": NaN, "text": "a"},'
        '{"id": 1e999, "title": "x", "title": "y", "text": "b"}]}'
    )
    preview = shown(text)
    assert preview["id"] == 9223372036854775809123
    assert not {"score", "max", "big"} & preview.keys()
    assert preview["results"] == [
        {"id": 123456789012345678901234567890, "content_preview": "a"},
        {"title": "y", "content_preview": "b"},
    ]


def test_base64_and_controls_in_records() -> None:
    content = [
        {"id": "a\x00b\ud800`", "text": "x\x00 " + "QUJD" * 200, "url": "data:a;base64," + "A" * 9},
        {"file_name": "/srv/kb/a.pdf", "name": "a.pdf", "link": "file:///srv/kb", "text": "```"},
    ]
    assert shown(json.dumps(content))["results"] == [
        {"id": "a\x00b\ud800`", "content_preview": "x␀ [base64: 800 characters]"},
        {"name": "a.pdf", "content_preview": "```"},
    ]


texts = st.text(st.characters(), max_size=80)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
known = st.sampled_from(["id", "kb_id", "title", "url", "source", "score", "text", "metadata"])
records = st.lists(st.dictionaries(known | texts, json_values, max_size=5) | texts, max_size=12)


@given(
    records,
    st.dictionaries(texts, json_values, max_size=4),
    st.integers(1, 400),
    st.sampled_from([len, quarter, lambda text: len(text.encode())]),
    st.booleans(),
)
def test_any_preview_is_valid_json_within_the_limit(
    given_records: list[Any],
    around: dict[str, Any],
    limit: int,
    count: Callable[[str], int],
    ascii_only: bool,
) -> None:
    text = json.dumps(around | {"results": given_records}, ensure_ascii=ascii_only)
    preview = preview_records(text, "web_search", limit, count, None)
    if preview is None:
        return
    preview.encode()
    found = shown(text, limit, count) if limit > 150 else None
    assert count(preview) <= limit
    if found is None:
        return
    assert found["result_count"] == len(given_records)
    # In order, and what names a record is whole.
    rest = iter(json.loads(text)["results"])
    for kept in found["results"]:
        for full in rest:
            if isinstance(full, str):
                if set(kept) == {"content_preview"}:
                    break
            elif all(
                key in ("content_preview", "metadata") or full.get(key) == value
                for key, value in kept.items()
            ):
                break
        else:
            pytest.fail("a record that was not given, or out of order")
