"""Repeated characters, by how long their tokens are.

The fourth and each further copy of a character is its tail, see `characters`. Rulers of 60
hyphens are one token, 60 digits or ideographs are many: how much a tail adds depends on what is
repeated.
"""

import re

from langgraph_compression.tokens.characters import Characters

_ASCII = {"ruler": "-=_*#.~/+%", "long": ":!?>XxaAo", "middle": ";<,@^fF"}
_OTHERS = {"foreign_ruler": re.compile("─{4,}|—{4,}|…{4,}"), "bar": re.compile("━{4,}|═{4,}|█{4,}")}

TAILS = tuple(f"tail_{kind}" for kind in (*_ASCII, "short", *_OTHERS, "symbol"))
"""Characters to a token: up to 64; 8 to 16; 2 to 16; 2 or 4. Then, not ASCII: 8 to 16; about 4;
and 1 or 2."""

_NOT = {
    f"tail_{kind}": bytes(set(range(256)) - set(marks.encode())) for kind, marks in _ASCII.items()
}
"""What `bytes.translate` deletes to leave one kind."""


def tails(text: str, characters: Characters) -> dict[str, int]:
    """Number of characters in tails, by kind; nothing if there are none.

    >>> from langgraph_compression.tokens.characters import classify
    >>> {name: n for name, n in tails("-----", classify("-----")).items() if n}
    {'tail_ruler': 2}
    """
    found: dict[str, int] = {}
    if characters.tails:
        for name, others in _NOT.items():
            found[name] = len(characters.tails.translate(None, others))
        found["tail_short"] = len(characters.tails) - sum(found.values())
    if characters.foreign_tails:
        left = characters.foreign_tails
        for kind, runs in _OTHERS.items():
            found[f"tail_{kind}"] = sum(len(run) - 3 for run in runs.findall(text))
            left -= found[f"tail_{kind}"]
        found["tail_symbol"] = left
    return found
