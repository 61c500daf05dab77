"""Where the history is cut: which messages are summarized, which are kept."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal

Reason = Literal["insufficient_history", "nothing_gained"]
"""Why nothing is summarized: no message may go, or a summary would be as long."""

SMALLEST_RANGE = 128
"""Tokens below which a range is not worth a summary: the frame of a summary message and a
few sentences are as long."""


def choose_cut(
    positions: Sequence[int],
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
        positions: Where no group of the tail is cut in two, ascending.
        tokens: Tokens of each message of the tail, compacted.
        keep: Preferred number of messages to keep.
        room: Tokens that kept messages may have.
        least_if_hopeless: Tokens the range must have when even the newest group does not fit
            (a system prompt above the threshold, say): else every turn would pay a summary.

    Returns:
        How many messages of the tail are summarized, or why none are.
    """
    size = len(tokens)
    cuts = [cut for cut in positions if 0 < cut < size]
    if not cuts:
        return "insufficient_history"
    at = max(0, bisect_right(cuts, size - keep) - 1)
    chosen, kept = cuts[at], sum(tokens[cuts[at] :])
    while kept >= room and at + 1 < len(cuts):
        at += 1
        kept -= sum(tokens[chosen : cuts[at]])
        chosen = cuts[at]
    least = SMALLEST_RANGE if kept < room else max(SMALLEST_RANGE, least_if_hopeless)
    return chosen if sum(tokens[:chosen]) >= least else "nothing_gained"
