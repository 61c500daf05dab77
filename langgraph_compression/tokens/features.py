"""What is counted of a text before any profile looks at it: named features, in one pass.

Tokenizers cut a text where the kind of character changes and then glue together what is
frequent. So the features are: the letters and punctuation marks themselves, the places where
one kind of character meets another, the lengths of runs of one kind, and the scripts. Each
feature is a number of occurrences; a profile knows how many tokens one occurrence is worth.
"""

from string import ascii_letters, ascii_lowercase, ascii_uppercase, punctuation

from langgraph_compression.tokens.characters import KINDS, Characters, classify, neighbours
from langgraph_compression.tokens.emoji import EMOJI_PARTS, emoji_parts
from langgraph_compression.tokens.han import HAN_TIERS, han_tiers
from langgraph_compression.tokens.scripts import LANGUAGES, SCRIPT_KINDS, UNCOUNTED
from langgraph_compression.tokens.tails import TAILS, tails

_LETTER = "lower upper"
_MARK = "point wrap operator underscore"
_WHITE = "space newline tab"

_MEETINGS: dict[str, tuple[tuple[str, str], ...]] = {
    # Latin words: a token mostly begins where a word does
    "word_after_space": (("space", "lower"),),
    "capital_after_space": (("space", "upper"),),
    "word_at_line_start": (("newline tab", _LETTER),),
    "word_after_point": (("point", _LETTER),),
    "word_after_wrap": (("wrap", _LETTER),),
    "word_after_operator": (("operator symbol emoji run", _LETTER),),
    "word_after_underscore": (("underscore", _LETTER),),
    "word_after_digit": (("digit", _LETTER),),
    "word_after_foreign": (("cjk hangul alphabet", _LETTER),),
    "lower_after_lower": (("lower", "lower"),),
    "lower_after_capital": (("upper", "lower"),),
    "capital_after_lower": (("lower", "upper"),),
    "capital_after_capital": (("upper", "upper"),),
    # numbers
    "digit_after_letter": (("lower upper cjk hangul alphabet", "digit"),),
    "digit_after_space": (("space tab", "digit"),),
    "digit_at_line_start": (("newline", "digit"),),
    "digit_after_mark": ((f"{_MARK} symbol", "digit"),),
    "digit_after_digit": (("digit", "digit"),),
    # white space; the space before a word usually belongs to the word
    "space_after_word": (("lower upper digit alphabet hangul", "space"),),
    "space_after_mark": ((f"{_MARK} cjk symbol emoji run", "space"),),
    "space_at_line_start": (("newline", "space"),),
    "newline_after_word": (("lower upper digit alphabet hangul cjk symbol emoji run", "newline"),),
    "newline_after_mark": ((_MARK, "newline"),),
    "newline_after_newline": (("newline", "newline"),),
    "newline_after_blank": (("space tab", "newline"),),
    "space_after_tab": (("tab", "space"),),
    "first_tab": ((f"lower upper digit alphabet symbol space newline {_MARK}", "tab"),),
    "tab_after_tab": (("tab", "tab"),),
    # punctuation, which merges with its neighbours
    "mark_after_space": (("space", _MARK),),
    "mark_at_line_start": (("newline tab", _MARK),),
    "mark_after_word": (("lower upper digit", _MARK),),
    "mark_after_foreign": (("cjk hangul alphabet symbol emoji", _MARK),),
    "mark_after_mark": (
        ("point wrap underscore", _MARK),
        ("operator", "point wrap underscore"),
    ),
    "operator_after_operator": (("operator", "operator"),),
    # other scripts
    "foreign_word_start": ((f"{_WHITE} digit symbol {_MARK}", "alphabet"),),
    "space_after_foreign_word": (("alphabet", "space"),),
    "hangul_word_start": ((f"{_WHITE} symbol {_MARK}", "hangul"),),
    "cjk_start": ((f"{_WHITE} lower upper digit symbol {_MARK}", "cjk"),),
    "symbol_after_symbol": (("symbol", "symbol"),),
}
"""Feature → pairs of kinds that meet; a pair counts for the last feature that names it."""

