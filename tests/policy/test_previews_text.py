"""[C4]: head, middle and tail, within the limit, whatever the text and the counter."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_compression.policy.preview_text import preview_text
from langgraph_compression.policy.short_values import short_scalars
from langgraph_compression.policy.visible_text import (
    is_visible,
    visible,
    whole_character,
    without_base64,
)


def quarter(text: str) -> int:
    return (len(text) + 3) // 4


def by_script(text: str) -> int:
    ascii_characters = sum(char.isascii() for char in text)
    return (ascii_characters + 3) // 4 + len(text) - ascii_characters


def in_bytes(text: str) -> int:
    return len(text.encode())


COUNTERS = (len, quarter, by_script, in_bytes)
counters = st.sampled_from(COUNTERS)
any_text = st.text(st.characters(), max_size=300)
long_text = st.builds(
    lambda piece, times, end: piece * times + end, any_text, st.integers(0, 200), any_text
)


@given(long_text, st.integers(0, 200), counters)
def test_a_preview_is_within_the_limit_and_can_be_sent(
    text: str, limit: int, count: Callable[[str], int]
) -> None:
    shown = preview_text(text, limit, count)
    assert count(shown) <= limit
    shown.encode()
    assert not set(map(ord, shown)) & {*range(9), 11, 12, *range(14, 32), *range(127, 160)}


@given(long_text, st.integers(0, 200), counters)
def test_a_preview_is_a_function_of_its_input(
    text: str, limit: int, count: Callable[[str], int]
) -> None:
    assert preview_text(text, limit, count) == preview_text(text, limit, count)


def test_head_middle_and_tail_have_their_shares() -> None:
    words = " ".join(f"w{n}" for n in range(10_000))
    head, first, middle, second, tail = preview_text(words, 1000, len).split("\n")
    assert words.startswith(head)
    assert words.endswith(tail)
    assert middle in words
    assert abs(words.index(middle) + len(middle) / 2 - len(words) / 2) < 10
    assert len(head) == pytest.approx(len(tail), abs=10) == pytest.approx(2 * len(middle), abs=10)
    left_out = [int(gap.split()[1].replace(",", "")) for gap in (first, second)]
    assert sum(left_out) + len(head) + len(middle) + len(tail) == len(words)
    assert len(head) + len(middle) + len(tail) > 850


def test_cuts_are_between_lines_where_there_are_lines() -> None:
    lines = [f"line {n}: something happened" for n in range(1000)]
    shown = preview_text("\n".join(lines), 200, quarter).split("\n")
    gaps = [line for line in shown if "left out" in line]
    assert len(gaps) == 2
    assert set(shown) - set(gaps) <= set(lines)
    assert shown[0] == lines[0]
    assert shown[-1] == lines[-1]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("👩‍👩‍👧‍👦" * 500, "👩‍👩‍👧‍👦"),
        ("e\u0301" * 500, "e\u0301"),
        ("🇩🇪" * 500, "🇩🇪"),
        ("👍🏽" * 500, "👍🏽"),
        ("\ud83d\ude00" * 500, "😀"),
    ],
)
def test_no_cut_inside_what_is_seen_as_one_character(text: str, whole: str) -> None:
    for limit in range(90, 110):
        for part in preview_text(text, limit, len).split("\n"):
            assert "left out" in part or part == whole * (len(part) // len(whole))


@given(any_text, st.integers(-5, 320))
def test_a_place_to_cut_is_in_the_text_and_not_later(text: str, index: int) -> None:
    at = whole_character(text, index)
    assert 0 <= at <= min(len(text), max(0, index))
    assert at == whole_character(text, at) or at > 0


BASE64 = "iVBORw0KGgoAAAANSUhEUgAA" * 60


@pytest.mark.parametrize(
    "payload",
    [
        BASE64,
        BASE64 + "==",
        BASE64.replace("A", "-").replace("B", "_"),
        f"data:image/png;base64,{BASE64}",
        "\n".join(BASE64[n : n + 76] for n in range(0, len(BASE64), 76)),
        "\r\n".join(BASE64[n : n + 64] for n in range(0, len(BASE64), 64)),
        "\\n".join(BASE64[n : n + 76] for n in range(0, len(BASE64), 76)),
    ],
)
def test_base64_is_replaced_by_its_length_before_the_cut(payload: str) -> None:
    text = "before " + payload + " after " + "word " * 1000
    shown = preview_text(text, 100, quarter)
    assert shown.startswith("before [base64: 1,")
    assert "characters] after word" in shown
    assert "iVBORw0KGgo" not in shown


PARTS = st.sampled_from(["A" * 30, "b" * 61, "9+/_-" * 40, "\n", "\\n", " ", "=", "é", "\ud800"])


@given(st.lists(PARTS, max_size=12).map("".join))
def test_base64_is_seen_in_short_texts_as_in_long_ones(text: str) -> None:
    behind = " " * 100_000
    assert without_base64(text + behind) == without_base64(text) + behind


@given(st.text(" abcdefghij\n.,", max_size=400))
def test_words_are_no_base64(text: str) -> None:
    if all(len(word) < 60 for word in text.split()):
        assert without_base64(text) == text


@pytest.mark.parametrize("before", [0, 140, 150, 195, 200, 250, 260])
def test_base64_is_found_wherever_it_stands_in_a_long_text(before: int) -> None:
    text = "ab " * 350_000  # it is looked for in pieces of 2 ** 20 characters
    at = 2**20 - before
    run = "QUJD" * 50
    shown = without_base64(f"{text[:at]} {run} {text[at:]}")
    assert shown == f"{text[:at]} [base64: 200 characters] {text[at:]}"


@given(any_text)
def test_visible_text_stays_as_it_is(text: str) -> None:
    assert visible(visible(text)) == visible(text)


@given(any_text, st.integers(0, 300), st.integers(0, 300))
def test_of_what_is_visible_every_part_stays_as_it_is(text: str, start: int, end: int) -> None:
    if is_visible(text):
        assert visible(text[start:end]) == text[start:end]


HIDDEN = st.sampled_from(["\x00", "\r\n", "```json\n", "\u202e", "\ud800"])


@given(long_text, HIDDEN, st.integers(0, 2000), st.integers(1, 100), counters)
def test_what_must_be_shown_otherwise_is_found_wherever_it_stands(
    text: str, hidden: str, at: int, limit: int, count: Callable[[str], int]
) -> None:
    shown = preview_text(text[:at] + hidden + text[at:], limit, count)
    assert visible(shown) == shown
    assert "```json" not in shown


STATUS = {"status": "partial", "total": 911, "took": 0.25, "error": None, "more": True}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"trace": ["x " * 9000]} | STATUS),
        json.dumps(STATUS | {"trace": {"a": {"b": "x " * 9000}}}),
        json.dumps({"trace": "\\" * 9000 + '"'} | STATUS, indent=2),
        "\ufeff```json\n" + json.dumps({"trace": "x " * 9000} | STATUS) + "\n```\nNote: cut.",
        '{"deep": ' + "[" * 100_000 + "]" * 100_000 + ", " + json.dumps(STATUS)[1:],
        '{"big": ' + "7" * 5000 + ', "nan": NaN, "log": "' + "x " * 9000 + '", '
        + json.dumps(STATUS)[1:],
    ],
    ids=["last", "first", "backslashes", "fence", "deep", "numbers"],
)  # fmt: skip
def test_short_fields_of_an_object_are_shown_wherever_they_stand(text: str) -> None:
    first, _ = preview_text(text, 200, quarter).split("\n", 1)
    assert json.loads(first) == STATUS


def test_telling_fields_come_before_many_others() -> None:
    text = json.dumps({f"field{n}": n for n in range(5000)} | {"status": "late"})
    first, _ = preview_text(text, 200, quarter).split("\n", 1)
    assert json.loads(first)["status"] == "late"
    assert quarter(first) <= 100


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"a"', '{"a":', '{"a":1', '{"a":1,}', '{"a" 1}', "{1:2}", '"a', "[1] see",
     '{"a":1}' + " and so on" * 1000, "[" * 9, "no", "\ufeff", "```json\n```"],
)  # fmt: skip
def test_what_is_no_object_has_no_short_fields(text: str) -> None:
    assert short_scalars(text) == []


@given(st.dictionaries(any_text, st.none() | st.booleans() | st.integers() | any_text, max_size=6))
def test_short_fields_are_those_that_python_reads(fields: dict[str, object]) -> None:
    for ascii_only in (True, False):
        found = dict(short_scalars(json.dumps(fields, ensure_ascii=ascii_only)))
        assert found.items() <= json.loads(json.dumps(fields)).items()
        assert {key for key, value in fields.items() if isinstance(value, bool)} <= {*found} | {
            key for key in fields if len(key) > 100
        }


def test_a_fence_that_is_cut_does_not_pose_as_json() -> None:
    shown = preview_text('```json\n{"a": "' + "x " * 5000 + '"}\n```', 100, quarter)
    assert "```json" not in shown


@pytest.mark.parametrize(
    "unit",
    ["word ", "line\n", "[", '{"k":', '"', '{"a":"\\', "A", "A" * 59 + " ", "data:;a=b", "e\u0301",
     "\ud800", "```json\n", '{"id":1}\n'],
)  # fmt: skip
def test_a_large_text_is_not_counted(unit: str) -> None:
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return quarter(text)

    assert quarter(preview_text(unit * (2_000_000 // len(unit)), 300, count)) <= 300
    assert counted < 100_000
