"""The targets of the project, each against what was measured."""

from typing import Any, NamedTuple

PEERS = (
    "langchain summarization",
    "langchain context editing",
    "deepagents summarization",
    "langmem",
    "trim_messages",
)
BELOW = "below the threshold, english"
ESTIMATE = {
    "400 characters and more, median": 5,
    "400 characters and more, p95": 25,
    "400 characters and more, worst": 50,
    "all, median": 6,
    "all, p95": 40,
    "largest bias of a category": 20,
    "worst factor of a repeat": 3,
}
"""Limits in %, for a repeat a factor; every profile has to keep them."""


class Target(NamedTuple):
    """One row of the table."""

    what: str
    wanted: str
    measured: str
    met: bool


def ratio_to_cheapest(cell: dict[str, float]) -> float:
    """Ours over the cheapest of the other packages."""
    return cell["ours"] / min(cell[peer] for peer in PEERS if peer in cell)


def targets(results: dict[str, Any]) -> list[Target]:
    """Every target whose benchmark was run."""
    rows: list[Target] = []
    for name, judge in JUDGES.items():
        if name in results:
            rows += judge(results[name])
    return rows


def at_most(what: str, value: float, limit: float, unit: str = "×") -> Target:
    """A target that is an upper bound."""
    return Target(what, f"≤ {limit:g}{unit}", f"{value:.2f}{unit}", value <= limit)


def _overhead(found: dict[str, Any]) -> list[Target]:
    rows = []
    for situation in (BELOW, BELOW.replace("english", "chinese")):
        for size, cell in found[situation].items():
            for call in ("next call", "first call"):
                what = f"compression alone over the cheapest peer, N = {int(size):,}, {call}"
                if situation != BELOW:
                    what += ", Chinese"
                limit = 0.2 if size == "10000" else 1.0
                rows.append(at_most(what, ratio_to_cheapest(cell[f"alone, {call}"]), limit))
    first = found["compacting, english"]["10000"]["alone, new texts"]["ours"] / 1000
    what = "first previews: 2,500 results of 10,000 new messages counted, saved and previewed"
    return [*rows, at_most(what, first, 1, " s")]


def _growth(found: dict[str, Any]) -> list[Target]:
    rows = [
        at_most(f"exponent of our work in N: {name}", value, 1.15, "")
        for name, value in found["exponent"].items()
    ]
    after = {size: cell["ours"] for size, cell in found["after a summary"].items()}
    rows.append(
        at_most(
            "after a summary: a call at a history of 10,000 over one at 100",
            after["10000"] / after["100"],
            1.5,
        )
    )
    return rows


def _checkpoints(found: dict[str, Any]) -> list[Target]:
    rows = []
    for store, graphs in found.items():
        if store == "measured":
            continue
        for chatbot in ("chatbot, never compressed", "chatbot, default settings"):
            base, own = graphs["one node, delta"], graphs[chatbot]
            turns = max((key for key in own if key.isdigit() and key in base), key=int)
            for key, limit in (("bytes", 1.15), ("ms per turn", 1.3)):
                value = own[turns][key] / base[turns][key]
                rows.append(
                    at_most(
                        f"{store}, T = {turns}: {key} of {chatbot}, over one node", value, limit
                    )
                )
    return rows


def _memory(found: dict[str, Any]) -> list[Target]:
    rows = [
        at_most(f"peak of one call over its messages, N = {int(size):,}: {name}", value, 1.3)
        for size, row in found["one call"].items()
        for name, value in row.items()
        if name.startswith("ours")
    ]
    large = found["large result"]
    rows.append(
        at_most(
            f"copies of a result of {large['MB']:.0f} MB while it is saved",
            large["copies at the peak"],
            2,
            "",
        )
    )
    half, whole = found["history"]["ours"]["50"], found["history"]["ours"]["100"]
    rows.append(
        at_most(
            "bytes of history per byte summarized, 100 compressions over 50",
            (whole["MB written"] / whole["MB of text summarized"])
            / (half["MB written"] / half["MB of text summarized"]),
            1.1,
        )
    )
    return rows


def _summaries(found: dict[str, Any]) -> list[Target]:
    return [
        Target(
            f"share of the removed messages that the summarizer reads, {growth}",
            "100 %",
            f"{packages['ours']['share read']:.0%}",
            packages["ours"]["share read"] == 1,
        )
        for growth, packages in found.items()
        if growth != "measured"
    ]


def _estimate(found: dict[str, Any]) -> list[Target]:
    speed = found["speed"]
    rows = [
        Target(f"estimate, {kind}", "≥ 20 MB/s", f"{value:.0f} MB/s", value >= 20)
        for kind, value in speed.items()
        if kind.endswith("MB/s")
    ]
    short = speed["600 characters, microseconds"]
    rows.append(at_most("estimate of 600 characters", short, 100, " µs"))
    for texts, profiles in found["error"].items():
        judged = {name: one for name, one in profiles.items() if "/" not in name}
        for what, limit in ESTIMATE.items():
            profile = max(judged, key=lambda name: judged[name][what])
            value = judged[profile][what]
            percent = "factor" not in what
            rows.append(
                at_most(
                    f"estimate, {texts}, {what}, highest of {len(judged)} profiles ({profile})",
                    100 * value if percent else value,
                    limit,
                    " %" if percent else "×",
                )
            )
    return rows


JUDGES = {
    "overhead": _overhead,
    "growth": _growth,
    "checkpoints": _checkpoints,
    "memory": _memory,
    "summaries": _summaries,
    "estimate": _estimate,
}
