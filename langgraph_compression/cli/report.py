"""What happened to a transcript, as text for people and as JSON for machines."""

from typing import Any

from rich.console import Console
from rich.table import Column, Table

from langgraph_compression.cli.replay import Outcome, Step

ROWS = 24
"""Rows of the course over the turns; of longer ones the fullest turn of each share is shown."""

BAR = 22
"""Greatest width of a bar that stands for the threshold."""

REST = 55
"""Columns that the course needs beside the bars."""


def as_json(outcome: Outcome, paths: list[str], out: str) -> dict[str, Any]:
    """The whole outcome in plain values; tokens are estimates."""
    last = outcome.steps[-1]
    event = outcome.values.get("_summarization_event") or {}
    return {
        "requests": len(outcome.steps),
        "turns": last.turn,
        "messages": outcome.messages,
        "before": last.before,
        "after": last.after,
        "compacted": count(outcome, "compacted"),
        "summarized": count(outcome, "summarized"),
        "malformed": [
            {"request": number, "flaws": step.flaws}
            for number, step in enumerate(outcome.steps, 1)
            if step.flaws
        ],
        "failures": [failure for step in outcome.steps for failure in step.failures],
        "cutoff_index": event.get("cutoff_index"),
        "history": event.get("file_path"),
        "files": paths,
        "out": out,
        "course": [
            {
                "turn": step.turn,
                "before": step.before["total"],
                "after": step.after["total"],
                "actions": [done["action"] for done in step.actions],
            }
            for step in outcome.steps
        ],
    }


def count(outcome: Outcome, action: str) -> int:
    """Requests in which an action was done."""
    return sum(any(done["action"] == action for done in step.actions) for step in outcome.steps)


def counted(count: int, thing: str) -> str:
    """A count in words.

    >>> counted(1, "request"), counted(1200, "request")
    ('1 request', '1,200 requests')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def show(console: Console, outcome: Outcome, paths: list[str], out: str) -> None:
    """Print the report."""
    last = outcome.steps[-1]
    parts = Table("last request", "before", "after", title="Tokens (estimated)")
    for name in ("messages", "system", "tools", "total"):
        parts.add_row(name, f"{last.before[name]:,}", f"{last.after[name]:,}")
    parts.add_row("threshold", f"{last.before['threshold']:,}", "")
    for column in parts.columns[1:]:
        column.justify = "right"
    console.print(parts)
    if len(outcome.steps) > 1:
        _show_course(console, outcome.steps)
    requests = len(outcome.steps)
    console.print(
        f"{counted(outcome.messages, 'message')}, {counted(last.turn, 'turn')}, "
        f"{counted(requests, 'request')}: "
        f"{count(outcome, 'compacted')} compacted, {count(outcome, 'summarized')} summarized."
    )
    _show_files(console, paths, out)
    event = outcome.values.get("_summarization_event") or {}
    if event:
        console.print(
            f"The summary stands for the first {event['cutoff_index']:,} messages; the newest of "
            f"them are in {event['file_path']}."
        )
    for step in outcome.steps:
        for failure in step.failures:
            console.print(f"[red]failed:[/red] {failure['kind']} ({failure['error']})")
    malformed = [(number, step.flaws) for number, step in enumerate(outcome.steps, 1) if step.flaws]
    if malformed:
        for number, flaws in malformed[:10]:
            console.print(f"[red]request {number} is malformed:[/red] {'; '.join(flaws[:3])}")
    else:
        console.print(f"Every request is well-formed ({requests:,} checked).")


def _show_course(console: Console, steps: list[Step]) -> None:
    bar = max(4, min(BAR, (console.width - REST) // 2))
    table = Table(
        *(Column(name, justify="right", no_wrap=True) for name in ("turn", "before", "after")),
        Column(no_wrap=True),
        "done",
        title="Pressure over the turns",
    )
    for step in _chosen(steps):
        threshold = step.before["threshold"]
        done = ", ".join(dict.fromkeys(done["action"] for done in step.actions))
        table.add_row(
            str(step.turn),
            f"{step.before['total']:,}",
            f"{step.after['total']:,}",
            _bar(step.before["total"], step.after["total"], threshold, bar),
            done,
        )
    console.print(table)
    console.print(f"█ sent, ░ left out, │ threshold ({steps[0].before['threshold']:,} tokens)")


def _chosen(steps: list[Step]) -> list[Step]:
    """At most `ROWS` steps: of each share the one with the most tokens before compression."""
    size = -(-len(steps) // ROWS)
    shares = [steps[at : at + size] for at in range(0, len(steps), size)]
    return [max(share, key=lambda step: step.before["total"]) for share in shares]


def _bar(before: int, after: int, threshold: int, full: int) -> str:
    def width(tokens: int) -> int:
        return min(2 * full, round(tokens * full / threshold))

    bar = "█" * width(after) + "░" * max(0, width(before) - width(after))
    return bar.ljust(full)[:full] + "│" + bar[full:]


def _show_files(console: Console, paths: list[str], out: str) -> None:
    results = [path for path in paths if path.startswith("outputs/large_tool_results/")]
    history = [path for path in paths if path.startswith("outputs/conversation_history/")]
    console.print(f"Written to [bold]{out}[/bold]:", highlight=False)
    console.print("  view.json, the last request as the model got it", highlight=False)
    for name, found in (("saved tool result", results), ("history file", history)):
        if found:
            shown = "\n".join(f"    {path}" for path in found[:5])
            more = f"\n    … and {len(found) - 5} more" if len(found) > 5 else ""
            console.print(f"  {counted(len(found), name)}\n{shown}{more}", highlight=False)
