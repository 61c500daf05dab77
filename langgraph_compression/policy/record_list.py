"""Finding the records in what a search tool returned."""

from itertools import chain, islice
from typing import Any, NamedTuple

from langgraph_compression.policy.json_text import (
    NotJsonError,
    Span,
    elements,
    load,
    members,
    values,
)
from langgraph_compression.policy.record_fields import LIST_NAMES, plain, record_of
from langgraph_compression.policy.short_values import is_scalar, is_short


class RecordList(NamedTuple):
    """What was found in a result."""

    records: list[tuple[dict[str, Any], str]]
    """Known fields and body of the first records."""
    total: int
    """Records that there are."""
    query: str | None
    scalars: dict[str, Any]
    """Short fields of the object around the records."""


def read_records(text: str, most: int) -> RecordList | None:
    """The records of a JSON text.

    Args:
        text: An object with a list of results, an array, one object after another, or any of
            these as a JSON string.
        most: Records to read; further ones are only counted.

    Returns:
        None if there are none to be found.

    >>> read_records('{"total": 9, "results": [{"id": 1}, {"id": 2}]}', 1)
    RecordList(records=[({'id': 1}, '')], total=2, query=None, scalars={'total': 9})
    """
    try:
        if text.lstrip("\ufeff \t\r\n").startswith('"'):
            text = load(text, next(values(text)))
        spans = values(text)
        first = list(islice(spans, 2))
        query: str | None = None
        scalars: dict[str, Any] = {}
        if len(first) == 2:
            spans = chain(first, spans)
        elif text[first[0][0]] == "{":
            array, query, scalars = _around(text, first[0])
            spans = elements(text, array)
        else:
            spans = elements(text, first[0])
        records = [_record(text, span) for span in islice(spans, most)]
        return RecordList(records, len(records) + sum(1 for _ in spans), query, scalars)
    except NotJsonError:
        return None


def _record(text: str, span: Span) -> tuple[dict[str, Any], str]:
    raw = load(text, span)
    if raw is not None and not isinstance(raw, dict | str):
        raise NotJsonError
    return record_of(raw)


def _around(text: str, span: Span) -> tuple[Span, str | None, dict[str, Any]]:
    """Where the list of an object is, the query, and the short fields beside the list."""
    fields = dict(members(text, span))
    found = _list(text, fields, "[")
    if found is None:
        inside = _list(text, fields, "{")
        if inside is None:
            raise NotJsonError
        inner = dict(members(text, inside))
        found = _list(text, inner, "[")
        if found is None:
            raise NotJsonError
        fields = inner | fields
    query = load(text, fields["query"]) if "query" in fields else None
    scalars = {}
    for name, place in fields.items():
        if is_short(place) and text[place[0]] not in "[{":
            value = load(text, place)
            if is_scalar(value) and len(name) <= 100:
                scalars[name] = value
    return found, query if isinstance(query, str) else None, scalars


def _list(text: str, fields: dict[str, Span], bracket: str) -> Span | None:
    """The field that by its name holds the results and begins with `bracket`."""
    named = [
        (LIST_NAMES[plain(name)], span)
        for name, span in fields.items()
        if plain(name) in LIST_NAMES and text[span[0]] == bracket
    ]
    return min(named)[1] if named else None
