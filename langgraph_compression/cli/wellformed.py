"""What a chat provider would refuse in a request."""

from collections import Counter
from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from langgraph_compression.state.pairing import calls_of, results_of


def flaws_of(request: Sequence[BaseMessage], *, may_end_open: bool = False) -> list[str]:
    """The flaws of a request, each a short text; empty when it is well-formed.

    System messages stand at the head. Each call is answered once, by a result that follows
    its message before anything else does. No message is empty. There is one of the user.

    Args:
        request: The messages as they are sent.
        may_end_open: The calls of the last assistant message may wait for results.
    """
    flaws: list[str] = []
    waiting: Counter[str] = Counter()
    answered: set[str] = set()
    caller = 0
    is_head = True
    for number, message in enumerate(request, 1):
        if message.type == "system":
            if not is_head:
                flaws.append(f"message {number}: a system message that is not at the head")
            continue
        is_head = False
        results = results_of(message)
        for call_id in results:
            if waiting[call_id]:
                waiting[call_id] -= 1
                answered.add(call_id)
            elif call_id in answered:
                flaws.append(f"message {number}: a second answer to a call of message {caller}")
            else:
                flaws.append(f"message {number}: a result without its call before it")
        if results:
            continue
        if +waiting:
            flaws.append(f"message {caller}: {(+waiting).total()} calls without a result")
        caller, answered = number, set()
        calls = calls_of(message)
        waiting = Counter(call.id for call in calls)
        if len(waiting) < len(calls):
            flaws.append(f"message {number}: two calls of one id")
        if not message.content and not calls and message.type in ("human", "ai"):
            flaws.append(f"message {number}: empty")
    if +waiting and not may_end_open:
        flaws.append(f"message {caller}: {(+waiting).total()} calls without a result")
    if not any(message.type == "human" for message in request):
        flaws.append("no message of the user")
    return flaws
