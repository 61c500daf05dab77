"""The course of the pressure as a picture: SVG, without a plotting library."""

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any
from xml.sax.saxutils import escape

from langgraph_compression.cli.text import Row, rows_of

WIDTH, HEIGHT = 960, 440
LEFT, RIGHT, TOP, BOTTOM = 84, 24, 92, 64
POINTS = 400
"""More turns than that share points."""

STYLE = """
  svg { color-scheme: light dark; }
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; } .soft { fill: #59636e; }
  .ground { fill: #ffffff; } .grid { stroke: #d1d9e0; stroke-width: 1; }
  .axis { stroke: #818b98; stroke-width: 1; }
  .before { fill: none; stroke: #818b98; stroke-width: 1.5; }
  .after { fill: none; stroke: #0969da; stroke-width: 2; }
  .threshold { stroke: #cf222e; stroke-width: 1.5; stroke-dasharray: 6 4; }
  .compacted { fill: #1a7f37; } .summarized { fill: #8250df; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .soft { fill: #9198a1; }
    .ground { fill: #0d1117; } .grid { stroke: #3d444d; } .axis { stroke: #656c76; }
    .before { stroke: #9198a1; } .after { stroke: #4493f8; } .threshold { stroke: #f85149; }
    .compacted { fill: #3fb950; } .summarized { fill: #ab7df8; }
  }
"""


def draw(report: Mapping[str, Any]) -> str:
    """An SVG: tokens before compression and as sent, turn by turn, with what was done.

    Args:
        report: The report for machines.
    """
    threshold: int = report["tokens"]["threshold"]
    rows = rows_of(report["course"], POINTS)
    highest = max(threshold, *(row.before for row in rows))
    step = _nice(highest / 4)
    top = step * (1 + highest // step)

    def x(place: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * place / max(1, len(rows) - 1)

    def y(tokens: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - tokens / top)

    lines = [
        f'<polyline class="{kind}" points="{points}"/>'
        for kind, points in (
            ("before", " ".join(f"{x(n):.1f},{y(row.before):.1f}" for n, row in enumerate(rows))),
            ("after", " ".join(f"{x(n):.1f},{y(row.after):.1f}" for n, row in enumerate(rows))),
        )
    ]
    marks = []
    for place, row in enumerate(rows):
        if row.compacted:
            marks.append(_dot(x(place), y(row.after), _told(row)))
        if row.summarized:
            marks.append(_diamond(x(place), y(row.after), _told(row)))
    name = "".join(
        char if char.isprintable() else "?" for char in report["transcript"]["file"].split("/")[-1]
    )
    transcript, requests = report["transcript"], report["requests"]
    told = (
        f"{transcript['messages']:,} messages, {transcript['turns']:,} turns, "
        f"{requests['total']:,} requests: {requests['compacted']:,} compacted, "
        f"{requests['summarized']:,} summarized. "
        f"Last request: {report['tokens']['before']['total']:,} tokens "
        f"uncompressed, {report['tokens']['after']['total']:,} sent."
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-labelledby="title told">',
            f"<style>{STYLE}</style>",
            f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
            f'<text id="title" class="title" x="{LEFT}" y="28">'
            f"Context pressure of {escape(name)}</text>",
            f'<text id="told" class="soft" x="{LEFT}" y="49">{told}</text>',
            *_legend(threshold),
            *_tokens_axis(step, top, y),
            *_turns_axis(rows, x, y(0)),
            f'<line class="threshold" x1="{LEFT}" x2="{WIDTH - RIGHT}" '
            f'y1="{y(threshold):.1f}" y2="{y(threshold):.1f}"/>',
            *lines,
            *marks,
            "</svg>",
            "",
        ]
    )


def _legend(threshold: int) -> list[str]:
    keys = (
        ("before", "before compression"),
        ("after", "as sent"),
        ("threshold", f"threshold {threshold:,}"),
    )
    found, at = [], LEFT
    for kind, name in keys:
        found.append(f'<line class="{kind}" x1="{at}" x2="{at + 24}" y1="70" y2="70"/>')
        found.append(f'<text x="{at + 30}" y="74">{name}</text>')
        at += 54 + 7 * len(name)
    found += [_dot(at + 6, 70, ""), f'<text x="{at + 16}" y="74">compacted</text>']
    found += [_diamond(at + 110, 70, ""), f'<text x="{at + 122}" y="74">summarized</text>']
    return found


def _tokens_axis(step: int, top: int, y: Any) -> list[str]:
    found = [
        f'<text class="soft" transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2:.0f}) '
        'rotate(-90)" text-anchor="middle">tokens (estimated)</text>'
    ]
    for tokens in range(0, top + 1, step):
        kind = "grid" if tokens else "axis"
        found.append(
            f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" '
            f'y1="{y(tokens):.1f}" y2="{y(tokens):.1f}"/>'
        )
        found.append(
            f'<text class="soft" x="{LEFT - 8}" y="{y(tokens) + 4:.1f}" '
            f'text-anchor="end">{tokens:,}</text>'
        )
    return found


def _turns_axis(rows: Sequence[Row], x: Any, ground: float) -> list[str]:
    found = [
        f'<text class="soft" x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 16}" '
        'text-anchor="middle">turn (message of the user)</text>'
    ]
    count = min(9, len(rows))
    places = {round(at * (len(rows) - 1) / max(1, count - 1)) for at in range(count)}
    for place in sorted(places):
        found.append(
            f'<line class="axis" x1="{x(place):.1f}" x2="{x(place):.1f}" '
            f'y1="{ground:.1f}" y2="{ground + 5:.1f}"/>'
        )
        found.append(
            f'<text class="soft" x="{x(place):.1f}" y="{ground + 20:.1f}" '
            f'text-anchor="middle">{rows[place].last}</text>'
        )
    return found


def _told(row: Row) -> str:
    turns = f"turn {row.last}" if row.first == row.last else f"turns {row.first} to {row.last}"
    return (
        f"{turns}: {row.before:,} tokens, sent {row.after:,}; {row.compacted} requests compacted, "
        f"{row.summarized} summarized"
    )


def _dot(x: float, y: float, told: str) -> str:
    return f'<circle class="compacted" cx="{x:.1f}" cy="{y:.1f}" r="3">{_tip(told)}</circle>'


def _diamond(x: float, y: float, told: str) -> str:
    points = f"{x:.1f},{y - 7:.1f} {x + 6:.1f},{y:.1f} {x:.1f},{y + 7:.1f} {x - 6:.1f},{y:.1f}"
    return f'<polygon class="summarized" points="{points}">{_tip(told)}</polygon>'


def _tip(told: str) -> str:
    return f"<title>{told}</title>" if told else ""


def _nice(rough: float) -> int:
    """The next of 1, 2, 5, 10, 20, 50 … that is not smaller.

    >>> _nice(2400), _nice(12)
    (5000, 20)
    """
    power = 10 ** floor(log10(max(1, rough)))
    return int(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough))
