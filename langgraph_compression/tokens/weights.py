"""The tokens of a text, without counting its features one by one.

Each character and each meeting of two kinds has a weight, the rate of the feature that it is.
`bytes.translate` writes down the weights of all at once, and the sum that is part of a checksum
adds them up. Rates have three decimals, so sums of thousandths are exact.
"""

from collections.abc import Callable
from operator import mul
from zlib import adler32

from langgraph_compression.tokens.characters import classify, neighbours
from langgraph_compression.tokens.features import (
    feature_of_ascii,
    feature_of_pair,
    marks_in,
    rare_features,
    tags_in,
)
from langgraph_compression.tokens.rates import COLUMNS, RATES

_DIGIT = 64
"""A weight is written as two digits to this base: one would not fit a byte."""
_CHUNK = 1039
"""Digits that are added up at once: 63 times as much is below the checksum's modulus, 65,521."""

_Table = tuple[bytes, bytes]


def _table(column: int, feature_of: Callable[[int], str | None]) -> _Table:
    """The digits of the weight of each byte value."""
    names = map(feature_of, range(256))
    weights = [_thousandths(name, column) if name else 0 for name in names]
    return bytes(w // _DIGIT for w in weights), bytes(w % _DIGIT for w in weights)


def _thousandths(name: str, column: int) -> int:
    return round(RATES[name][column] * 1000)


_TABLES = {
    profile: (_table(column, feature_of_ascii), _table(column, feature_of_pair))
    for column, profile in enumerate(COLUMNS)
}
_REST = {
    profile: {name: _thousandths(name, column) for name in RATES}
    for column, profile in enumerate(COLUMNS)
}


def weighed(text: str, profiles: tuple[str, ...], marks: frozenset[str]) -> tuple[list[int], int]:
    """Thousandths of tokens of a text by each profile, and how many marks it has.

    Args:
        text: The text.
        profiles: Of the columns of the rates.
        marks: Features that count as marks.
    """
    characters = classify(text)
    pairs = neighbours(characters.kinds)
    rest = rare_features(text, characters, pairs)
    rest["table_tag"] = tags_in(characters)
    sums = []
    for profile in profiles:
        ascii_, meetings = _TABLES[profile]
        rates = _REST[profile]
        total = _sum(characters.ascii, ascii_) + _sum(pairs, meetings)
        sums.append(total + sum(map(mul, map(rates.__getitem__, rest), rest.values())))
    foreign = sum(rest[name] for name in marks & rest.keys()) if characters.scripts else 0
    return sums, marks_in(characters) + foreign


def _sum(data: bytes, table: _Table) -> int:
    """The sum of the weights of all bytes."""
    high, low = table
    return _sum_of_digits(data.translate(high)) * _DIGIT + _sum_of_digits(data.translate(low))


def _sum_of_digits(digits: bytes) -> int:
    if len(digits) <= _CHUNK:
        return (adler32(digits) & 0xFFFF) - 1  # it begins with 1
    view = memoryview(digits)
    return sum(
        (adler32(view[start : start + _CHUNK]) & 0xFFFF) - 1
        for start in range(0, len(digits), _CHUNK)
    )
