"""Reading the summarization event: to which messages does it apply?"""

import hashlib
import json
from collections.abc import Mapping, Sequence
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


def message_digest(message: BaseMessage) -> str:
    """A digest of what a message says; the same before and after a checkpoint.

    Returns:
        32 hexadecimal digits.
    """
    said = [
        message.type,
        message.content,
        getattr(message, "tool_calls", None) or [],
        getattr(message, "tool_call_id", None),
    ]
    try:
        text = json.dumps(said, ensure_ascii=False, default=str)
    except RecursionError:
        text = f"{message.type} {len(str(message.id))}"
    # Checkpoint serializers replace lone surrogates, each in its own way.
    data = text.encode("utf-8", "replace").replace("\ufffd".encode(), b"?")
    return hashlib.sha256(data).hexdigest()[:32]


def binding(messages: Sequence[AnyMessage], cutoff: int) -> dict[str, Any]:
    """The fields that tie an event to the last message it covers."""
    last = messages[cutoff - 1]
    return {"last_id": last.id, "last_digest": message_digest(last)}


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
    return Applied(place, summary, path) if place else None


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
