"""Ids that a transcript lacks: of messages, and of calls and their results."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage


def identified(messages: Sequence[AnyMessage]) -> tuple[list[AnyMessage], list[str]]:
    """Give each message an id of its own, and each call and result an id.

    LangGraph replaces a message by a later one of the same id, so an id that was there
    before is given up. Made-up ids depend on the place alone. A result without id answers
    the next open call of the nearest assistant message, by name if it has one.

    Returns:
        The messages, and notes of what was made up.
    """
    done: list[AnyMessage] = []
    taken: set[str] = set()
    repeated = missing = answered = 0
    waiting: list[tuple[str, str]] = []
    for number, message in enumerate(messages, 1):
        if isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls):
            message, count = _with_call_ids(message, number)
            missing += count
            calls = [*message.tool_calls, *message.invalid_tool_calls]
            waiting = [(str(call["id"]), str(call["name"])) for call in calls]
        elif isinstance(message, ToolMessage):
            if not message.tool_call_id:
                answered += 1
                call_id = _answered(message, waiting) or f"no-call-{number}"
                message = message.model_copy(update={"tool_call_id": call_id})
            waiting = [call for call in waiting if call[0] != message.tool_call_id]
        if not message.id or message.id in taken:
            repeated += bool(message.id)
            message = message.model_copy(update={"id": _free(f"message-{number:05}", taken)})
        taken.add(str(message.id))
        done.append(message)
    notes = [
        f"{count} {what}"
        for count, what in (
            (repeated, "message ids were there before; these messages have new ones"),
            (missing, "calls had no id and have one now"),
            (answered, "results had no call id and were assigned by their place"),
        )
        if count
    ]
    return done, notes


def _with_call_ids(message: AIMessage, number: int) -> tuple[AIMessage, int]:
    missing = 0
    copies: dict[str, list[dict[str, object]]] = {"tool_calls": [], "invalid_tool_calls": []}
    for key, calls in copies.items():
        for call in getattr(message, key):
            missing += not call["id"]
            calls.append({**call, "id": call["id"] or f"call_{number}_{missing}"})
    return (message.model_copy(update=copies) if missing else message), missing


def _answered(result: ToolMessage, waiting: Sequence[tuple[str, str]]) -> str | None:
    named = [call_id for call_id, name in waiting if name == result.name]
    return next(iter(named or [call_id for call_id, _ in waiting]), None)


def _free(wanted: str, taken: set[str]) -> str:
    return wanted if wanted not in taken else _free(f"{wanted}-again", taken)
