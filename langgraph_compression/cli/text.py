"""The report for people, from the report for machines."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from langgraph_compression.nodes.models import EXTRACTIVE

COURSE_ROWS = 20
"""Rows of the course; longer conversations have several turns in a row."""
LISTED = 8
"""Rows of every other list; what is left out is in the report file."""
PARTS = ("messages", "system", "tools", "total")


class Row(NamedTuple):
    """One or several turns that follow each other."""

    first: int
    last: int
    before: int
    """Most tokens before compression."""
    after: int
    """Most tokens that were sent."""
    compacted: int
    """Requests."""
    summarized: int


def rows_of(course: Sequence[Mapping[str, Any]], most: int) -> list[Row]:
    """The course by turn, in at most so many rows of the same number of turns."""
    turns = [list(requests) for _, requests in groupby(course, key=lambda one: one["turn"])]
    size = -(-len(turns) // most)
    rows = []
    for at in range(0, len(turns), size):
        requests = [request for turn in turns[at : at + size] for request in turn]
        rows.append(
            Row(
                requests[0]["turn"],
                requests[-1]["turn"],
                max(request["before"] for request in requests),
                max(request["after"] for request in requests),
                sum(request["compacted"] for request in requests),
                sum(request["summarized"] for request in requests),
            )
        )
    return rows


def show(console: Console, report: Mapping[str, Any]) -> None:
    """Print the report."""
    transcript, requests = report["transcript"], report["requests"]
    how = (
        f"replayed as {requests['total']:,} requests" if report["settings"]["replay"] else "at once"
    )
    _say(
        console,
        f"{transcript['file']}: {transcript['messages']:,} messages, "
        f"{transcript['turns']:,} turns, {how}",
    )
    for note in transcript["notes"]:
        _say(console, f"  note: {note}")
    _show_tokens(console, report["tokens"])
    if len(report["course"]) > 1:
        _show_course(console, report)
    _show_compacted(console, report)
    _show_summaries(console, report)
    _show_trouble(console, report)
    if report["answer"] is not None:
        _heading(console, "Answer of the model")
        _say(console, report["answer"][:2000])
    _heading(console, f"Written to {report['out']}")
    _say(console, "  view.json     the last request, in the form of OpenAI's chat completions")
    _say(console, "  report.json   this report, with every request and every file")
    if report["files"]:
        _say(
            console, f"  outputs/      {len(report['files']):,} files that view and summaries name"
        )
    if report["plot"]:
        _say(console, f"The picture of the pressure is {report['plot']}")


def _say(console: Console, text: str, style: str = "") -> None:
    """A line as it is: no markup, no wrapping of paths."""
    printable = text.encode("utf-8", "replace").decode()
    console.print(Text(printable, style), soft_wrap=True)


def _heading(console: Console, text: str) -> None:
    console.print()
    _say(console, text, "bold")


def _show_tokens(console: Console, tokens: Mapping[str, Any]) -> None:
    _heading(console, "Tokens of the next request (estimated)")
    table = Table.grid(padding=(0, 3))
    table.add_column(min_width=12)
    for _ in range(2):
        table.add_column(justify="right")
    table.add_row("  part", "uncompressed", "as sent", style="dim")
    for part in PARTS:
        style = "bold" if part == "total" else ""
        cells = (f"{tokens[when][part]:,}" for when in ("before", "after"))
        table.add_row(f"  {part}", *cells, style=style)
    console.print(table)
    threshold = f"threshold {tokens['threshold']:,}"
    if tokens["within_threshold"]:
        _say(console, f"  below the {threshold}")
    else:
        why = f": {tokens['reason']}" if tokens["reason"] else ""
        _say(console, f"  not below the {threshold}{why}", "yellow")


def _show_course(console: Console, report: Mapping[str, Any]) -> None:
    threshold = report["tokens"]["threshold"]
    rows = rows_of(report["course"], COURSE_ROWS)
    _heading(console, "Pressure over the turns")
    numbers = len(f"{rows[-1].last}")
    largest = max(threshold, *(row.before for row in rows))
    width = max(16, min(48, console.width - 2 * numbers - 40))
    for row in rows:
        turns = f"{row.first:>{numbers}} to {row.last:>{numbers}}"
        if row.first == row.last:
            turns = f"{row.last:>{len(turns)}}"
        line = Text(f"  {turns} {row.before:>9,} {row.after:>9,} ")
        line.append_text(_bar(row, threshold, largest, width))
        line.append(f" ▾{row.compacted}" if row.compacted else "", "green")
        line.append(f" ◆{row.summarized}" if row.summarized else "", "magenta")
        console.print(line, no_wrap=True, overflow="ignore", crop=False)
    _say(
        console,
        "  columns: turns, tokens before compression and as sent (the most of the row)\n"
        f"  █ sent  ░ before compression  │ threshold {threshold:,}\n"
        "  ▾ requests compacted  ◆ requests summarized",
        "dim",
    )


def _bar(row: Row, threshold: int, largest: int, width: int) -> Text:
    def columns(tokens: int) -> int:
        return round(tokens * width / largest)

    sent, before = columns(row.after), columns(row.before)
    cells = ["█"] * sent + ["░"] * max(0, before - sent)
    cells += [" "] * (width + 1 - len(cells))
    cells[min(width, columns(threshold))] = "│"
    bar = Text()
    for cell, run in groupby(cells):
        bar.append("".join(run), {"█": "blue", "░": "bright_black", "│": "red"}.get(cell, ""))
    return bar


def _show_compacted(console: Console, report: Mapping[str, Any]) -> None:
    saved = sorted(report["compacted"], key=lambda one: -one["tokens"])
    if saved:
        count = report["requests"]["compacted"]
        tokens = sum(one["tokens"] for one in saved)
        _heading(
            console,
            f"Compacted: {len(saved):,} results of {tokens:,} tokens shown as previews, "
            f"in {count:,} request{'' if count == 1 else 's'}",
        )
        for one in saved[:LISTED]:
            what = one["tool"] or "message text"
            _say(console, f"  {one['tokens']:>8,}  {what:.40}, message {one['message']}")
            _say(console, f"            {one['path']}", "dim")
        _and_more(console, len(saved))
    if report["clipped_arguments"]:
        _say(console, f"  and the long arguments of {report['clipped_arguments']:,} calls clipped")


def _show_summaries(console: Console, report: Mapping[str, Any]) -> None:
    summaries = report["summaries"]
    if not summaries:
        return
    model = report["settings"]["summary_model"]
    by = "extraction, without a model" if model == EXTRACTIVE else model
    _heading(
        console,
        f"Summarized {len(summaries):,} times, by {by}"
        if len(summaries) > 1
        else f"Summarized once, by {by}",
    )
    for one in summaries[-LISTED:]:
        _say(
            console,
            f"  turn {one['turn']}: messages {one['first']:,} to {one['last']:,}; the summary of "
            f"all up to there has {one['tokens']:,} tokens",
        )
        _say(console, f"            {one['path'] or 'the history could not be written'}", "dim")
    _and_more(console, len(summaries))


def _and_more(console: Console, count: int) -> None:
    if count > LISTED:
        _say(console, f"  … and {count - LISTED:,} more, see report.json")


def _show_trouble(console: Console, report: Mapping[str, Any]) -> None:
    """What failed, and whether the requests were well-formed."""
    requests, recorded = report["requests"], report["transcript"]["malformed"]
    console.print()
    for one in report["failures"][:LISTED]:
        _say(
            console,
            f"failed in request {one['request']}: {one['kind']} ({one['error']})",
            "red",
        )
    _and_more(console, len(report["failures"]))
    for one in requests["malformed"][:LISTED]:
        _say(console, f"malformed request {one['request']}: {one['flaw']}", "red")
    _and_more(console, len(requests["malformed"]))
    if not requests["malformed"]:
        checked = requests["total"]
        _say(console, f"Every request is well-formed ({checked:,} checked).", "green")
    if recorded:
        _say(console, f"The transcript itself is not: {recorded[0]['flaw']}", "yellow")
        if len(recorded) > 1:
            _say(console, f"  … and {len(recorded) - 1:,} more, see report.json", "yellow")
