"""What is counted of a text before any profile looks at it: named features, in one pass.

ASCII characters are mapped to letters that name their kind (`l` for a lower-case letter, `d`
for a digit …); a feature is how often a pattern of kinds occurs. Other characters count by
script, from the upper byte of their UTF-16 form. `bytes.translate` and `bytes.count` run at
hundreds of megabytes a second, so that dozens of features stay cheap.
"""

import re
import string
from collections import Counter
from collections.abc import Mapping

_KINDS = {
    " ": " ",
    "n": "\n\r\v\f",
    "t": "\t",
    "d": string.digits,
    "U": string.ascii_uppercase,
    "l": string.ascii_lowercase,
    ".": ".,;:!?",
    "(": "()[]{}<>",
    '"': "\"'`",
    "+": "+*=/\\|~^%&$#@",
    "-": "-",
    "_": "_",
}
_CONTROL, _RULE, _RUN = "c", "r", "R"
_RULERS = b"=-_*#.~/+%"
"""Characters that rulers are drawn with: vocabularies have them in runs of 64, others by 2 to 8."""

_TO_KIND = bytearray(_CONTROL * 256, "ascii")
for _kind, _characters in _KINDS.items():
    for _character in _characters:
        _TO_KIND[ord(_character)] = ord(_kind)
_TO_KIND[ord("\x7f")] = ord(_CONTROL)
_RULE_MARK, _RUN_MARK = b"\x01", b"\x02"
_TO_KIND[_RULE_MARK[0]] = ord(_RULE)
_TO_KIND[_RUN_MARK[0]] = ord(_RUN)
TO_KIND = bytes(_TO_KIND)

PATTERNS: Mapping[str, str] = {
    # characters
    "space": " ", "newline": "n", "tab": "t", "digit": "d", "upper": "U", "lower": "l",
    "point": ".", "bracket": "(", "quote": '"', "operator": "+", "dash": "-", "underscore": "_",
    "control": "c", "rule_tail": "r", "run_tail": "R",
    # where words start, and how: most tokens begin at a change of kind
    "space_lower": " l", "space_upper": " U", "newline_lower": "nl", "newline_upper": "nU",
    "point_lower": ".l", "bracket_lower": "(l", "quote_lower": '"l', "operator_lower": "+l",
    "dash_lower": "-l", "underscore_lower": "_l", "lower_upper": "lU", "upper_lower": "Ul",
    "point_upper": ".U", "bracket_upper": "(U", "quote_upper": '"U', "operator_upper": "+U",
    "digit_lower": "dl", "digit_upper": "dU", "lower_digit": "ld", "upper_digit": "Ud",
    "space_digit": " d", "point_digit": ".d", "operator_digit": "+d", "dash_digit": "-d",
    # punctuation that merges with its neighbours
    "point_space": ". ", "point_newline": ".n", "bracket_newline": "(n", "space_bracket": " (",
    "space_quote": ' "', "quote_point": '".', "quote_bracket": '"(', "point_quote": '."',
    "bracket_quote": '("', "space_operator": " +", "operator_space": "+ ", "space_dash": " -",
    "two_points": "..", "two_brackets": "((", "two_operators": "++", "bracket_point": "(.",
    "two_quotes": '""', "quote_space": '" ',
    # long words are several tokens: pieces of a run, counted without overlap
    "lower_3": "l" * 3, "lower_5": "l" * 5, "lower_7": "l" * 7, "lower_9": "l" * 9,
    "lower_12": "l" * 12, "lower_16": "l" * 16, "upper_2": "UU", "upper_4": "U" * 4,
    "upper_8": "U" * 8,
    # digits go by one or by three
    "digit_2": "dd", "digit_3": "ddd", "digit_6": "d" * 6,
    # runs of white space are few tokens
    "space_2": "  ", "space_4": " " * 4, "space_8": " " * 8, "space_16": " " * 16,
    "space_64": " " * 64, "newline_2": "nn", "newline_4": "nnnn", "newline_16": "n" * 16,
    "newline_space": "n ", "newline_tab": "nt", "tab_2": "tt", "tab_4": "tttt", "tab_16": "t" * 16,
    # tails of runs of one character
    "rule_4": "rrrr", "rule_16": "r" * 16, "rule_64": "r" * 64,
    "run_4": "RRRR", "run_8": "R" * 8,
}  # fmt: skip
"""Feature → pattern of kinds, how often it occurs (pieces that do not overlap)."""

LETTERS = "bcdefghijkmpquvwxyz"
"""Letters counted one by one: a text with many rare ones is no English and has more tokens."""

_SCRIPTS: tuple[tuple[str, int, int], ...] = (
    ("latin_extended", 0x01, 0x02), ("greek", 0x03, 0x03), ("cyrillic", 0x04, 0x04),
    ("hebrew_armenian", 0x05, 0x05), ("arabic", 0x06, 0x08), ("devanagari_bengali", 0x09, 0x09),
    ("gurmukhi_gujarati", 0x0A, 0x0A), ("tamil_oriya", 0x0B, 0x0B), ("telugu_kannada", 0x0C, 0x0C),
    ("malayalam_sinhala", 0x0D, 0x0D), ("thai_lao", 0x0E, 0x0E), ("tibetan", 0x0F, 0x0F),
    ("georgian_burmese", 0x10, 0x10), ("ethiopic", 0x11, 0x13), ("khmer", 0x17, 0x17),
    ("vietnamese", 0x1E, 0x1E), ("greek_extended", 0x1F, 0x1F), ("dashes_quotes", 0x20, 0x20),
    ("arrows_letters", 0x21, 0x22), ("box_shapes", 0x23, 0x27), ("braille", 0x28, 0x2B),
    ("kana_cjk_punctuation", 0x2E, 0x33), ("han_extended", 0x34, 0x4D), ("hangul", 0xAC, 0xD7),
    ("surrogate_pairs", 0xD8, 0xDB), ("private", 0xE0, 0xF8), ("full_width", 0xFF, 0xFF),
    ("variation", 0xFE, 0xFE), ("presentation_forms", 0xF9, 0xFD),
)  # fmt: skip
"""Script → first and last upper byte. Han between 0x4E and 0x9F is counted by frequency."""

