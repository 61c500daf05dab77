"""docs/benchmarks.md and its plots, from benchmarks/results.json."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.run import RESULTS
from benchmarks.targets import targets

DOCS = Path(__file__).parent.parent / "docs"
NOTES = Path(__file__).with_name("notes.md")
"""What a person found out about the numbers."""


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table of Markdown."""
    lines = [list(head), *([_cell(value) for value in row] for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def overhead(found: dict[str, Any]) -> str:
    """Milliseconds, and in brackets how many bare model calls that is."""
    parts = []
    for situation, cells in found.items():
        for call in next(iter(cells.values())):
            rows = []
            for name in next(iter(cells.values()))[call]:
                row: list[Any] = [f"**{name}**" if name == "ours" else name]
                for cell in cells.values():
                    value, bare = cell[call][name], cell[call]["bare model call"]
                    row.append(f"{_cell(value)} ({value / bare:.2g}×)")
                rows.append(row)
            sizes = [f"{int(size):,} messages" for size in cells]
            parts.append(f"### {situation}: {call}\n\n{table(['ms', *sizes], rows)}")
    return "\n".join(parts)


def growth(found: dict[str, Any]) -> str:
    """Seconds until N, and a call after a summary."""
    courses = found["until N messages"]
    sizes = list(next(iter(courses.values())))
    rows = [
        [name, *(at[size] for size in sizes), found["exponent"][f"time, {name}"]]
        for name, at in courses.items()
    ]
    texts = [["out of a checkpoint each turn", *found["texts estimated"].values()]]
    shares = [
        [name, *(f"{share:.1%}" for share in at.values())]
        for name, at in found["share of the whole"].items()
    ]
    after = [[f"{int(n):,}", cell["ours"]] for n, cell in found["after a summary"].items()]
    return "\n".join(
        [
            table(["seconds of our nodes until N messages", *sizes, "exponent"], rows),
            table(["texts that were estimated until N messages", *sizes], texts),
            table(["their share of the whole graph's time", *sizes], shares),
            table(["messages in the history, 10 behind the summary", "ms of our nodes"], after),
        ]
    )


def checkpoints(found: dict[str, Any]) -> str:
    """Bytes and time by store and graph."""
    rows = [
        [store, graph, turns, cell["bytes"] / 1e6, *list(cell.values())[1:]]
        if turns.isdigit()
        else [store, graph, f"stopped at {cell}, time over"] + [None] * 3
        for store, graphs in found.items()
        for graph, row in graphs.items()
        for turns, cell in row.items()
    ]
    return table(["store", "graph", "turns", "MB", "ms per turn", "ms, last tenth"], rows)


def memory(found: dict[str, Any]) -> str:
    """Ratios to the messages, copies, bytes of history."""
    one = found["one call"]
    names = list(next(iter(one.values())))
    rows = [[name, *(row[name] for row in one.values())] for name in names]
    large = found["large result"]
    history = [
        [name, n, *cell.values()]
        for name, row in found["history"].items()
        for n, cell in row.items()
    ]
    sizes = [f"{int(size):,} messages" for size in one]
    return "\n".join(
        [
            table(["peak of one call / its messages", *sizes], rows),
            f"A tool result of {large['MB']:.0f} MB, saved and previewed: "
            f"{large['copies at the peak']:.1f} copies at the peak, the message's own included.\n",
            table(["history", "compressions", "MB written", "MB of text summarized"], history),
        ]
    )


def summaries(found: dict[str, Any]) -> str:
    """What was read, how large, how often."""
    rows = [
        [growth, name, *row.values()]
        for growth, packages in found.items()
        for name, row in packages.items()
    ]
    first = next(iter(next(iter(found.values())).values()))
    return table(["conversation of 250 turns", "package", *first], rows)


def estimate(found: dict[str, Any]) -> str:
    """Speed, and the errors for each set of texts."""
    parts = [table(["speed", ""], found["speed"].items())]
    for texts, profiles in found["error"].items():
        keys = list(next(iter(profiles.values())))
        rows = [
            [profile, *(_error(key, errors[key]) for key in keys)]
            for profile, errors in profiles.items()
        ]
        parts.append(table([f"error, {texts}", *keys], rows))
    return "\n".join(parts)


def _error(key: str, value: float) -> str:
    return f"{value:.2g}×" if "factor" in key else f"{100 * value:.1f} %"


def server(found: dict[str, Any]) -> str:
    """Throughput and latency."""
    rows = [
        [threads, graph, *row.values()]
        for threads, graphs in found.items()
        for graph, row in graphs.items()
    ]
    return table(["threads", "graph", "runs per second", "median ms", "p95 ms"], rows)


SECTIONS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "overhead": ("Overhead of one model call", overhead),
    "growth": ("Our own work over a conversation", growth),
    "checkpoints": ("Checkpoints", checkpoints),
    "memory": ("Memory and files", memory),
    "summaries": ("What summarizers read", summaries),
    "estimate": ("Token estimate", estimate),
    "server": ("Served by langgraph dev", server),
}


def main() -> None:
    """Write the page and its plots."""
    from benchmarks.plots import draw  # needs matplotlib, the tables do not

    results = json.loads(RESULTS.read_text("utf-8"))
    measured = {name: found.pop("measured") for name, found in results.items()}
    latest = max(measured.values(), key=lambda one: one["date"])
    packages = ", ".join(f"{name} {number}" for name, number in latest["packages"].items())
    dates = sorted({f"{one['date']} (commit {one['commit']})" for one in measured.values()})
    rows = [
        [row.what, row.wanted, row.measured, "met" if row.met else "**missed**"]
        for row in targets(results)
    ]
    parts = [
        "# Benchmarks\n",
        "Written by `make bench`; do not edit. The model is a fake that answers at once; times "
        "of calls are medians, interleaved in one process; times of turns are means over a thread. "
        "Conversations are made of requests, tool calls, results of 1 KB and answers. The "
        "estimate's error is taken over texts of the tests that its rates were not fitted to, and "
        "over those that BENCH_TRUTH names, if there are any.\n",
        f"Measured on {', '.join(dates)}: {latest['cores']} cores of {latest['processor']}, "
        f"{latest['system']}, Python {latest['python']}. {packages}.\n",
        "## Targets\n",
        table(["target", "wanted", "measured", ""], rows),
    ]
    if NOTES.exists():
        parts.append(NOTES.read_text("utf-8"))
    parts += [
        f"![{caption}](benchmarks/{name})\n" for name, caption in draw(results, DOCS / "benchmarks")
    ]
    for name, (title, section) in SECTIONS.items():
        if name in results:
            parts += [f"## {title}\n", section(results[name])]
    (DOCS / "benchmarks.md").write_text("\n".join(parts), "utf-8")


if __name__ == "__main__":
    main()
