"""A digest of a range of messages without a model: extracts, counted and bounded.

It stands in for a summary when no model writes one. Everything in it is taken from the
messages; what is left out is said. Lines of messages are quoted with `> `, and whatever else
comes from a message stands inside a line, so that no text can pose as a heading.
"""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage

from langgraph_compression.policy.digest_facts import Facts, gather
from langgraph_compression.policy.digest_sections import LEAST_CHARS, Section, sections_of
from langgraph_compression.policy.digest_words import words_for
from langgraph_compression.policy.visible_text import visible
from langgraph_compression.state.counting import Count

_SHARES = {"requests": 0.4, "earlier": 0.2, "last": 0.2, "open": 0.1, "errors": 0.12}
_SHARES |= {"decisions": 0.12, "files": 0.1, "tools": 0.14}
"""Of the limit, by section, in the order in which sections are filled; what one does not need
goes to the others afterwards. They sum up to more than 1 because few digests have all."""
_SMALL_SHARES = {"requests": 0.55, "last": 0.45}
"""In a digest too small for all sections; the others get what is left."""
_ORDER = ("earlier", "requests", "decisions", "files", "tools", "errors", "open", "last")
_SMALL = 200
"""Tokens below which a digest is small: it has no introduction and few sections."""


def digest(messages: Sequence[AnyMessage], limit: int, count: Count) -> str:
    r"""An extractive digest of the messages, in the language of their user.

    Requests of the user with the answers they got, decisions, files touched, tools with outcomes,
    errors, what is open, the last state. The newest and the first requests are preferred.
    Reasoning is left out, media are named. The same messages give the same digest.

    Args:
        messages: Any messages, with any content.
        limit: Tokens by `count` that the digest has at most; below about 30 little is left.
        count: The counter; called some hundred times at most, on short texts.

    >>> from langchain_core.messages import AIMessage, HumanMessage
    >>> talk = [HumanMessage("Rename a.py to b.py"), AIMessage("Done. Shall I fix the imports?")]
    >>> print(digest(talk, 100, lambda text: len(text) // 4))
    ## Requests of the user
    [1]
    > Rename a.py to b.py
    ## Open at the end of this part
    - The assistant asked: Shall I fix the imports?
    ## Last state: the assistant's last text
    > Done. Shall I fix the imports?
    """
    if not messages or limit <= 0:
        return ""
    facts = gather(messages)
    words = words_for(facts.said())
    per_token = _characters_per_token(facts, count)
    sections = sections_of(facts, words, int(limit * per_token))
    head = ""
    if limit >= _SMALL:
        head = words.head.format(
            messages=facts.messages, requests=len(facts.requests), calls=len(facts.calls)
        )
    order = _fill(sections, limit - count(head) - min(2 * len(sections), limit // 16), count)
    while True:
        parts = [sections[key].text() for key in _ORDER if key in sections and sections[key].chosen]
        text = "\n".join([head, *parts] if head else parts)
        if count(text) <= limit:
            return text
        if order:
            key, position = order.pop()
            del sections[key].chosen[position]
        elif head:
            head = ""
        else:
            return ""


def _fill(sections: dict[str, Section], room: int, count: Count) -> list[tuple[str, int]]:
    """Choose entries: first within each section's share, then with what is left.

    Returns:
        What was chosen, the most wanted first.
    """
    order: list[tuple[str, int]] = []
    left = room
    shares = _SHARES if room >= _SMALL else _SMALL_SHARES
    rounds = [*shares.items(), *((key, 1.0) for key in _SHARES)]
    for key, part in rounds:
        if key in sections:
            share = min(left, int(room * part))
            left -= _choose(key, sections[key], share, count, order)
    return order


def _choose(
    key: str, section: Section, share: int, count: Count, order: list[tuple[str, int]]
) -> int:
    """Take entries of a section within its share; the tokens they need."""
    used = 0 if section.chosen else count(f"## {section.title}") + 1
    start = len(order)
    while section.entries:
        entry = section.entries[0]
        chars = entry.chars
        text = entry.render(chars)
        cost = count(text) + 1
        while used + cost > share and entry.vital and chars > LEAST_CHARS:
            room = max(1, share - used)
            chars = max(LEAST_CHARS, min(chars * 2 // 3, int(chars * room / cost)))
            text = entry.render(chars)
            cost = count(text) + 1
        if used + cost > share:
            break
        section.entries.pop(0)
        section.chosen[entry.position] = text
        order.append((key, entry.position))
        used += cost
    return used if len(order) > start else 0


def _characters_per_token(facts: Facts, count: Count) -> float:
    texts = [request.text for request in facts.requests[-4:]] + [facts.last_answer]
    sample = visible("\n".join(text[:1000] for text in texts))[:4000] or "sample text"
    return min(16.0, max(0.25, len(sample) / max(1, count(sample))))
