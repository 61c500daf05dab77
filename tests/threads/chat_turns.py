"""Turns of a chat with tools whose every message can be told from its number."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

LENGTH = 5
"""Messages of a turn: the user's, two calls in one, two results, the answer."""


def given_next(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """What is given to the graph after these messages: the user's next, or the results."""
    number = len(messages) // LENGTH
    if is_over(messages):
        text = f"Turn {number}: 码头 " + "which ferry is late? " * 25
        return [HumanMessage(text, id=f"user-{number}")]
    # One result is long enough to be saved to a file, one is not.
    rows = [f"berth {berth}: ferry {number * berth} on time\n" for berth in range(60)]
    return [
        ToolMessage("".join(rows), tool_call_id=f"long-{number}", id=f"long-result-{number}"),
        ToolMessage("9 °C", tool_call_id=f"short-{number}", id=f"short-result-{number}"),
    ]


def is_over(messages: Sequence[BaseMessage]) -> bool:
    """Whether the last turn was answered."""
    return len(messages) % LENGTH == 0


def reply_to(messages: Sequence[BaseMessage]) -> AIMessage:
    """What the model says to the last message."""
    kind, _, number = str(messages[-1].id).rpartition("-")
    if kind == "user":
        calls = [
            {"name": name, "args": {"turn": number}, "id": f"{name}-{number}", "type": "tool_call"}
            for name in ("long", "short")
        ]
        return AIMessage("Let me see.", tool_calls=calls, id=f"calls-{number}")
    return AIMessage(f"No ferry is late in turn {number}.", id=f"answer-{number}")


def whole_chat(turns: int) -> list[BaseMessage]:
    """All messages after a number of turns."""
    messages: list[BaseMessage] = []
    while len(messages) < turns * LENGTH:
        messages += given_next(messages)
        messages.append(reply_to(messages))
    return messages
