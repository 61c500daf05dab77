"""Speed and error of the token estimate."""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import harmonic_mean, mean, median
from time import perf_counter
from typing import Any, NamedTuple

from langchain_core.messages import HumanMessage
from langchain_core.messages.utils import count_tokens_approximately

from benchmarks.conversation import text
from langgraph_compression import estimate_tokens
from langgraph_compression.state.settings import Profile

TESTS = Path(__file__).parent.parent / "tests" / "tokens" / "data"
HELD_OUT = (TESTS / "counts.json", TESTS / "held_out.json")
"""Texts of the tests, with their true counts; none was used to fit the rates."""
REPEATS = TESTS / "repeats.json"
"""Repeats alone, more than a mixture of kinds should have: only their factor is judged."""
TRUTH = Path(os.environ.get("BENCH_TRUTH", "../shared/tokens/truth.json"))
"""Further texts of the same form, left out where they are not."""
PROFILES: tuple[Profile, ...] = ("default", "o200k", "qwen3", "llama3", "gemma3")
LONG = 400
"""Characters of a long text."""
SMALLEST_CATEGORY = 3
"""Texts from which on the bias of a category says something."""


class Judged(NamedTuple):
    """One text, its category, and by how much its estimate is off: 0.1 is a tenth too many."""

    text: str
    category: str
    error: float


def speed() -> dict[str, float]:
    """Megabytes of UTF-8 a second by kind of text, and microseconds of a short message."""
    record = {"id": 4711, "title": "Gate 7", "url": "https://example.org/a?b=7", "score": 0.93}
    texts = {
        "english": text("english", 1, 200_000),
        "chinese": text("chinese", 1, 200_000),
        "json": json.dumps([record | {"id": n} for n in range(2_000)]),
    }
    results = {}
    for kind, one in texts.items():
        results[f"{kind}, MB/s"] = len(one.encode()) / _seconds(one, 9) / 1e6
    short = text("english", 1, 600)
    results["600 characters, microseconds"] = _seconds(short, 200) * 1e6
    return results


def _seconds(one: str, times: int) -> float:
    """Median of several calls."""
    taken = []
    for _ in range(times):
        start = perf_counter()
        estimate_tokens(one)
        taken.append(perf_counter() - start)
    return median(taken)


def errors() -> dict[str, Any]:
    """Errors by set of texts and profile, see `summary`."""
    sets = {"held out": ([one for path in HELD_OUT for one in _read(path)], _read(REPEATS))}
    if TRUTH.exists():
        sets["BENCH_TRUTH"] = (_read(TRUTH), [])
    results: dict[str, Any] = {}
    for name, (texts, repeats) in sets.items():
        results[name] = {
            counter: summary(judged(texts, profile, count), judged(repeats, profile, count))
            for counter, (profile, count) in COUNTERS.items()
        }
    return results


def _read(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text("utf-8")))


def _estimate(profile: Profile) -> Callable[[str], int]:
    return lambda one: estimate_tokens(one, profile)


def _quarter(one: str) -> int:
    return count_tokens_approximately([HumanMessage(one)])


COUNTERS: dict[str, tuple[Profile, Callable[[str], int]]] = {
    **{profile: (profile, _estimate(profile)) for profile in PROFILES},
    "characters / 4 (count_tokens_approximately)": ("default", _quarter),
}
"""Name → whose counts are true, and what is judged by them."""


def judged(
    texts: Sequence[dict[str, Any]], profile: Profile, count: Callable[[str], int]
) -> list[Judged]:
    """The error of a counter on each text that is not empty.

    Args:
        texts: `{"text", "category", "tokens": {"o200k", "qwen3", "llama3", "gemma3"}}`.
        profile: Whose counts are true; `default` is the harmonic mean of o200k and qwen3.
        count: Tokens of a text.
    """
    found = []
    for one in texts:
        if one["text"]:
            true = one["tokens"]
            wanted = (
                harmonic_mean([true["o200k"], true["qwen3"]])
                if profile == "default"
                else true[profile]
            )
            found.append(Judged(one["text"], one["category"], count(one["text"]) / wanted - 1))
    return found


def summary(texts: Sequence[Judged], repeats: Sequence[Judged] = ()) -> dict[str, float]:
    """What the targets are about; of `repeats`, only the factor.

    Median, p95 and worst of long texts leave out pure repeats and white space, whose counts are
    an accident of a vocabulary: 2,000 spaces are 16 tokens or 65. They are in "all", and repeats
    have a measure of their own. p95 is the element at 95 % of the sorted errors.

    Returns:
        Fractions (0.1 is 10 %), and the worst factor between estimate and truth of a repeat,
        in whichever direction. Without such texts 0, or 1 for the factor.
    """
    plain = [one for one in texts if len(one.text) >= LONG and not _is(one, "repeat", "whitespace")]
    results = {}
    for size, some in (("400 characters and more", plain), ("all", texts)):
        values = sorted(abs(one.error) for one in some) or [0.0]
        results[f"{size}, median"] = median(values)
        results[f"{size}, p95"] = values[min(len(values) - 1, int(0.95 * len(values)))]
        results[f"{size}, worst"] = values[-1]
    categories = [
        abs(bias)
        for name, (bias, count) in biases(texts).items()
        if count >= SMALLEST_CATEGORY and "repeat" not in name
    ]
    results["largest bias of a category"] = max(categories, default=0.0)
    factors = [1 + one.error for one in (*texts, *repeats) if _is(one, "repeat")]
    results["worst factor of a repeat"] = max(
        (max(one, 1 / one) if one else float("inf") for one in factors), default=1.0
    )
    return results


def biases(texts: Sequence[Judged]) -> dict[str, tuple[float, int]]:
    """Mean error and number of texts by category."""
    by: defaultdict[str, list[float]] = defaultdict(list)
    for one in texts:
        by[one.category].append(one.error)
    return {name: (mean(values), len(values)) for name, values in by.items()}


def _is(one: Judged, *kinds: str) -> bool:
    return any(kind in one.category for kind in kinds)


def run() -> dict[str, Any]:
    """Speed and errors."""
    return {"speed": speed(), "error": errors()}