_RUNS: dict[str, tuple[str, str, int]] = {
    # feature: kind of run, how many neighbours of that kind make one occurrence
    **{f"word_steps_{n}": ("word", "w", n) for n in (2, 3, 4, 6, 8, 11)},
    **{f"foreign_word_steps_{n}": ("foreign word", "f", n) for n in (3, 5, 8)},
    "digits_3": ("number", "d", 3),
    **{f"spaces_{n}": ("blank", "s", n) for n in (1, 2, 4, 8, 16, 128)},
    **{f"newlines_{n}": ("empty lines", "n", n) for n in (2, 8)},
    "tabs_4": ("tabs", "t", 4),
    "marks_2": ("punctuation", "m", 2),
}
"""Runs, counted without overlap: `digits_3` is how often three more digits follow a first one.
A word ends where a capital follows a small letter."""

MAY_LOWER: dict[str, float] = {
    **{name: -0.5 for name in _RUNS if name.startswith(("word_steps", "marks"))},
    **{name: -1.5 for name in _RUNS if name.startswith(("spaces", "newlines", "tabs"))},
    **{"table_tag": -1.5, "emoji_face": -1.2, "emoji_flag_letter": -0.5, "emoji_skin_tone": -0.5},
}
"""Features whose rate may be negative, and the least it may be: what glues together things whose
single rates say more. Every other feature adds tokens."""

_RUN_LETTERS: tuple[tuple[str, str, str], ...] = (
    ("w", _LETTER, _LETTER),
    ("f", "alphabet", "alphabet"),
    ("d", "digit", "digit"),
    ("s", "space", "space"),
    ("n", "newline", "newline"),
    ("t", "tab", "tab"),
    ("m", _MARK, _MARK),
    ("-", "lower", "upper"),
)

NAMES: tuple[str, ...] = (
    *(f"letter_{letter}" for letter in ascii_lowercase),
    *(f"mark_{mark}" for mark in punctuation),
    "control",
    "carriage_return",
    "table_tag",
    *_MEETINGS,
    *_RUNS,
    *TAILS,
    *(f"script_{name}" for name in SCRIPT_KINDS if name not in UNCOUNTED),
    *LANGUAGES,
    *HAN_TIERS,
    *EMOJI_PARTS,
)
"""Every feature, in the order of the rate tables."""


def _pairs(first: str, second: str) -> list[int]:
    return [
        KINDS.index(before) * 16 + KINDS.index(kind)
        for before in first.split()
        for kind in second.split()
    ]


def _meeting_table() -> bytes:
    table = bytearray(256)
    for code, pairs in enumerate(_MEETINGS.values(), 1):
        for first, second in pairs:
            for pair in _pairs(first, second):
                table[pair] = code
    return bytes(table)


def _run_table() -> bytes:
    table = bytearray(b"." * 256)
    for letter, first, second in _RUN_LETTERS:
        for pair in _pairs(first, second):
            table[pair] = ord(letter)
    return bytes(table)


def _only(characters: str) -> bytes:
    """All byte values but those of the characters, for `bytes.translate` to delete."""
    return bytes(set(range(256)) - set(characters.encode("ascii")))


_MEETING = _meeting_table()
_RUN = _run_table()
_MOST_FREQUENT = "lower_after_lower"
_MOST_FREQUENT_CODE = list(_MEETINGS).index(_MOST_FREQUENT) + 1
_LOWERED = bytes.maketrans(ascii_uppercase.encode(), ascii_lowercase.encode())
_NOT_LETTER = _only(ascii_letters)
_CONTROLS = "".join(map(chr, [*range(1, 9), *range(14, 32), 127]))
_NOT_MARK = _only(punctuation + _CONTROLS)
_CONTROL_TO_1 = bytes.maketrans(_CONTROLS.encode(), b"\1" * len(_CONTROLS))
_TABLE_TAGS = (b"<td>", b"</td>", b"<tr>", b"</tr>", b"<th>", b"</th>")
_SCRIPT_NAMES = {
    code: f"script_{name}" for code, name in enumerate(SCRIPT_KINDS) if name not in UNCOUNTED
}
_LANGUAGES = [(name, f"script_{script}", letters) for name, (script, letters) in LANGUAGES.items()]
_FEW = 64
"""Foreign characters up to which only the scripts that they belong to are counted."""
_RUN_NEEDLES = [
    (name, letter.encode() * length, ord(letter)) for name, (_, letter, length) in _RUNS.items()
]


