"""Which result belongs to which call, and where a conversation may be cut."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage

CALL_BLOCKS = frozenset({"tool_use", "function_call", "tool_call", "custom_tool_call"})
"""Content block types that are tool calls which the application answers."""


class Call(NamedTuple):
    """One call of a tool, as far as pairing needs it."""

    id: str
    name: str
    args: Any


def calls_of(message: BaseMessage) -> list[Call]:
    """Every call of an assistant message, each once, wherever the provider package put it.

    `tool_calls`, `invalid_tool_calls` and the provider's copy in `additional_kwargs` are
    read together; content blocks only if those are empty, because they may list the same
    calls under other ids. Calls without an id cannot be answered and are left out. The old
    `function_call` has no id and goes by its name.
    """
    if not isinstance(message, AIMessage):
        return []
    found = [
        Call(str(call["id"]), str(call.get("name")), call.get("args"))
        for call in [*message.tool_calls, *message.invalid_tool_calls]
        if call.get("id")
    ]
    extra = message.additional_kwargs
    if extra:
        ids = {call.id for call in found}
        for raw in extra.get("tool_calls") or ():
            if isinstance(raw, dict) and raw.get("id") and raw["id"] not in ids:
                function = raw.get("function")
                function = function if isinstance(function, dict) else {}
                found.append(Call(raw["id"], str(function.get("name")), function.get("arguments")))
        old = extra.get("function_call")
        if isinstance(old, dict) and old.get("name"):
            found.append(Call(_by_name(old["name"]), str(old["name"]), old.get("arguments")))
    if not found and isinstance(message.content, list):
        for block in message.content:
            if isinstance(block, dict) and block.get("type") in CALL_BLOCKS:
                call_id = block.get("call_id") or block.get("id")
                if call_id:
                    args = block.get("input", block.get("arguments", block.get("args")))
                    found.append(Call(call_id, str(block.get("name")), args))
    return found


def results_of(message: BaseMessage) -> list[str]:
    """Ids of the calls that a message answers: one for a tool message, any number for blocks."""
    if message.type == "tool":
        return [message.tool_call_id]  # type: ignore[attr-defined]
    if message.type == "function":
        return [_by_name(message.name)]
    if isinstance(message.content, list):
        return [block["tool_use_id"] for block in message.content if is_result_block(block)]
    return []


def is_result_block(block: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a content block is the result of a call."""
    return (
        isinstance(block, dict)
        and block.get("type") == "tool_result"
        and bool(block.get("tool_use_id"))
    )


def _by_name(name: str | None) -> str:
    return f"function_call:{name}"


@dataclass
class Pairing:
    """How calls and results of a list of messages belong together, by index in that list."""

    size: int
    calls: dict[int, list[Call]] = field(default_factory=dict)
    """Assistant index → its calls."""
    owner: dict[tuple[int, str], int] = field(default_factory=dict)
    """(index of a result, call id) → index of the assistant message it belongs to."""
    orphans: dict[int, list[str]] = field(default_factory=dict)
    """Index of a message → ids it answers that no earlier message called."""
    last: dict[int, int] = field(default_factory=dict)
    """Assistant index → index of its last result, or itself."""
    unanswered: dict[int, list[Call]] = field(default_factory=dict)
    """Assistant index → calls without a result."""
    pending_from: int = 0
    """From here no human or assistant message follows: open calls may still be answered."""
    last_assistant: int = -1
    """The model has seen everything before its last message; -1 if it said none."""

    def is_pending(self, assistant: int) -> bool:
        """Whether calls of this assistant message wait for results still to come."""
        return assistant in self.unanswered and assistant >= self.pending_from

    def cuts(self) -> list[int]:
        """Positions, ascending, at which no group is cut in two: 0 … size."""
        reach = [0] * (self.size + 1)
        for first, last in self.last.items():
            last = self.size if self.is_pending(first) else last
            if last > first:
                reach[first + 1] += 1
                if last < self.size:
                    reach[last + 1] -= 1
        cuts, depth = [], 0
        for position, change in enumerate(reach):
            depth += change
            if depth == 0:
                cuts.append(position)
        return cuts


def pair(messages: Sequence[AnyMessage]) -> Pairing:
    """Assign every result to its call.

    A result belongs to the nearest earlier assistant message that has an open call of its
    id, else to the nearest one with that id (a further result), else to none.
    """
    pairing = Pairing(len(messages))
    open_calls: dict[str, list[tuple[int, int]]] = {}  # id → (assistant index, which call)
    latest: dict[str, int] = {}
    for index, message in enumerate(messages):
        if message.type in ("human", "ai"):
            pairing.pending_from = index
            if message.type == "ai":
                pairing.last_assistant = index
        calls = calls_of(message)
        if calls:
            pairing.calls[index] = calls
            pairing.last[index] = index
            for which, call in enumerate(calls):
                open_calls.setdefault(call.id, []).append((index, which))
                latest[call.id] = index
        for call_id in results_of(message):
            waiting = open_calls.get(call_id)
            if waiting:
                caller, _ = waiting.pop()
            elif call_id in latest:
                caller = latest[call_id]
            else:
                pairing.orphans.setdefault(index, []).append(call_id)
                continue
            pairing.owner[index, call_id] = caller
            pairing.last[caller] = index
    for index, which in sorted(one for waiting in open_calls.values() for one in waiting):
        pairing.unanswered.setdefault(index, []).append(pairing.calls[index][which])
    return pairing
