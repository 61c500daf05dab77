"""Which results stand directly behind the message of their call, as providers demand."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from langchain_core.messages import AnyMessage

from langgraph_compression.state.pairing import Call, Pairing, results_of


class Batches(NamedTuple):
    """Calls and results as a request can show them, by index in the list of messages."""

    notes: dict[int, list[int]]
    """Index of a message → which of its results answer no call that waits directly before."""
    later: dict[int, list[Call]]
    """Assistant index → its calls whose results are all among the notes."""
    never: dict[int, list[Call]]
    """Assistant index → its calls without a result, where none can follow any more."""


def batches(messages: Sequence[AnyMessage], shown: Iterable[int], pairing: Pairing) -> Batches:
    """Find the results that something stands before which is no result of the same message.

    Args:
        messages: The messages.
        shown: Indexes, ascending, of those that stand in the request one after another.
        pairing: Their calls and results.
    """
    notes: dict[int, list[int]] = {}
    open_calls: dict[int, Counter[str]] = {}
    waiting = -1  # the assistant message whose results may follow here
    for index in shown:
        message = messages[index]
        answered = results_of(message)
        for which, call_id in enumerate(answered):
            if pairing.owner.get((index, call_id)) == waiting and open_calls[waiting][call_id]:
                open_calls[waiting][call_id] -= 1
            else:
                notes.setdefault(index, []).append(which)
        if calls := pairing.calls.get(index):
            open_calls[index], waiting = Counter(call.id for call in calls), index
        elif index in notes or len(answered) < _parts(message):
            waiting = -1
    later: dict[int, list[Call]] = {}
    never: dict[int, list[Call]] = {}
    for index, left in open_calls.items():
        unanswered = pairing.unanswered.get(index, [])
        if unanswered and not (index == waiting and pairing.is_pending(index)):
            never[index] = unanswered
        left -= Counter(call.id for call in unanswered)
        for call in pairing.calls[index] if left else ():
            if left[call.id]:
                left[call.id] -= 1
                later.setdefault(index, []).append(call)
    return Batches(notes, later, never)


def _parts(message: AnyMessage) -> int:
    """How many things a message says: one, or as many as it has blocks that may be results."""
    if message.type in ("tool", "function") or isinstance(message.content, str):
        return 1
    return len(message.content)
