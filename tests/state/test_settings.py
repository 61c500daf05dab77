"""The settings: what is refused, what a run's context overrides."""

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import ValidationError

from langgraph_compression import CompressionContext, CompressionSettings
from langgraph_compression.state.settings import carried


def test_defaults() -> None:
    settings = CompressionSettings()
    assert settings.threshold == 100 * 1024
    assert settings.summary_keep_messages == 10
    assert settings.summary_tool_result_token_limit == 300
    assert settings.tool_argument_char_limit == 2000
    assert set(settings.clipped_argument_tools) == {"write_file", "edit_file"}
    assert dict(settings.structured_result_tools) == {
        "query_kb": "knowledge_base",
        "web_search": "web_search",
    }
    assert settings.token_profile == "auto"
    assert settings.suggestion_ratio == 0.85
    assert set(settings.uncounted_usage_providers) == {"siliconflow-cn", "siliconflow"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("summary_threshold", 0), ("summary_threshold", -1), ("summary_threshold", "much"),
        ("summary_threshold", float("inf")), ("summary_threshold", 1e308),
        ("summary_threshold", float("nan")),
        ("summary_keep_messages", -1), ("summary_keep_messages", 1.5),
        ("summary_tool_result_token_limit", -1), ("tool_argument_char_limit", -1),
        ("token_profile", "gpt2"), ("structured_result_tools", {"x": "unknown_kind"}),
        ("suggestion_ratio", -0.5), ("summary_prompt", "Summarize."), ("summary_prompt", ""),
        ("unknown_field", 1),
    ],
)  # fmt: skip
def test_what_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValidationError, match=field):
        CompressionSettings(**{field: value})


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("summary_treshold", "summary_threshold"),
        ("threshold", "summary_threshold"),
        ("summaryKeepMessages", "summary_keep_messages"),
        ("sumary_model", "summary_model"),
    ],
)
def test_a_typo_is_named_with_what_was_meant(typo: str, meant: str) -> None:
    with pytest.raises(ValidationError, match=rf"{typo}\n.*did you mean '{meant}'") as caught:
        CompressionContext.model_validate({typo: 1, "summary_prompt": "{messages}"})
    [error] = caught.value.errors()
    assert (error["type"], error["loc"]) == ("extra_forbidden", (typo,))
    with pytest.raises(ValidationError, match=rf"{typo}\n.*did you mean '{meant}'"):
        carried({"tenant": "a", "compression": {typo: 1}})


def test_a_field_near_to_none_is_named_with_all() -> None:
    with pytest.raises(ValidationError, match=r"color\n.*known are summary_threshold, "):
        CompressionSettings.model_validate({"color": 1})


def test_a_prompt_without_its_place_says_what_is_missing() -> None:
    with pytest.raises(ValidationError, match=r"\{messages\}"):
        CompressionSettings(summary_prompt="Summarize {history}")


def test_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        CompressionSettings().summary_threshold = 1


@pytest.mark.parametrize(("given", "tokens"), [(8, 8192), (0.5, 512), (0.0001, 1)])
def test_threshold_in_tokens(given: float, tokens: int) -> None:
    assert CompressionSettings(summary_threshold=given).threshold == tokens


@pytest.mark.parametrize("model", [CompressionSettings, CompressionContext])
def test_every_field_is_described(model: Any) -> None:
    properties = model.model_json_schema()["properties"]
    assert all(field.get("description") for field in properties.values())


CODE = CompressionSettings(summary_threshold=7, summary_keep_messages=3)


@dataclass
class Host:
    tenant: str = "a"
    compression: Any = None


@pytest.mark.parametrize(
    "context",
    [
        CompressionContext(summary_threshold=2),
        {"compression": {"summary_threshold": 2}, "tenant": "a"},
        {"compression": CompressionContext(summary_threshold=2)},
        Host(compression=CompressionContext(summary_threshold=2)),
        Host(compression=CompressionSettings(summary_threshold=2)),
        Host(compression={"summary_threshold": 2}),
    ],
)
def test_context_overrides_the_fields_that_it_set(context: Any) -> None:
    assert CODE.overridden(context) == CompressionSettings(
        summary_threshold=2, summary_keep_messages=3
    )


def test_a_field_set_to_its_default_overrides_too() -> None:
    assert CODE.overridden(CompressionContext(summary_threshold=100)).summary_threshold == 100


@pytest.mark.parametrize("context", [None, {}, Host(), object(), CompressionContext(), "text"])
def test_other_contexts_change_nothing(context: Any) -> None:
    assert CODE.overridden(context) is CODE


@pytest.mark.parametrize(
    "inner", [{"unknown": 1}, {"summary_threshold": -1}, "text", {"mode": "delete"}]
)
def test_a_broken_field_of_a_host_is_refused(inner: Any) -> None:
    with pytest.raises(ValidationError):
        carried(Host(compression=inner))
