"""Texts of messages inside a text of our own, such that they cannot pose as part of it.

Several lines are quoted with `> `; everything else is put into one line.
"""

from langgraph_compression.policy.visible_text import visible, whole_character, without_base64

_SPARED = 40
"""To leave out fewer characters than this saves nothing: the note is as long."""


def quoted(text: str, chars: int, *, omitted: str) -> str:
    r"""The text as quoted lines, head and tail if it is longer than `chars`.

    Args:
        text: Any text.
        chars: Characters of the text that are shown, about.
        omitted: Says how many are not, with `{n}` for the number.

    >>> quoted("# Title\nand text", 100, omitted="{n} left out")
    '> # Title\n> and text'
    """
    head, tail = text, ""
    if chars < 2 * _SPARED and len(text) > chars:
        head = cut(text, chars)
    elif len(text) > chars + _SPARED:
        head = text[: whole_character(text, chars * 2 // 3)]
        tail = text[whole_character(text, len(text) - chars // 3) :]
    lines = [f"> {line}" for line in _shown(head) if line]
    if tail:
        n = f"{len(text) - len(head) - len(tail):,}"
        lines.append(f"[… {omitted.format(n=n)} …]")
        lines += [f"> {line}" for line in _shown(tail) if line]
    return "\n".join(lines)


def one_line(text: str, chars: int) -> str:
    r"""The text in one line, cut at the end.

    >>> one_line("a\n\n## b c", 6)
    'a ## …'
    """
    line = " ".join(" ".join(_shown(text[: 4 * chars + 200])).split())
    return cut(line, chars)


def ends(text: str, chars: int) -> str:
    r"""Beginning and end of the text in one line; of JSON the beginning.

    >>> ends("$ pytest\n" + 50 * "passed\n" + "1 failed in 2 s", 40)
    '$ pytest passed passed… 1 failed in 2 s'
    """
    if len(text) <= chars or text.lstrip()[:1] in ("{", "["):
        return one_line(text, chars)
    size = chars * 2 // 5
    tail = text[whole_character(text, len(text) - size) :]
    return f"{one_line(text, chars - size - 1)} {one_line(tail, size)}"


def cut(line: str, chars: int) -> str:
    """The beginning of a line, with an ellipsis if something is missing."""
    if len(line) <= chars:
        return line
    return line[: whole_character(line, max(0, chars - 1))] + "…"


def _shown(text: str) -> list[str]:
    return [line.rstrip() for line in visible(without_base64(text)).splitlines()]
