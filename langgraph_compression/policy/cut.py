"""Where the history is cut: which messages are summarized, which are kept."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

from langgraph_compression.state.pairing import Pairing

Reason = Literal["insufficient_history", "nothing_gained"]
"""Why nothing is summarized: no message may go, or a summary would be as long."""

SMALLEST_RANGE = 128
"""Tokens below which a range is not worth a summary: the frame of a summary message and a
few sentences are as long."""


def choose_cut(
    pairing: Pairing,
    tokens: Sequence[int],
    *,
    keep: int,
    room: int,
    least_if_hopeless: int = SMALLEST_RANGE,
) -> int | Reason:
    """Choose the cut in a tail of messages that no summary covers yet.

    Prefers to keep the last `keep` messages; moves back to where no group is cut in two,
    forward only if nothing would be summarized. Keeps fewer when the kept messages would
    not fit into `room`. The newest message is kept, with its whole group.

    Args:
        pairing: Calls and results of the tail.
        tokens: Tokens of each message of the tail, compacted.
        keep: Preferred number of messages to keep.
        room: Tokens that kept messages may have.
        least_if_hopeless: Tokens the range must have when even the newest group does not fit
            (a system prompt above the threshold, say): else every turn would pay a summary.

    Returns:
        How many messages of the tail are summarized, or why none are.
    """
    size = len(tokens)
    cuts = [cut for cut in pairing.cuts() if 0 < cut < size]
    if not cuts:
        return "insufficient_history"
    preferred = size - keep
    before = [cut for cut in cuts if cut <= preferred]
    chosen = before[-1] if before else cuts[0]
    upto = [0, *accumulate(tokens)]
    least = SMALLEST_RANGE
    if upto[size] - upto[chosen] >= room:
        later = [cut for cut in cuts if cut > chosen]
        fitting = [cut for cut in later if upto[size] - upto[cut] < room]
        if fitting:
            chosen = fitting[0]
        else:
            chosen, least = cuts[-1], max(least, least_if_hopeless)
    return chosen if upto[chosen] >= least else "nothing_gained"
