"""Interleaved timing: every contender once per round, so that all see the same machine."""

import gc
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter
from typing import Any

Contender = Callable[[list[Any]], float]
"""Takes messages, returns the seconds that count."""


def timed(call: Callable[[list[Any]], Any]) -> Contender:
    """The whole call counts."""

    def contender(messages: list[Any]) -> float:
        start = perf_counter()
        call(messages)
        return perf_counter() - start

    return contender


def interleaved(
    contenders: Mapping[str, Contender],
    messages: Callable[[], list[Any]],
    *,
    seconds: float,
    most: int = 25,
    least: int = 3,
) -> dict[str, float]:
    """Median milliseconds of each contender.

    Args:
        contenders: By name.
        messages: What a contender is given, asked for anew before each call and not timed.
        seconds: Rounds go on for about this long.
        most: Rounds at most.
        least: Rounds at least, beside one to warm up.
    """
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    begun = perf_counter()
    rounds = 0
    while rounds <= least or (rounds <= most and perf_counter() - begun < seconds):
        for name in names[rounds % len(names) :] + names[: rounds % len(names)]:
            given = messages()
            gc.collect()
            spent = contenders[name](given)
            if rounds:
                taken[name].append(spent)
        rounds += 1
    return {name: median(values) * 1000 for name, values in taken.items()}