SCRIPT_OF = {high: name for name, first, last in _SCRIPTS for high in range(first, last + 1)}

OTHER = (
    "latin1_letter", "latin1_sign", "han_common", "han_less_common", "han_other", "script_word",
    "script_word_5", "emoji_run", "han_run", "other_script",
)  # fmt: skip

NAMES: tuple[str, ...] = (
    *PATTERNS,
    *(f"letter_{letter}" for letter in LETTERS),
    *dict.fromkeys(SCRIPT_OF.values()),
    *OTHER,
)
"""Every feature, in the order of the rate tables."""

_RUN_OF_ONE = re.compile(rb"([^\s0-9])\1{3,}")
_WORD = re.compile("[\u0370-\u1fff]+")
_HAN_RUN = re.compile("[\u4e00-\u9fff]+")
_EMOJI_RUN = re.compile("[\U00010000-\U0010ffff\ufe0f\u200d]+")
_PATTERN_BYTES = [
    (name, pattern.encode(), frozenset(pattern.encode())) for name, pattern in PATTERNS.items()
]
_ALL_KINDS = frozenset(TO_KIND)
_MAY_REPEAT = bytes(
    0xFF if chr(code).isspace() or chr(code).isdigit() else 0 for code in range(256)
)
_SAME = b"\x01" + bytes(255)


def features(text: str) -> dict[str, int]:
    """The features of a text that are not zero, by name."""
    found: dict[str, int] = {}
    plain = text.encode("ascii", "ignore")
    shortened = plain.replace(_RULE_MARK, b"\0").replace(_RUN_MARK, b"\0")
    if _has_run(shortened):
        shortened = _RUN_OF_ONE.sub(_with_marked_tail, shortened)
    kinds = shortened.translate(TO_KIND)
    absent = {kind for kind in _ALL_KINDS if kind not in kinds}
    for name, pattern, of in _PATTERN_BYTES:
        if absent.isdisjoint(of) and (count := kinds.count(pattern)):
            found[name] = count
    lowered = shortened.lower()
    for letter in LETTERS:
        if count := lowered.count(letter.encode()):
            found[f"letter_{letter}"] = count
    if len(plain) < len(text):
        _beyond_ascii(text, found)
    return found


def _with_marked_tail(run: re.Match[bytes]) -> bytes:
    """Four and more of one character: three stay, the tail becomes a kind of its own."""
    mark = _RULE_MARK if run[1] in _RULERS else _RUN_MARK
    return run[0][:3] + mark * (len(run[0]) - 3)


def _has_run(plain: bytes) -> bool:
    """Whether a character that is no white space and no digit stands four times in a row.

    Each byte is compared with its neighbour by one XOR of two long integers, which is ten
    times as fast as a regular expression with a back reference.
    """
    whole = int.from_bytes(plain, "little")
    ignored = int.from_bytes(plain.translate(_MAY_REPEAT), "little")
    changes = (whole ^ (whole >> 8)) | ignored
    return b"\x01\x01\x01" in changes.to_bytes(len(plain), "little").translate(_SAME)


def _beyond_ascii(text: str, found: dict[str, int]) -> None:
    rest = text.encode("utf-16-le", "surrogatepass")
    blocks = Counter(rest[1::2])
    for high, count in blocks.items():
        if high == 0 or 0x4E <= high <= 0x9F or 0xDC <= high <= 0xDF:
            continue
        name = SCRIPT_OF.get(high, "other_script")
        found[name] = found.get(name, 0) + count
    latin = text.encode("latin-1", "ignore").translate(None, bytes(range(0x80)))
    letters = len(latin.translate(None, bytes(range(0x80, 0xC0))))
    han = sum(count for high, count in blocks.items() if 0x4E <= high <= 0x9F)
    if han:
        # GB 2312 lists the characters of everyday Chinese first.
        listed = text.encode("gb2312", "ignore").translate(None, bytes(range(0x80)))[::2]
        common = sum(n for lead, n in Counter(listed).items() if 0xB0 <= lead <= 0xD7)
        less = sum(n for lead, n in Counter(listed).items() if lead > 0xD7)
        found.update(
            han_common=common,
            han_less_common=less,
            han_other=max(0, han - common - less),
            han_run=len(_HAN_RUN.findall(text)),
        )
    words = _WORD.findall(text) if any(3 <= high <= 0x1F for high in blocks) else []
    found.update(
        latin1_letter=letters,
        latin1_sign=len(latin) - letters,
        script_word=len(words),
        script_word_5=sum(len(word) // 5 for word in words),
    )
    if any(0xD8 <= high <= 0xDB for high in blocks):
        found["emoji_run"] = len(_EMOJI_RUN.findall(text))
