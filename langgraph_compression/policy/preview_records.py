"""The preview of search results: a JSON object with as many records as fit."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from langgraph_compression.policy.preview_text import TRIES, fitting_fields, longest_candidate
from langgraph_compression.policy.record_list import RecordList, read_records
from langgraph_compression.policy.short_values import dumps
from langgraph_compression.policy.visible_text import visible, whole_character, without_base64
from langgraph_compression.state.counting import Count
from langgraph_compression.state.settings import ResultKind

BODY, BODY_TOKENS = 160, 40
"""Characters, and tokens about, of each body as long as there are records that do not fit."""
MAX_QUERY = 200
"""Characters of the query."""

_OURS = ("kind", "query", "kb_id", "result_count", "omitted_results", "results")


class _Record(NamedTuple):
    fields: dict[str, Any]
    body: str

    def cut(self, size: int) -> "_Record":
        if len(self.body) <= size:
            return self
        kept = self.body[: whole_character(self.body, size - 1)] + "…" if size > 1 else ""
        return self._replace(body=kept)

    def text(self) -> str:
        return dumps(self.fields | {"content_preview": self.body} if self.body else self.fields)


def preview_records(
    text: str, kind: ResultKind, limit: int, count: Count, query: str | None = None
) -> str | None:
    """The records of a JSON result, in their order, within a limit.

    Identifiers and links are shown whole or not at all: a record that does not fit is
    shortened in its body, then left out.

    Args:
        text: JSON, perhaps in a code fence: an object with results, an array, or one object
            after another.
        kind: What the records are.
        limit: Tokens of the preview by `count`, its code fence included.
        count: The counter.
        query: What was asked, if the result does not say it.

    Returns:
        JSON in a code fence; None if the text cannot be read so, or not even an empty list
        fits.

    >>> print(preview_records('[{"id": 7, "text": "Hello", "path": "/x"}]', "web_search", 200, len))
    ```json
    {"kind": "web_search", "result_count": 1, "omitted_results": 0, "results": [
    {"id": 7, "content_preview": "Hello"}
    ]}
    ```
    """
    longest = longest_candidate(limit)
    found = read_records(text, limit + TRIES)
    if found is None:
        return None
    records = [
        _Record(fields, visible(without_base64(body))).cut(longest)
        for fields, body in found.records
    ]
    for heading in _headings(kind, found, query, limit, count):
        page = _Page(heading, found.total, limit, count)
        if page.fits([]):
            return page.text(page.filled(records, longest))
    return None


def _headings(
    kind: ResultKind, found: RecordList, query: str | None, limit: int, count: Count
) -> Iterator[dict[str, Any]]:
    """The fields before the records, from all of them to what must be there."""
    first: dict[str, Any] = {"kind": kind}
    asked = found.query if found.query is not None else query
    if asked is not None:
        asked = visible(asked)
        first["query"] = _Record({}, asked).cut(MAX_QUERY).body
    if found.scalars.get("kb_id") is not None:
        first["kb_id"] = found.scalars["kb_id"]
    rest = {key: value for key, value in found.scalars.items() if key not in _OURS}
    yield first | fitting_fields(rest, limit // 2, count)
    yield first
    yield {"kind": kind}


class _Page:
    """A preview in the making."""

    def __init__(self, heading: dict[str, Any], total: int, limit: int, count: Count) -> None:
        self.heading = heading
        self.total = total
        self.limit = limit
        self.count = count

    def text(self, records: list[_Record]) -> str:
        counts = {"result_count": self.total, "omitted_results": self.total - len(records)}
        known = {key: value for key, value in self.heading.items() if key in _OURS}
        start = dumps(known | counts | self.heading)[:-1]
        lines = ",\n".join(record.text() for record in records)
        lines = f"\n{lines}\n" if lines else ""
        return f'```json\n{start}, "results": [{lines}]}}\n```'

    def fits(self, records: list[_Record]) -> bool:
        return self.count(self.text(records)) <= self.limit

    def filled(self, records: list[_Record], longest: int) -> list[_Record]:
        """As many records as fit with short bodies, then their bodies as long as fits."""
        chosen: list[tuple[_Record, _Record]] = []
        room = self.limit - self.count(self.text([]))
        misses = 0
        for record in records:
            whole, short = record, self._glance(record)
            cost = self._cost(short, longest)
            if cost > room:
                whole = short = self._shortened(short, room, longest)
                cost = self._cost(short, longest)
            if cost > room or not (short.fields or short.body):
                misses += 1
                if misses == TRIES:
                    break
                continue
            room -= cost
            chosen.append((whole, short))
        while chosen and not self.fits([short for _, short in chosen]):
            chosen.pop()

        def grown(size: int) -> list[_Record]:
            return [whole.cut(max(size, len(short.body))) for whole, short in chosen]

        most = max((len(whole.body) for whole, _ in chosen), default=0)
        return grown(_largest(0, most, lambda size: self.fits(grown(size))))

    def _glance(self, record: _Record) -> _Record:
        """The record with a body of about `BODY_TOKENS`."""
        start = record.cut(BODY)
        tokens = self.count(start.body)
        return start if tokens <= BODY_TOKENS else record.cut(BODY * BODY_TOKENS // tokens)

    def _cost(self, record: _Record, longest: int) -> int:
        text = record.text()
        # What is longer than any preview needs no counting.
        return self.count(",\n" + text) if len(text) <= longest else self.limit + 1

    def _shortened(self, record: _Record, room: int, longest: int) -> _Record:
        size = _largest(
            0, len(record.body), lambda size: self._cost(record.cut(size), longest) <= room
        )
        return record.cut(size)


def _largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The largest size up to `high` that fits, about; `low` if none does."""
    if fits(high):
        return high
    while high - low > max(1, low // 64):
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low
