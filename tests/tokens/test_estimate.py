"""The estimate against true counts of five tokenizers, and its properties."""

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_compression.state.settings import Profile
from langgraph_compression.tokens.estimate import estimate_tokens
from langgraph_compression.tokens.features import NAMES, features
from langgraph_compression.tokens.profiles import profile_for_model
from langgraph_compression.tokens.rates import COLUMNS, RATES
from langgraph_compression.tokens.scripts import SCRIPT_KINDS

COUNTS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "counts.json").read_text("utf-8")
)
PROFILES: list[Profile] = ["default", "o200k", "qwen3", "llama3", "gemma3"]
ANY_TEXT = st.text(st.characters(), max_size=300)


def truth(tokens: dict[str, int], profile: Profile) -> float:
    if profile == "default":
        return 2 * tokens["o200k"] * tokens["qwen3"] / (tokens["o200k"] + tokens["qwen3"])
    return tokens[profile]


@pytest.mark.parametrize("profile", PROFILES)
def test_error_over_kinds_of_text(profile: Profile) -> None:
    errors = sorted(
        abs(estimate_tokens(x["text"], profile) / truth(x["tokens"], profile) - 1) for x in COUNTS
    )
    assert len(errors) > 30
    assert statistics.median(errors) < 0.06
    assert errors[int(len(errors) * 0.95)] < 0.30


@pytest.mark.parametrize("profile", PROFILES)
def test_runs_of_one_character_within_a_factor_of_three(profile: Profile) -> None:
    repeats = json.loads((Path(__file__).parent / "data" / "repeats.json").read_text("utf-8"))
    for x in repeats:
        assert 1 / 3 < estimate_tokens(x["text"], profile) / truth(x["tokens"], profile) < 3


@given(ANY_TEXT, st.sampled_from(PROFILES))
def test_any_text_has_a_count(text: str, profile: Profile) -> None:
    tokens = estimate_tokens(text, profile)
    assert tokens >= (1 if text else 0)
    assert set(features(text)) <= set(NAMES)


def by_definition(text: str, profile: Profile) -> int:
    """The estimate as a sum over all features, nothing left out and nothing at once."""
    counts = features(text)
    marks = [name for name in NAMES if name.startswith("mark_") or name == "control"]
    marks += [f"script_{name}" for name, kind in SCRIPT_KINDS.items() if kind == "symbol"]
    least = sum(counts.get(name, 0) for name in marks) / 6

    def tokens(column: int) -> float:
        return max(sum(RATES[name][column] * count for name, count in counts.items()), least)

    if profile != "default":
        return max(1, round(tokens(COLUMNS.index(profile))))
    first, second = tokens(COLUMNS.index("o200k")), tokens(COLUMNS.index("qwen3"))
    return max(1, round(2 * first * second / (first + second))) if min(first, second) > 0 else 1


@given(ANY_TEXT.filter(bool), st.sampled_from(PROFILES))
def test_the_estimate_is_the_sum_of_rates(text: str, profile: Profile) -> None:
    assert estimate_tokens(text, profile) == by_definition(text, profile)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("length", [1, 1037, 1038, 1039, 1040, 2078, 131_072])
@pytest.mark.parametrize("pattern", ["j", "qZ", "^j", "J~\n", "<td>\r", "\1j", "压j", "😀"])
def test_the_estimate_is_the_sum_of_rates_at_any_length(
    pattern: str, length: int, profile: Profile
) -> None:
    text = (pattern * length)[:length]
    assert estimate_tokens(text, profile) == by_definition(text, profile)


FOREIGN = st.lists(st.characters(min_codepoint=128), min_size=1, max_size=8, unique=True)


@given(FOREIGN.map("x".join))
def test_scripts_are_counted_alike_in_short_and_long_texts(text: str) -> None:
    once, often = features(f"{text} "), features(f"{text} " * 80)
    for name in NAMES:
        if name.startswith("script_"):
            assert often.get(name, 0) == 80 * once.get(name, 0)


@pytest.mark.parametrize(
    "text", ["\ud800" * 50, "\0" * 50, "a" * 1_000_000, " " * 100_000, "\n" * 500, "😀" * 50]
)
def test_odd_texts_are_counted(text: str) -> None:
    assert 1 <= estimate_tokens(text) <= 2 * len(text)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("pattern", ["({", "!!{", "'\"{", "\1{", "█{", "<>", "};", "%$#", "→✓"])
def test_a_repeated_pattern_of_marks_does_not_vanish(pattern: str, profile: Profile) -> None:
    """Each six of them are a token at least, in whatever order."""
    assert estimate_tokens(pattern * 400, profile) >= len(pattern) * 400 // 6


def test_chinese_costs_more_than_a_quarter_token_a_character() -> None:
    text = "上下文压缩把旧的消息写进文件，再让模型写一份摘要。" * 20
    assert 0.5 * len(text) < estimate_tokens(text) < len(text)


def test_every_feature_has_a_rate() -> None:
    assert list(RATES) == list(NAMES)


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("openai:gpt-5", "o200k"),
        ("azure/gpt-4o-mini", "o200k"),
        ("o3-mini", "o200k"),
        ("qwen3-8b", "qwen3"),
        ("dashscope/qwen-max", "qwen3"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama3"),
        ("gemma-3-270m", "gemma3"),
        ("google_genai:gemini-2.5-pro", "gemma3"),
        ("deepseek-chat", "default"),
        ("", "default"),
        (None, "default"),
    ],
)
def test_profile_by_name(name: str | None, profile: Profile) -> None:
    assert profile_for_model(name) == profile
