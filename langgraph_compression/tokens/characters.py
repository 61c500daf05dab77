"""What kind of character each position of a text holds, one byte per position.

A text is looked at as UTF-16 code units: ASCII and most scripts take one unit, emoji and
other characters beyond U+FFFF take two. Whole texts are worked on at once: `bytes.translate`
looks a table up for every byte, and a `bytes` taken as one large integer can be masked,
shifted and compared with its neighbours at memory speed. That is why a megabyte takes
milliseconds here although there is no loop over characters.
"""

from string import ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple

from langgraph_compression.tokens.scripts import SCRIPT_KINDS, SCRIPT_OF_HALF_BLOCK

KINDS = (
    "space",
    "newline",
    "tab",
    "digit",
    "upper",
    "lower",
    "point",
    "wrap",
    "operator",
    "underscore",
    "cjk",
    "hangul",
    "alphabet",
    "symbol",
    "emoji",
    "run",
)
"""Kinds of characters, 16 so that a pair of kinds fits one byte.

point is `.,;:!?`; wrap is quotes and brackets; operator is the rest of the ASCII punctuation;
lower includes accented Latin letters of both cases; cjk is Han, kana and their punctuation;
alphabet is every other script; symbol includes control characters; run is the fourth and each
further copy of a character.
"""

_CODE = {kind: code for code, kind in enumerate(KINDS)}
_RUN = _CODE["run"]


def _ascii_kinds() -> bytes:
    table = bytearray([_CODE["symbol"]]) * 256
    for kind, characters in (
        ("space", " "),
        ("newline", "\n\r\v\f"),
        ("tab", "\t"),
        ("digit", digits),
        ("upper", ascii_uppercase),
        ("lower", ascii_lowercase),
        ("point", ".,;:!?"),
        ("wrap", "\"'`()[]{}<>"),
        ("operator", "/\\-=+*#@$%&|~^"),
        ("underscore", "_"),
    ):
        for character in characters:
            table[ord(character)] = _CODE[kind]
    return bytes(table)


_KIND_OF_ASCII = _ascii_kinds()
_KIND_OF_SCRIPT = bytes(
    0 if script == "ascii" else _CODE[kind] for script, kind in SCRIPT_KINDS.items()
).ljust(256, b"\0")
_IS_SET = bytes([0] + [255] * 255)
_UPPER_HALF = bytes(128) + bytes([255] * 128)
_IS_ZERO = bytes([1]) + bytes(255)
# White space and digits are counted by the length of their runs instead, Han, kana and hangul
# one by one, because few repetitions of those have tokens of their own.
_RUN_KINDS = {"upper", "lower", "point", "wrap", "operator", "underscore", "symbol", "alphabet"}
_CAN_RUN = bytes(kind in _RUN_KINDS for kind in KINDS).ljust(256, b"\0")


class Characters(NamedTuple):
    """A text as parallel bytes, one per UTF-16 code unit.

    Attributes:
        ascii: The ASCII characters; 0 in place of others and of those in `tails`.
        kinds: The index in `KINDS`.
        scripts: The index in `scripts.SCRIPT_KINDS` (0 = ASCII, or in a tail), or None for an
            ASCII text.
        tails: The fourth and further ASCII characters of runs, without the rest.
        foreign_tails: How many such characters are not ASCII.
    """

    ascii: bytes
    kinds: bytes
    scripts: bytes | None
    tails: bytes
    foreign_tails: int


def classify(text: str) -> Characters:
    r"""Looks up kind and script of every character.

    >>> [KINDS[kind] for kind in classify("aB 1\u4e2d").kinds]
    ['lower', 'upper', 'space', 'digit', 'cjk']
    >>> [KINDS[kind] for kind in classify("-----").kinds]
    ['operator', 'operator', 'operator', 'run', 'run']
    """
    if text.isascii():
        ascii_ = text.encode("ascii")
        kinds = ascii_.translate(_KIND_OF_ASCII)
        return _mark_runs(Characters(ascii_, kinds, None, b"", 0), _int(ascii_))
    units = text.encode("utf-16-le", "surrogatepass")
    low, high = units[::2], units[1::2]
    size = len(low)
    upper = _int(low.translate(_UPPER_HALF))
    scripts = _bytes(
        _int(high.translate(SCRIPT_OF_HALF_BLOCK[0])) & ~upper
        | _int(high.translate(SCRIPT_OF_HALF_BLOCK[1])) & upper,
        size,
    )
    foreign = _int(scripts.translate(_IS_SET))
    kinds = _bytes(
        _int(low.translate(_KIND_OF_ASCII)) & ~foreign | _int(scripts.translate(_KIND_OF_SCRIPT)),
        size,
    )
    ascii_ = _bytes(_int(low) & ~foreign, size)
    return _mark_runs(Characters(ascii_, kinds, scripts, b"", 0), _int(low), _int(high))


def _mark_runs(characters: Characters, *unit_bytes: int) -> Characters:
    """Turns the fourth and further characters of a run into the kind `run`.

    Two units are the same when all their bytes are, so a text that is not ASCII has two.
    """
    size = len(characters.kinds)
    differs = 0
    for value in unit_bytes:
        differs |= value ^ (value >> 8)
    # Byte i says whether unit i is the same as unit i + 1; the last has no neighbour.
    same = _bytes(differs, size).translate(_IS_ZERO)[:-1]
    if b"\1\1\1" not in same:
        return characters
    equal = _int(same) & _int(characters.kinds.translate(_CAN_RUN))
    tail = (equal << 8) & (equal << 16) & (equal << 24)
    if not tail:
        return characters
    every, whole = _int(characters.ascii), tail * 255
    tails = _bytes(every & whole, size).translate(None, b"\0")
    scripts = characters.scripts
    if scripts is not None:
        scripts = _bytes(_int(scripts) & ~whole, size)
    return characters._replace(
        ascii=_bytes(every & ~whole, size),
        kinds=_bytes(_int(characters.kinds) | tail * _RUN, size),
        scripts=scripts,
        tails=tails,
        foreign_tails=_bytes(tail, size).count(1) - len(tails),
    )


def _int(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _bytes(value: int, size: int) -> bytes:
    return value.to_bytes(size, "little")


def neighbours(kinds: bytes) -> bytes:
    """For each character, the kind before it x 16 + its own kind.

    The text counts as preceded and followed by a space, so there is one byte more than
    characters.
    """
    code = _int(kinds)
    return _bytes(code << 12 | code, len(kinds) + 2)[:-1]
