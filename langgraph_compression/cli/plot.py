"""The course of the pressure as a picture: SVG, drawn without a plotting library."""

from collections.abc import Sequence

from langgraph_compression.cli.replay import Step

WIDTH, HEIGHT = 960, 420
LEFT, RIGHT, TOP, BOTTOM = 80, 20, 56, 56

STYLE = """
  :root { color-scheme: light dark; }
  .ground { fill: #ffffff; } text { fill: #222222; font: 13px sans-serif; }
  .before { fill: none; stroke: #b0b0b0; stroke-width: 1.5; }
  .after { fill: none; stroke: #1f6feb; stroke-width: 2; }
  .threshold { stroke: #d1242f; stroke-dasharray: 6 4; }
  .axis { stroke: #888888; } .summarized { fill: #8250df; } .compacted { fill: #1a7f37; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; } text { fill: #e6edf3; } .before { stroke: #6e7681; }
    .after { stroke: #58a6ff; } .summarized { fill: #bc8cff; } .compacted { fill: #3fb950; }
  }
"""


def draw(steps: Sequence[Step]) -> str:
    """An SVG of tokens before and after compression, request by request.

    Args:
        steps: At least one step.
    """
    threshold: int = steps[0].before["threshold"]
    highest: float = max(threshold, *(step.before["total"] for step in steps)) * 1.05

    def x(number: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * number / max(1, len(steps) - 1)

    def y(tokens: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - tokens / highest)

    def line(kind: str, totals: Sequence[int]) -> str:
        points = " ".join(f"{x(n):.1f},{y(t):.1f}" for n, t in enumerate(totals))
        return f'<polyline class="{kind}" points="{points}"/>'

    marks = [
        f'<circle class="{action}" cx="{x(n):.1f}" cy="{y(step.after["total"]):.1f}" r="{radius}"/>'
        for action, radius in (("compacted", 2), ("summarized", 4))
        for n, step in enumerate(steps)
        if any(done["action"] == action for done in step.actions)
    ]
    ticks = [
        f'<text x="{LEFT - 8}" y="{y(share * highest) + 4:.1f}" text-anchor="end">'
        f"{share * highest / 1024:,.1f} K</text>"
        for share in (0, 0.25, 0.5, 0.75, 1)
    ]
    legend = (
        ("before", "before compression", 0),
        ("after", "as sent", 180),
        ("threshold", "threshold", 280),
    )
    keys = [
        f'<line class="{kind}" x1="{LEFT + at}" x2="{LEFT + at + 24}" y1="42" y2="42"/>'
        f'<text x="{LEFT + at + 30}" y="46">{name}</text>'
        for kind, name, at in legend
    ]
    dots = [
        f'<circle class="{action}" cx="{LEFT + at}" cy="42" r="4"/>'
        f'<text x="{LEFT + at + 10}" y="46">{action}</text>'
        for action, at in (("compacted", 400), ("summarized", 500))
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            'aria-label="Context pressure over the requests of a conversation">',
            f"<style>{STYLE}</style>",
            f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
            f'<text x="{LEFT}" y="24" font-weight="bold">Context pressure, {len(steps)} requests, '
            f"{steps[-1].turn} turns (estimated tokens)</text>",
            *keys,
            *dots,
            *ticks,
            f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" '
            f'y1="{y(0):.1f}" y2="{y(0):.1f}"/>',
            f'<line class="axis" x1="{LEFT}" x2="{LEFT}" y1="{TOP}" y2="{y(0):.1f}"/>',
            f'<line class="threshold" x1="{LEFT}" x2="{WIDTH - RIGHT}" '
            f'y1="{y(threshold):.1f}" y2="{y(threshold):.1f}"/>',
            line("before", [step.before["total"] for step in steps]),
            line("after", [step.after["total"] for step in steps]),
            *marks,
            f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 16}" text-anchor="middle">'
            "request of the model</text>",
            "</svg>",
            "",
        ]
    )
