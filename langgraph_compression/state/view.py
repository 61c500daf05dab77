"""The view: which messages of the state a model is sent, and in what shape."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import (
    AnyMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langgraph_compression.state.event import Applied
from langgraph_compression.state.pairing import Call, Pairing, calls_of, pair, results_of

NO_RESULT = "No result recorded."
REASONING_BLOCKS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content"})
"""Block types that hold what a model thought."""


class Parts(NamedTuple):
    """What a view is built of. `tail` starts at state message `start`."""

    leading: list[AnyMessage]
    """System messages at the head of the state: never summarized."""
    front: list[AnyMessage]
    """The summary, a notice with a digest, or nothing."""
    start: int
    tail: list[AnyMessage]


def leading_system(messages: Sequence[AnyMessage]) -> int:
    """How many system messages stand at the head of the state."""
    count = 0
    for message in messages:
        if message.type != "system":
            break
        count += 1
    return count


def parts(messages: Sequence[AnyMessage], applied: Applied | None) -> Parts:
    """Split the state messages by what stands for them in the view."""
    lead = leading_system(messages)
    if applied is None:
        return Parts(list(messages[:lead]), [], lead, list(messages[lead:]))
    start = max(applied.cutoff, lead)
    return Parts(list(messages[:lead]), [applied.summary], start, list(messages[start:]))


def plain_view(messages: Sequence[AnyMessage], applied: Applied | None) -> list[AnyMessage]:
    """The view before any compaction: the state messages, or summary and tail in shape."""
    if applied is None:
        return list(messages)
    return shaped_view(messages, parts(messages, applied))


def shaped_view(
    messages: Sequence[AnyMessage], of: Parts, pairing: Pairing | None = None
) -> list[AnyMessage]:
    """Leading system messages, front and tail, in a shape that providers accept.

    System messages are joined at the head; empty messages are left out; a call that was
    abandoned gets a short result; a result without its call becomes a human note that
    names the tool. A message that needs no change stays the same object, in its place.

    Args:
        messages: All state messages, to find the names of tools called before the tail.
        of: What to show; its tail may hold replacements of state messages.
        pairing: Calls and results of the tail, where they are known.
    """
    pairing = pairing or pair(of.tail)
    system = list(of.leading)
    shown: list[AnyMessage] = list(of.front)
    # Directly behind the call, so that the view ends as the state ends.
    missing = {
        index: _no_results(calls)
        for index, calls in pairing.unanswered.items()
        if not pairing.is_pending(index)
    }

    def name_of(call_id: str) -> str | None:
        for message in reversed(messages[: of.start]):
            for call in calls_of(message):
                if call.id == call_id:
                    return call.name
        return None

    for index, message in enumerate(of.tail):
        if message.type == "system":
            system.append(message)
            continue
        if index in pairing.orphans:
            shown.append(_as_note(message, pairing.orphans[index], name_of))
        elif not _is_empty(message):
            shown.append(message)
        shown.extend(missing.get(index, ()))
    return [*joined_system(system), *shown]


def joined_system(system: Sequence[AnyMessage]) -> list[AnyMessage]:
    """One system message that says what all of these say; none for none."""
    told = [message for message in system if message.content]
    if len(told) <= 1:
        return list(told)
    first = told[0]
    if all(isinstance(message.content, str) for message in told):
        content: Any = "\n\n".join(str(message.content) for message in told)
    else:
        content = [block for message in told for block in _blocks(message.content)]
    return [SystemMessage(content=content, id=first.id)]


def request_messages(
    system_prompt: str | None, view: Sequence[AnyMessage], *, shaped: bool
) -> list[AnyMessage]:
    """The messages of a request: the configured system prompt and the view.

    In a shaped view the prompt and the view's system message become one.
    """
    if not system_prompt:
        return list(view)
    prompt = SystemMessage(content=system_prompt)
    if shaped and view and view[0].type == "system":
        return [*joined_system([prompt, view[0]]), *view[1:]]
    return [prompt, *view]


def _blocks(content: str | list[Any]) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _is_empty(message: AnyMessage) -> bool:
    """Whether a provider would refuse the message because it says nothing."""
    if message.type not in ("human", "ai"):
        return False
    content = message.content
    blank = _is_blank(content) if isinstance(content, str) else all(map(_says_nothing, content))
    return blank and not calls_of(message) and not results_of(message)


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _says_nothing(block: Any) -> bool:
    if isinstance(block, str):
        return _is_blank(block)
    kind = block.get("type")
    return kind in REASONING_BLOCKS or (kind == "text" and _is_blank(str(block.get("text", ""))))


def _no_results(calls: Sequence[Call]) -> list[AnyMessage]:
    """A short result for each call that never got one."""
    return [
        FunctionMessage(name=call.name, content=NO_RESULT)
        if call.id.startswith("function_call:")
        else ToolMessage(content=NO_RESULT, tool_call_id=call.id, name=call.name, status="error")
        for call in calls
    ]


def _as_note(
    message: AnyMessage, orphans: Sequence[str], name_of: Callable[[str], str | None]
) -> AnyMessage:
    """A result whose call is not shown, as a human message with the same id.

    In a message of blocks only the orphaned results become text.
    """
    if message.type in ("tool", "function"):
        name = message.name or name_of(orphans[0])
        content: Any = message.content
        head = _note_head(name)
        if isinstance(content, str):
            return HumanMessage(content=f"{head}\n{content}", id=message.id)
        return HumanMessage(content=[{"type": "text", "text": head}, *content], id=message.id)
    blocks: list[Any] = []
    for block in _blocks(message.content):
        if (
            isinstance(block, dict)
            and block.get("type") == "tool_result"
            and block.get("tool_use_id") in orphans
        ):
            blocks.append({"type": "text", "text": _note_head(name_of(block["tool_use_id"]))})
            blocks.extend(_blocks(block.get("content") or ""))
        else:
            blocks.append(block)
    return message.model_copy(update={"content": blocks})


def _note_head(name: str | None) -> str:
    return f"[Result of an earlier call of the tool {name or 'unknown'}]"
