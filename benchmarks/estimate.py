"""Speed and error of the token estimate."""

import json
import os
from pathlib import Path
from statistics import harmonic_mean, median, quantiles
from time import perf_counter
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.messages.utils import count_tokens_approximately

from benchmarks.conversation import text
from langgraph_compression import estimate_tokens

TRUTH = Path(os.environ.get("BENCH_TRUTH", "../shared/tokens/truth.json"))
"""Texts with their true counts; the error is left out where they are not."""
PROFILES = ("default", "o200k", "qwen3", "llama3", "gemma3")


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
        results[f"{kind}, MB/s"] = len(one.encode()) / _fastest(one, 9) / 1e6
    short = text("english", 1, 600)
    results["600 characters, microseconds"] = _fastest(short, 200) * 1e6
    return results


def _fastest(one: str, times: int) -> float:
    """Median of several calls, in seconds."""
    taken = []
    for _ in range(times):
        start = perf_counter()
        estimate_tokens(one)
        taken.append(perf_counter() - start)
    return median(taken)


def errors() -> dict[str, Any]:
    """Relative error by profile; for the default against the mean of o200k and qwen3."""
    if not TRUTH.exists():
        return {}
    texts = [entry for entry in json.loads(TRUTH.read_text("utf-8")) if entry["text"]]
    results: dict[str, Any] = {}
    for profile in PROFILES:
        results[profile] = _errors(
            texts, profile, lambda one, profile=profile: estimate_tokens(one, profile)
        )
    results["characters / 4 (count_tokens_approximately)"] = _errors(
        texts, "default", lambda one: count_tokens_approximately([HumanMessage(one)])
    )
    return results


def _errors(texts: list[dict[str, Any]], profile: str, count: Any) -> dict[str, float]:
    by_size: dict[str, list[float]] = {"400 characters and more": [], "all": []}
    for entry in texts:
        true = entry["tokens"]
        wanted = (
            harmonic_mean([true["o200k"], true["qwen3"]]) if profile == "default" else true[profile]
        )
        error = abs(count(entry["text"]) / wanted - 1)
        by_size["all"].append(error)
        if len(entry["text"]) >= 400:
            by_size["400 characters and more"].append(error)
    results = {}
    for size, values in by_size.items():
        results[f"{size}, median"] = median(values)
        results[f"{size}, p95"] = quantiles(values, n=20, method="inclusive")[-1]
        results[f"{size}, worst"] = max(values)
    return results


def run() -> dict[str, Any]:
    """Speed and, where the true counts are at hand, errors."""
    return {"speed": speed(), "error": errors()}
