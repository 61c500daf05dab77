"""How a transcript is replayed: what is given to the thread, and what was answered then."""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, AnyMessage

from langgraph_compression.state.pairing import calls_of, results_of


@dataclass(frozen=True)
class Planned:
    """One request of the model."""

    turn: int
    """Messages of the user so far."""
    given: list[AnyMessage]
    """Messages that come in before the request."""
    answer: AIMessage | None
    """What was answered; None for the last request, which is not in the recording."""


def whole(messages: Sequence[AnyMessage]) -> list[Planned]:
    """One request for the whole transcript."""
    return [Planned(_turns(messages), list(messages), None)]


def turn_by_turn(messages: Sequence[AnyMessage]) -> list[Planned]:
    """A request for each recorded answer, and one for what would be asked next.

    An answer that follows another one without anything said in between, or calls that have
    no result, was not asked for: it comes in with what follows it.
    """
    plan: list[Planned] = []
    given: list[AnyMessage] = []
    waiting: set[str] = set()
    turn = 0
    for message in messages:
        turn += message.type == "human"
        if isinstance(message, AIMessage):
            if given and not isinstance(given[-1], AIMessage) and not waiting:
                plan.append(Planned(turn, given, message))
                given = []
            else:
                given.append(message)
            waiting = {call.id for call in calls_of(message)}
        else:
            given.append(message)
            waiting -= set(results_of(message))
            if message.type == "human" and not results_of(message):
                waiting = set()  # the user went on without these results
    return [*plan, Planned(turn, given, None)]


def _turns(messages: Sequence[AnyMessage]) -> int:
    return sum(message.type == "human" for message in messages)