def features(text: str) -> dict[str, int]:
    """The features of a text, by name; those that do not occur are 0 or left out.

    >>> found = features("two words")
    >>> found["word_after_space"], found["letter_w"]
    (2, 2)
    """
    if not text:
        return {}
    characters = classify(text)
    pairs = neighbours(characters.kinds)
    found: dict[str, int] = {}
    _count_ascii(characters, found)
    _count_meetings(pairs, found)
    found.update(rare_features(text, characters, pairs))
    return found


def rare_features(text: str, characters: Characters, pairs: bytes) -> dict[str, int]:
    """Runs, tails and what is not ASCII: all that is neither a single character nor a meeting.

    Args:
        text: The text.
        characters: Its characters.
        pairs: Their neighbours.
    """
    found: dict[str, int] = {}
    runs = pairs.translate(_RUN)
    for name, needle, letter in _RUN_NEEDLES:
        if letter in runs:
            found[name] = runs.count(needle)
    found.update(tails(text, characters))
    if characters.scripts is not None:
        foreign = characters.scripts.translate(None, b"\0")
        few = len(foreign) <= _FEW
        codes = sorted(_SCRIPT_NAMES.keys() & set(foreign)) if few else _SCRIPT_NAMES
        for code in codes:
            found[_SCRIPT_NAMES[code]] = foreign.count(code)
        for name, script, letters in _LANGUAGES:
            if found.get(script):
                found[name] = sum(map(text.count, letters))
        if found.get("script_han"):
            found.update(han_tiers(text))
        if found.get("script_emoji"):
            found.update(emoji_parts(text))
    return found


def marks_in(characters: Characters) -> int:
    """How many ASCII marks and control characters there are."""
    return len(characters.ascii.translate(None, _NOT_MARK))


def tags_in(characters: Characters) -> int:
    """How many tags of HTML tables there are."""
    return sum(map(characters.ascii.count, _TABLE_TAGS)) if b"<" in characters.ascii else 0


def _count_ascii(characters: Characters, found: dict[str, int]) -> None:
    letters = characters.ascii.translate(_LOWERED, _NOT_LETTER)
    for letter in ascii_lowercase:
        found[f"letter_{letter}"] = letters.count(ord(letter))
    marks = characters.ascii.translate(_CONTROL_TO_1, _NOT_MARK)
    for mark in punctuation:
        found[f"mark_{mark}"] = marks.count(ord(mark))
    found["control"] = marks.count(1)
    found["carriage_return"] = characters.ascii.count(b"\r")
    found["table_tag"] = tags_in(characters)


def _count_meetings(pairs: bytes, found: dict[str, int]) -> None:
    meetings = pairs.translate(_MEETING)
    # The most frequent meeting goes first, so that the others are counted in what is left.
    most = meetings.count(_MOST_FREQUENT_CODE)
    meetings = meetings.translate(None, bytes([0, _MOST_FREQUENT_CODE]))
    for code, name in enumerate(_MEETINGS, 1):
        found[name] = meetings.count(code)
    found[_MOST_FREQUENT] = most


def feature_of_ascii(code: int) -> str | None:
    """The feature that one ASCII character is, if it is one by itself.

    >>> feature_of_ascii(ord("Q")), feature_of_ascii(ord("!")), feature_of_ascii(ord("7"))
    ('letter_q', 'mark_!', None)
    """
    character = chr(code)
    if character in ascii_letters:
        return f"letter_{character.lower()}"
    if character in punctuation:
        return f"mark_{character}"
    if character in _CONTROLS:
        return "control"
    return "carriage_return" if character == "\r" else None


def feature_of_pair(pair: int) -> str | None:
    """The feature that two kinds of characters are which meet, if they are one."""
    code = _MEETING[pair]
    return list(_MEETINGS)[code - 1] if code else None
