"""Bodies that stand inside of a text: JSON, or the form Python prints, escaped or not."""

import ast
import json
import re
from typing import TypeGuard

_CHARS = 50_000
"""Longer texts are not searched: they quote the request."""
_JSON_CHARS = 1_000_000
_PYTHON_CHARS = 20_000
"""Python's own reader is slow: a longer body in its form is not read."""
_STEPS = 300
"""Brackets and quotes that are looked at; each costs at most the length of the text."""
_TRIES = 8
_ESCAPED = 4
_NESTING = 60
"""Deeper brackets are no body, and too deep for Python's own reader."""
# What a backslash stands before begins nothing: a long run would be tried from each of its places.
_TOKEN = re.compile(
    r"""(?<!\\)"(?:[^"\\]|\\.)*+"|(?<![\w\\])'(?:[^'\\]|\\.|(?<=\w)'(?=\w))*+'|[\[{}\]]""",
    re.DOTALL,
)
_OPENING = re.compile("[\\[{\"'“‘「]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_WRONG_ESCAPE = re.compile(r"\\(?![\\'\"abfnrtvxuUN0-7\n])")  # Python would warn of it
_READ_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_CODE_POINT = re.compile(r"(?<!\\)\\+u([0-9a-fA-F]{4})")
_BYTES = re.compile(r"(?<!\\)(?:\\+x[89a-fA-F][0-9a-fA-F])+")
_PASSAGE = re.compile(
    r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.|(?<=\w)'(?=\w))*+'(?!\w)|“[^”]*+”|‘[^’]*+’|「[^」]*+」""",
    re.DOTALL,
)
_QUOTED = re.compile(
    r"(?P<label>(?P<mark>[\"']?)\b(?:message|msg|error|detail|reason|raw|description|exception)\w*"
    r"(?P=mark)"
    rf"\s*[:=]\s*)?(?P<quoted>(?!(?<=\w)')(?:{_PASSAGE.pattern}))",
    re.IGNORECASE | re.DOTALL,
)
_HAN = re.compile("[\u4e00-\u9fff]")  # two of them make a word
_LEADS_UP = re.compile(
    r"(?:[:=\-(,\[]|\bb|\b(?:message|body|response|error|answer|returned))\s*$", re.IGNORECASE
)

Body = dict[object, object] | list[object]


def unwrapped(text: str, depth: int = 0) -> tuple[str, list[Body]]:
    r"""The text without the bodies in it, and the bodies.

    A body is a JSON object, an array of such, or either as Python prints it; also the printed
    form of its bytes, and one whose quotes are escaped. One that stands in quotes which
    nothing leads up to is a quotation and stays in the text.

    >>> unwrapped("Error code: 400 - {'error': {'message': 'too long'}}")
    ('Error code: 400 - ', [{'error': {'message': 'too long'}}])
    >>> unwrapped('failed: b\'{"a": 1}\' (id 7)')
    ('failed: b (id 7)', [{'a': 1}])
    >>> unwrapped(r'failed: {\"a\": 1}')
    ('failed: ', [{'a': 1}])
    >>> unwrapped('the word "{} {} {}" was refused')
    ('the word "{} {} {}" was refused', [])
    >>> unwrapped("[1, 204800]")
    ('[1, 204800]', [])
    """
    if text[:1] in ("{", "[", '"') and len(text) <= _JSON_CHARS:
        whole = _json(text)
        if _is_body(whole):
            return "", [whole]
        if isinstance(whole, str) and depth <= _ESCAPED:
            return unwrapped(whole, depth + 1)
    if len(text) > _CHARS or depth > _ESCAPED:
        return text, []
    text = level = _decoded(text)
    for _ in range(depth, _ESCAPED + 1):
        prose, bodies, quotations = _cut(level, depth)
        if bodies:
            return prose, bodies
        plain = level
        for quotation in quotations:
            plain = plain.replace(quotation, "", 1)
        plain = _unescaped(plain)
        if plain == level:
            break
        level = plain
    return text, []


def without_quotes(text: str) -> str:
    """The text without quoted passages of three words and more.

    They are somebody else's words, a message of the conversation for example. What stands
    behind a label such as `message:` or `error=` is the error itself and stays.

    >>> without_quotes('the word "prompt is too long" was refused')
    'the word  was refused'
    >>> without_quotes('{"message": "prompt is too long"}')
    '{"message": "prompt is too long"}'
    """

    def keep(match: re.Match[str]) -> str:
        label, quoted = match["label"] or "", match["quoted"]
        if label or match.start() == 0:
            return f"{label}{quoted[0]}{without_quotes(quoted[1:-1])}{quoted[-1]}"
        return "" if _is_passage(quoted) else quoted

    return _QUOTED.sub(keep, text)


def _is_passage(quoted: str) -> bool:
    return len(quoted.split()) >= 3 or len(_HAN.findall(quoted)) >= 6


def _cut(text: str, depth: int) -> tuple[str, list[Body], list[str]]:
    """The text without bodies, the bodies, and the quotations that were passed over."""
    prose: list[str] = []
    bodies: list[Body] = []
    quotations: list[str] = []
    done = at = 0
    unclosed: set[str] = set()
    closing: set[int] = set()
    tries = _TRIES
    for _ in range(_STEPS):
        opening = _OPENING.search(text, at)
        if opening is None or not tries:
            break
        start = opening.start()
        at = start + 1
        before = text[max(0, start - 20) : start]
        if opening[0] in "[{":
            tries -= 1
            end = _end(text, start)
            body = _parsed(text[start:end]) if end is not None else None
            if body is not None and end is not None:
                prose.append(text[done:start])
                bodies.append(body)
                done = at = end
            continue
        if opening[0] in unclosed or start in closing or before.endswith("\\"):
            continue
        if opening[0] == "'" and before[-1:].isalnum() and not _LEADS_UP.search(before):
            continue  # an apostrophe
        quoted = _PASSAGE.match(text, start)
        if quoted is None:
            unclosed.add(opening[0])
        elif start and _is_passage(quoted[0]) and not _LEADS_UP.search(before):
            quotations.append(quoted[0])
            at = quoted.end()
        elif "{" not in quoted[0] and "[" not in quoted[0]:
            at = quoted.end()
        else:
            inner, inner_bodies = unwrapped(_unescaped(quoted[0][1:-1]), depth + 1)
            if inner_bodies:
                prose += [text[done:start], inner]
                bodies += inner_bodies
                done = at = quoted.end()
            else:
                closing.add(quoted.end() - 1)
    return "".join([*prose, text[done:]]), bodies, quotations


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _READ_ESCAPES.get(found[1], found[1]), text)


def _decoded(text: str) -> str:
    r"""The text with letters in place of `\u8d85` and of printed UTF-8 bytes."""

    def letter(found: re.Match[str]) -> str:
        point = int(found[1], 16)
        return chr(point) if 0x80 <= point < 0xD800 or point >= 0xE000 else found[0]

    def letters(found: re.Match[str]) -> str:
        printed = re.findall(r"x(..)", found[0])
        return bytes.fromhex("".join(printed)).decode("utf-8", "replace")

    return _BYTES.sub(letters, _CODE_POINT.sub(letter, text))


def _end(text: str, start: int) -> int | None:
    """Where the bracket that opens at `start` is closed."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if token[0] in "[{":
            depth += 1
            if depth > _NESTING:
                return None
        elif token[0] in "]}":
            depth -= 1
            if depth == 0:
                return token.end()
    return None


def _parsed(text: str) -> Body | None:
    value = _json(text)
    if value is None and len(text) <= _PYTHON_CHARS:
        try:
            value = ast.literal_eval(_WRONG_ESCAPE.sub(r"\\\\", text))
        except Exception:
            return None
    return value if _is_body(value) else None


def _json(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _is_body(value: object) -> TypeGuard[Body]:
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict)
    return isinstance(value, dict) and bool(value)
