"""How common the Han characters of a text are.

National character sets list the characters of everyday use first, and Python's codecs know
them: the first level of GB 2312 holds the 3,755 most frequent simplified characters, that of
Big 5 the 5,401 most frequent traditional ones. Common characters have tokens of their own, rare
ones take two or three.
"""

HAN_TIERS = ("han_simplified", "han_traditional", "han_second_level", "han_unlisted")
"""Common in GB 2312; else common in Big 5; else listed by one of them; else none."""

_ASCII = bytes(range(128))
_FIRST, _SECOND = 1, 2


def _levels(first: range, second: range) -> bytes:
    return bytes(
        _FIRST if lead in first else _SECOND if lead in second else 0 for lead in range(256)
    )


_GB = _levels(range(0xB0, 0xD8), range(0xD8, 0xF8))
_BIG5 = _levels(range(0xA4, 0xC7), range(0xC9, 0xFA))


def han_tiers(text: str) -> dict[str, int]:
    r"""Number of Han characters in each tier.

    >>> han_tiers("\u4e2d\u6587 and \u9ede")
    {'han_simplified': 2, 'han_traditional': 1, 'han_second_level': 0, 'han_unlisted': 0}
    """
    foreign = text.encode("utf-8", "replace").translate(None, _ASCII).decode("utf-8")
    size = len(foreign)
    han = _is_han(foreign)
    gb = _lead_levels(foreign, "gb2312", _GB) & han
    big5 = _lead_levels(foreign, "big5", _BIG5) & han
    tiers = (gb | big5 << 2).to_bytes(size, "little")
    counted = {code: tiers.count(code) for code in range(1, 16)}
    simplified = sum(n for code, n in counted.items() if code & _FIRST)
    traditional = sum(n for code, n in counted.items() if not code & _FIRST and code & 4)
    listed = sum(counted.values())
    return {
        "han_simplified": simplified,
        "han_traditional": traditional,
        "han_second_level": listed - simplified - traditional,
        "han_unlisted": han.bit_count() // 2 - listed,
    }


def _is_han(foreign: str) -> int:
    """3 for each Han character, 0 for others, as one integer of a byte per character."""
    upper = foreign.encode("utf-32-le")[1::4]
    beyond = foreign.encode("utf-32-le")[2::4]
    is_han = bytes(3 if 0x4E <= byte <= 0x9F else 0 for byte in range(256))
    first_plane = bytes([3]) + bytes(255)
    return int.from_bytes(upper.translate(is_han), "little") & int.from_bytes(
        beyond.translate(first_plane), "little"
    )


def _lead_levels(foreign: str, encoding: str, levels: bytes) -> int:
    """The level of each character in a set of two-byte codes, as one integer."""
    # Unknown characters become one question mark, which no two-byte code contains.
    pairs = foreign.encode(encoding, "replace").replace(b"?", b"??")
    return int.from_bytes(pairs[::2].translate(levels), "little")
