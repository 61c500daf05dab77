"""Which fields of a search result are shown in a preview, by the names that tools use."""

import re
from typing import Any

from langgraph_compression.policy.short_values import is_path

IDENTIFIERS = """
    id uid uuid kb_id knowledge_base_id kb file_id doc_id document_id dataset_id collection_id
    source_id parent_id segment_id passage_id node_id point_id record_id chunk_id chunk_index
    chunk_idx chunk_no chunk_number chunk_order segment_index passage_index index idx position
    rank page page_no page_num page_number page_index page_label line doi isbn
    file_name filename doc_name document_name kb_name dataset_name
"""
SOURCES = "source sources origin title name headline heading section"
LINKS = "url link href uri permalink source_url page_url canonical_url web_url file_url"
SITES = "site site_name domain publisher displayed_link display_link display_url"
TIMES = """
    time date datetime timestamp age year published published_at published_date published_time
    publish_date publish_time publication_date date_published page_age created created_at
    created_time updated updated_at last_updated modified modified_at last_modified
    date_last_crawled
"""
SCORES = """
    score relevance relevance_score similarity similarity_score distance rerank_score
    vector_score hybrid_score confidence
"""
BODIES = """
    content text page_content body chunk_content chunk_text chunk passage snippet raw_content
    markdown summary abstract description excerpt highlight answer
"""
"""In order of preference: the first that has text is the body."""
FILES = "file_name filename doc_name document_name kb_name dataset_name name origin heading"
"""Fields that are left out if they hold a path."""
CONTAINERS = "metadata meta document doc payload source entity node fields file chunk"
"""Objects inside a record whose known fields are shown under the same names."""
LISTS = """
    results result records items hits documents docs chunks matches organic organic_results
    web_pages webpages passages nodes search_results data value web output response
"""
"""In order of preference: where the records of an object are; the object may be nested once."""


def plain(name: str) -> str:
    """A field's name without case, separators and a leading underscore: `fileId` = `file_id`.

    >>> plain("fileId") == plain("file_id") == plain("_FileID")
    True
    """
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _names(text: str) -> dict[str, int]:
    return {plain(name): place for place, name in enumerate(text.split())}


_SHOWN = frozenset(_names(" ".join([IDENTIFIERS, SOURCES, LINKS, SITES, TIMES, SCORES])))
_FILES = frozenset(_names(FILES))
_LINKS = frozenset(_names(LINKS))
_BODIES = _names(BODIES)
_CONTAINERS = _names(CONTAINERS)
LIST_NAMES = _names(LISTS)
"""Name → place in the order of preference."""

MAX_VALUE = 4096
"""Characters of a value that is shown whole; a longer one cannot be shown without a cut."""


def record_of(raw: Any) -> tuple[dict[str, Any], str]:
    """The known fields of one result and its body; a result that is a text is all body.

    >>> record_of({"fileId": 7, "text": "Hello", "path": "/srv/x", "metadata": {"page": 2}})
    ({'fileId': 7, 'metadata': {'page': 2}}, 'Hello')
    """
    if isinstance(raw, str):
        return {}, raw
    if not isinstance(raw, dict):
        return {}, ""
    body_name, body = _body(raw)
    fields: dict[str, Any] = {}
    for name, value in raw.items():
        if name == body_name:
            continue
        if isinstance(value, dict) and plain(name) in _CONTAINERS:
            inner, inner_body = record_of(value)
            body = body or inner_body
            if inner:
                fields[name] = inner
        elif plain(name) in _SHOWN and _is_shown(plain(name), value):
            fields[name] = value
    return fields, body


def _body(raw: dict[str, Any]) -> tuple[str | None, str]:
    """Name and text of the body; a field that is a list of texts is joined."""
    found: list[tuple[int, str, str]] = []
    for name, value in raw.items():
        place = _BODIES.get(plain(name))
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            value = "\n".join(value)
        if place is not None and isinstance(value, str) and value.strip():
            found.append((place, name, value))
    if not found:
        return None, ""
    _, name, text = min(found)
    return name, text


def _is_shown(name: str, value: object) -> bool:
    if isinstance(value, str):
        if name in _LINKS and value.startswith(("data:", "file:")):
            return False
        return 0 < len(value) <= MAX_VALUE and not (name in _FILES and is_path(value))
    return isinstance(value, int | float)
