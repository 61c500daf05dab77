"""Text that is safe to show: no payloads, no control characters, whole characters."""

import re
import unicodedata

BASE64_RUN = 200
"""Characters from which an unbroken run is taken for encoded data, not for a word."""

_LINE = r"[A-Za-z0-9+/_-]"
_BREAK = r"(?:\r?\n|\\r\\n|\\n)"
# Every quantifier is possessive and a run is tried at its first character only, so the time
# is linear in the text whatever it holds.
_ENCODED = re.compile(
    rf"(?:data:[\w.+/-]{{0,100}}(?:;[\w.=+-]{{1,60}}){{0,4}},)?"
    rf"(?<!{_LINE})(?:{_LINE}{{{BASE64_RUN},}}+|{_LINE}{{60,}}+(?={_BREAK}{_LINE}{{60}}))"
    rf"(?:(?:{_BREAK}{_LINE}{{60,}}+)++(?:{_BREAK}{_LINE}{{16,}}+)?+)?+"
    rf"(?:{_BREAK}{_LINE}*+={{1,2}}|={{1,2}})?"
)

_LEAST = 60
"""Characters in a row that every run of base64 has somewhere."""
_IS_LINE = bytes(re.fullmatch(_LINE, chr(code)) is not None for code in range(256))
_SLICE = 1 << 20

_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"}
_CONTROLS |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
# Characters that turn the reading direction: text could show in another order than it is read.
_CONTROLS |= dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)

_JOINER = "\u200d"


def without_base64(text: str) -> str:
    """The text with long runs of base64, also over several lines, replaced by their length.

    >>> without_base64("png: data:image/png;base64," + "iVBORw0KGgo" * 100 + "== end")
    'png: [base64: 1,124 characters] end'
    """
    return _ENCODED.sub(_named, text) if _may_hold_base64(text) else text


def _may_hold_base64(text: str) -> bool:
    """Whether a run is possible: most texts have none, and this takes 1/40 of the search."""
    return any(
        b"\1" * _LEAST
        in text[start : start + _SLICE + _LEAST].encode("ascii", "replace").translate(_IS_LINE)
        for start in range(0, len(text), _SLICE)
    )


def _named(run: re.Match[str]) -> str:
    size = run.end() - run.start()
    return f"[base64: {size:,} characters]" if size >= BASE64_RUN else run[0]


def visible(text: str) -> str:
    r"""The text with control characters shown, and what UTF-8 cannot hold replaced.

    Halves of a surrogate pair that stand side by side become their character.

    >>> visible("a\x00b\r\nc\ud800")
    'a␀b\nc�'
    """
    text = text.replace("\r\n", "\n").translate(_CONTROLS)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def is_visible(text: str) -> bool:
    r"""Whether `visible` certainly changes nothing of the text, or of a part of it.

    >>> is_visible("one\n\ttwo"), is_visible("a\x00b"), is_visible("a\r\nb")
    (True, False, False)
    """
    return text.replace("\n", "").replace("\t", "").isprintable()


def whole_character(text: str, index: int) -> int:
    r"""The nearest index at or before `index` that does not split what is seen as one character.

    Keeps surrogate pairs, combining marks, variation selectors, skin tones, joined emoji
    and flags together, as far as 32 characters back.

    >>> whole_character("e\u0301x", 1), whole_character("e\u0301x", 2)
    (0, 2)
    """
    if not 0 < index < len(text):
        return max(0, min(index, len(text)))
    for at in range(index, max(0, index - 32), -1):
        if not _joined(text, at):
            return at
    return index if index > 32 else 0


def _joined(text: str, index: int) -> bool:
    left, right = text[index - 1], text[index]
    if right.isascii():
        return left == "\r" and right == "\n"
    code = ord(right)
    if left == _JOINER or right == _JOINER or unicodedata.category(right).startswith("M"):
        return True
    if 0xDC00 <= code <= 0xDFFF:
        return 0xD800 <= ord(left) <= 0xDBFF
    if 0x1F1E6 <= code <= 0x1F1FF:
        return _flags_before(text, index) % 2 == 1
    return 0x1F3FB <= code <= 0x1F3FF


def _flags_before(text: str, index: int) -> int:
    """Regional indicators that end just before `index`; two of them make a flag."""
    start = index
    while start > 0 and index - start < 4096 and 0x1F1E6 <= ord(text[start - 1]) <= 0x1F1FF:
        start -= 1
    return index - start
