"""What stands in a channel after a write."""

from typing import Any

import pytest

from langgraph_compression.state.reducers import add_usage, latest_event

OLD = {"cutoff_index": 5, "summary_message": "s"}


@pytest.mark.parametrize(
    ("old", "new", "stands"),
    [
        (None, OLD, "new"),
        (OLD, {"cutoff_index": 6}, "new"),
        (OLD, OLD, "old"),
        (OLD, {"cutoff_index": 5, "summary_message": "other"}, "old"),
        (OLD, {"cutoff_index": 4}, "old"),
        (OLD, {"cutoff_index": 4, "replaces": 5}, "new"),
        (OLD, {"cutoff_index": 4, "replaces": 4}, "old"),
        (OLD, {"cutoff_index": "9"}, "old"),
        (OLD, {"cutoff_index": True}, "old"),
        (OLD, {}, "old"),
        (OLD, "text", "old"),
        (OLD, 7, "old"),
        ("broken", OLD, "new"),
        ({"cutoff_index": "broken"}, OLD, "new"),
        (OLD, None, "none"),
        (None, None, "none"),
    ],
)
def test_the_event_goes_forward_or_is_reset(old: Any, new: Any, stands: str) -> None:
    assert latest_event(old, new) is {"old": old, "new": new, "none": None}[stands]


@pytest.mark.parametrize("new", [{"cutoff_index": 9}, {"cutoff_index": 4, "replaces": 5}])
def test_the_same_write_again_changes_nothing(new: Any) -> None:
    once = latest_event(OLD, new)
    assert latest_event(once, new) == once


@pytest.mark.parametrize(
    ("old", "new", "total"),
    [
        (None, {"m": {"input_tokens": 2}}, {"m": {"input_tokens": 2}}),
        ({"m": {"input_tokens": 2}}, {"m": {"input_tokens": 3}}, {"m": {"input_tokens": 5}}),
        ({"m": {"input_tokens": 2}}, {"n": {"input_tokens": 3}},
         {"m": {"input_tokens": 2}, "n": {"input_tokens": 3}}),
        ({"m": {"details": {"cached": 1}}}, {"m": {"details": {"cached": 2, "audio": 3}}},
         {"m": {"details": {"cached": 3, "audio": 3}}}),
        ({"m": {"input_tokens": "broken"}}, {"m": {"input_tokens": 3}}, {"m": {"input_tokens": 3}}),
        ("broken", {"m": {"input_tokens": 1}}, {"m": {"input_tokens": 1}}),
        ({"m": {"input_tokens": 1}}, None, {"m": {"input_tokens": 1}}),
        ({"m": {"tokens": 1}}, {"m": {"cost": None, "flag": True}}, {"m": {"tokens": 1}}),
    ],
)  # fmt: skip
def test_usage_is_summed_number_by_number(old: Any, new: Any, total: Any) -> None:
    assert add_usage(old, new) == total


def test_summing_leaves_the_old_value_alone() -> None:
    old = {"m": {"details": {"cached": 1}}}
    add_usage(old, {"m": {"details": {"cached": 1}}})
    assert old == {"m": {"details": {"cached": 1}}}
