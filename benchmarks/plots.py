"""The plots of docs/benchmarks.md."""

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "benchmarks"

from matplotlib import pyplot as plt  # noqa: E402  after the backend is chosen


def draw(results: dict[str, Any], folder: Path) -> list[tuple[str, str]]:
    """Write the plots of what was measured; file name and caption of each."""
    drawn = []
    if "overhead" in results:
        drawn.append(("overhead.svg", "Compression alone below the threshold, per model call"))
        _overhead(results["overhead"], folder / "overhead.svg", drawn[-1][1])
    if "growth" in results:
        drawn.append(("growth.svg", "Our own work until N messages"))
        lines = results["growth"]["until N messages"]
        _lines(lines, folder / "growth.svg", drawn[-1][1], "messages", "seconds")
    if "checkpoints" in results:
        for key, name, label in (
            ("bytes", "bytes", "bytes on disk"),
            ("ms per turn, last tenth", "turns", "ms of a turn, last tenth"),
        ):
            drawn.append((f"checkpoints-{name}.svg", f"A thread on SQLite: {label}"))
            lines = {
                graph: {turns: cell[key] for turns, cell in row.items() if turns.isdigit()}
                for graph, row in results["checkpoints"]["sqlite"].items()
            }
            _lines(lines, folder / drawn[-1][0], drawn[-1][1], "turns", label)
    return drawn


def _overhead(found: dict[str, Any], path: Path, title: str) -> None:
    cells = found["below the threshold, english"]
    lines: dict[str, dict[str, float]] = {}
    for size, cell in cells.items():
        for name, value in cell["alone, next call"].items():
            lines.setdefault(name, {})[size] = value
        lines.setdefault("ours, first call", {})[size] = cell["alone, first call"]["ours"]
    _lines(lines, path, title, "messages", "milliseconds")


def _lines(
    lines: dict[str, dict[str, float]], path: Path, title: str, x_label: str, y_label: str
) -> None:
    """Curves with both axes logarithmic, so that a slope of one is linear."""
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for name, points in lines.items():
        own = name.startswith(("ours", "chatbot", "out of", "messages in"))
        axes.plot(
            [int(x) for x in points],
            list(points.values()),
            marker="o",
            linewidth=2.2 if own else 1.2,
            label=name,
        )
    axes.set(xscale="log", yscale="log", title=title, xlabel=x_label, ylabel=y_label)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
