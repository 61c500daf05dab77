"""What a provider would refuse in a request."""

from collections import Counter
from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from langgraph_compression.state.pairing import calls_of, pair


def flaws_of(request: Sequence[BaseMessage]) -> list[str]:
    """The flaws of a request, each a short text; empty when it is well-formed.

    Each call is answered once, by its own result; no result stands without its call; system
    messages stand at the head; no message is empty; there is a message of the user.
    """
    pairing = pair(request)  # type: ignore[arg-type]
    flaws = [f"result {index} has no call" for index in sorted(pairing.orphans)]
    last = len(request) - 1
    flaws += [
        f"calls of message {index} have no result" for index in pairing.unanswered if index != last
    ]
    answers: Counter[tuple[int, str]] = Counter(
        (caller, call_id) for (_, call_id), caller in pairing.owner.items()
    )
    for (caller, call_id), times in answers.items():
        if times > sum(call.id == call_id for call in pairing.calls[caller]):
            flaws.append(f"a call of message {caller} is answered {times} times")
    head = True
    for index, message in enumerate(request):
        if message.type != "system":
            head = False
        elif not head:
            flaws.append(f"system message {index} is not at the head")
        if not message.content and message.type in ("human", "ai") and not calls_of(message):
            flaws.append(f"message {index} is empty")
    if not any(message.type == "human" for message in request):
        flaws.append("there is no message of the user")
    return flaws
