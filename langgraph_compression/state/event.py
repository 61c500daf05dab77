"""Reading the summarization event: to which messages does it apply?"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage, convert_to_messages

from langgraph_compression.state.pairing import pair
from langgraph_compression.state.reducers import cutoff_of


class Applied(NamedTuple):
    """An event that was found to apply to a list of messages."""

    cutoff: int
    """Messages of the list that the summary stands for."""
    summary: HumanMessage
    file_path: str | None
    covered: str | None = None
    """`covered_digests` of what the summary was made of; None in older events."""


_QUOTED = json.encoder.encode_basestring
_REPLACEMENT = "\ufffd".encode()
_JSON = json.JSONEncoder(ensure_ascii=False, default=str)


def message_digest(message: BaseMessage) -> str:
    """A digest of what a message says; the same before and after a checkpoint.

    Returns:
        32 hexadecimal digits.
    """
    return hashlib.sha256(_said(message)).hexdigest()[:32]


def covered_digests(
    messages: Sequence[AnyMessage], cutoffs: Sequence[int], start: int = 0, before: str = ""
) -> Iterator[str]:
    """The digest of all that is said before each cutoff.

    Args:
        messages: All messages of the state.
        cutoffs: Positions, ascending, none before `start`.
        start: Where to go on from.
        before: The digest at `start`: of the messages as a summary was made of them, which may
            have been edited or deleted since.

    Returns:
        32 hexadecimal digits for each cutoff.
    """
    for cutoff in cutoffs:
        for at in range(start, cutoff):
            before = hashlib.sha256(before.encode() + _said(messages[at])).hexdigest()[:32]
        start = cutoff
        yield before


def _said(message: BaseMessage) -> bytes:
    """What a message says, as JSON."""
    fields = vars(message)  # a thread has thousands: no look-up of fields that are not there
    content, calls = fields["content"], fields.get("tool_calls") or []
    call_id = fields.get("tool_call_id")
    try:
        if type(content) is str and not calls and call_id is None:  # the same, but faster
            text = f"[{_QUOTED(message.type)}, {_QUOTED(content)}, [], null]"
        else:
            text = _JSON.encode([message.type, content, calls, call_id])
    except RecursionError:
        text = f"{message.type} {len(str(message.id))}"
    # Checkpoint serializers replace lone surrogates, each in its own way.
    return text.encode("utf-8", "replace").replace(_REPLACEMENT, b"?")


def binding(messages: Sequence[AnyMessage], cutoff: int) -> dict[str, Any]:
    """The fields that tie an event to the last message it covers."""
    last = messages[cutoff - 1]
    return {"last_id": last.id, "last_digest": message_digest(last)}


def covered_since(
    messages: Sequence[AnyMessage], applied: Applied | None, cutoffs: Sequence[int]
) -> Iterator[str]:
    """`covered_digests` of the summaries that would continue an event; None: first ones."""
    if applied is None or applied.covered is None:
        return covered_digests(messages, cutoffs)
    return covered_digests(messages, cutoffs, applied.cutoff, applied.covered)


def applied_event(event: Any, messages: Sequence[AnyMessage]) -> Applied | None:
    """Validate an event against the messages of now; None if it does not apply.

    A bound event applies to the messages up to the one it was bound to, wherever that
    stands now (earlier ones may have been deleted); if that one is gone or says something
    else, the event is of another history. An unbound event (older, or from elsewhere)
    applies if 0 < cutoff < number of messages, moved back so that no group is cut in two.
    """
    cutoff = cutoff_of(event)
    if cutoff is None or cutoff <= 0:
        return None
    summary = _summary(event.get("summary_message"))
    if summary is None:
        return None
    path = event.get("file_path")
    path = path if isinstance(path, str) else None
    if isinstance(event.get("last_digest"), str):
        place = _find_last(event, cutoff, messages)
    elif cutoff < len(messages):
        place = max(cut for cut in pair(messages).cuts() if cut <= cutoff)
    else:
        place = 0
    covered = event.get("covered")
    covered = covered if isinstance(covered, str) else None
    return Applied(place, summary, path, covered) if place else None


def _find_last(event: Mapping[str, Any], cutoff: int, messages: Sequence[AnyMessage]) -> int:
    """Cutoff at which the bound message stands now, 0 if it is not found.

    It can only have moved forward: nothing is ever inserted before it.
    """
    wanted_id, wanted = event.get("last_id"), event["last_digest"]
    for position in range(min(cutoff, len(messages)), 0, -1):
        message = messages[position - 1]
        if message.id == wanted_id and message_digest(message) == wanted:
            return position
        if wanted_id is not None and message.id == wanted_id:
            return 0
    return 0


def _summary(value: Any) -> HumanMessage | None:
    """The summary message, also from the dict that it becomes on its way through JSON."""
    if isinstance(value, Mapping):
        try:
            value = convert_to_messages([dict(value)])[0]
        except (ValueError, TypeError, KeyError, NotImplementedError):
            return None
    if isinstance(value, BaseMessage) and value.type == "human" and value.content:
        return value if isinstance(value, HumanMessage) else None
    return None
