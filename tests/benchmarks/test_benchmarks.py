"""What of the benchmarks needs no other package: judging, targets, the page."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from benchmarks import estimate, report
from benchmarks.run import NAMES, RESULTS
from benchmarks.targets import JUDGES, targets
from langgraph_compression.state.settings import Profile

TRUE = {"o200k": 100, "qwen3": 100, "llama3": 100, "gemma3": 100}


@pytest.fixture
def stored() -> dict[str, Any]:
    results: dict[str, Any] = json.loads(RESULTS.read_text("utf-8"))
    for found in results.values():
        del found["measured"]
    return results


def text(category: str, tokens: int, *, size: int = 500) -> dict[str, Any]:
    """A text of 100 tokens that the counter of these tests says to have `tokens`."""
    return {"text": f"{tokens} ".ljust(size, "."), "category": category, "tokens": TRUE}


def said(one: str) -> int:
    return int(one.split()[0])


def summary(*texts: dict[str, Any], repeats: tuple[dict[str, Any], ...] = ()) -> dict[str, float]:
    return estimate.summary(
        estimate.judged(texts, "o200k", said), estimate.judged(repeats, "o200k", said)
    )


@pytest.mark.parametrize("name", ["estimate", "growth", "server"])
def test_what_compares_with_no_other_package_can_be_imported(name: str) -> None:
    assert callable(import_module(f"benchmarks.{name}").run)


def test_long_texts_without_repeats_and_white_space_stand_apart() -> None:
    found = summary(
        text("prose", 110),
        text("prose", 98, size=399),
        text("repeat", 200),
        text("whitespace", 40),
    )
    assert found["400 characters and more, worst"] == pytest.approx(0.1)
    assert found["all, worst"] == pytest.approx(1.0)
    assert found["all, median"] == pytest.approx((0.1 + 0.6) / 2)


def test_p95_is_an_element_of_the_sorted_errors() -> None:
    found = summary(*(text("prose", 100 + n) for n in range(40)))
    assert found["400 characters and more, p95"] == pytest.approx(0.38)
    assert found["400 characters and more, median"] == pytest.approx(0.195)


def test_bias_of_a_category_needs_three_texts_and_counts_directions_against_each_other() -> None:
    found = summary(
        *(text("two", n) for n in (150, 150)),
        *(text("balanced", n) for n in (70, 130, 100)),
        *(text("low", n) for n in (80, 85, 90)),
        *(text("repeat", n) for n in (200, 200, 200)),
    )
    assert found["largest bias of a category"] == pytest.approx(0.15)


@pytest.mark.parametrize(("tokens", "factor"), [(250, 2.5), (25, 4.0), (100, 1.0)])
def test_factor_of_a_repeat_in_either_direction(tokens: int, factor: float) -> None:
    assert summary(text("repeat", tokens))["worst factor of a repeat"] == pytest.approx(factor)
    apart = summary(text("prose", 100), repeats=(text("repeat", tokens),))
    assert apart["worst factor of a repeat"] == pytest.approx(factor)
    assert apart["all, worst"] == 0


@pytest.mark.parametrize(("profile", "true"), [("default", 120), ("o200k", 100), ("qwen3", 150)])
def test_truth_of_a_profile(profile: Profile, true: int) -> None:
    texts = [{**text("prose", 120), "tokens": {**TRUE, "qwen3": 150}}]
    (found,) = estimate.judged(texts, profile, said)
    assert found.error == pytest.approx(120 / true - 1)


def test_nothing_to_judge() -> None:
    assert set(summary().values()) == {0.0, 1.0}


def test_every_profile_keeps_the_targets_on_texts_not_used_for_the_fit() -> None:
    found = {"speed": {"600 characters, microseconds": 0.0}, "error": estimate.errors()}
    rows = targets({"estimate": found})
    assert len(rows) >= 8
    assert [row for row in rows if not row.met] == []


def test_a_target_names_the_profile_that_is_worst(stored: dict[str, Any]) -> None:
    errors = stored["estimate"]["error"]["held out"]
    errors["gemma3"]["all, p95"] = 0.41
    (row,) = (one for one in targets(stored) if "held out, all, p95" in one.what)
    assert "(gemma3)" in row.what
    assert (row.measured, row.met) == ("41.00 %", False)


def test_every_stored_result_has_targets_and_a_section(stored: dict[str, Any]) -> None:
    assert set(stored) <= set(NAMES)
    for name, found in stored.items():
        _, section = report.SECTIONS[name]
        assert "| --- |" in section(found)
        if name in JUDGES:
            assert targets({name: found})


def test_the_page_holds_the_stored_results(stored: dict[str, Any]) -> None:
    page = (report.DOCS / "benchmarks.md").read_text("utf-8")
    for name, found in stored.items():
        assert report.SECTIONS[name][1](found) in page
    for row in targets(stored):
        assert f"| {row.what} | {row.wanted} | {row.measured} |" in page


def test_plots_of_the_page_exist() -> None:
    page = (report.DOCS / "benchmarks.md").read_text("utf-8")
    for name in page.split("](benchmarks/")[1:]:
        assert Path(report.DOCS, "benchmarks", name.split(")")[0]).is_file()
