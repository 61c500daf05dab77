"""Of which parts the emoji of a text are made.

What is seen as one emoji is often several characters: a flag is two letters, a skin tone or a
profession is added behind. Which of them share a token differs between vocabularies, and so does
how well the faces are known. In UTF-8 the first three bytes tell these parts from one another.
"""

_PARTS: dict[str, tuple[bytes, ...]] = {
    "emoji_flag_letter": (b"\xf0\x9f\x87",),
    "emoji_skin_tone": tuple("🏻🏼🏽🏾🏿".encode()[n : n + 4] for n in range(0, 20, 4)),
    "emoji_face": (b"\xf0\x9f\x98",),
    "emoji_sign": tuple(b"\xf0\x9f" + bytes([third]) for third in (0x95, 0x96, 0x97)),
    "emoji_joiner": ("\u200d".encode(),),
}

EMOJI_PARTS = (*_PARTS, "beyond_emoji")
"""Letters of flags; skin tones; U+1F600 to U+1F63F; U+1F540 to U+1F5FF, mostly signs that nobody
writes; joiners; and what lies beyond U+FFFF but is no emoji, like rare Han characters."""


def emoji_parts(text: str) -> dict[str, int]:
    r"""Number of each part in a text.

    >>> emoji_parts("\U0001f600 \U0001f1e9\U0001f1ea \U00020000")["emoji_flag_letter"]
    2
    """
    data = text.encode("utf-8", "surrogatepass")
    found = {name: sum(map(data.count, parts)) for name, parts in _PARTS.items()}
    found["beyond_emoji"] = sum(data.count(lead) for lead in (b"\xf0", b"\xf1", b"\xf2", b"\xf3"))
    found["beyond_emoji"] -= data.count(b"\xf0\x9f")
    return found
