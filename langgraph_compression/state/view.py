"""The view: which messages of the state a model is sent, and in what shape."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from langchain_core.messages import (
    AnyMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langgraph_compression.state.batches import batches
from langgraph_compression.state.blank import is_blank
from langgraph_compression.state.event import Applied
from langgraph_compression.state.pairing import (
    Call,
    Pairing,
    calls_of,
    is_result_block,
    pair,
    results_of,
)

NO_RESULT = "No result recorded."
LATER = "The result came later; it stands below as a note."


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
    """Split the state messages by what stands for them in the view.

    A summary alone asks nothing: where nothing to show is left behind the cutoff, as after
    the deletion of all of it, the newest message that is left stays beside the summary, with
    its whole group.
    """
    lead = leading_system(messages)
    if applied is None:
        return Parts(list(messages[:lead]), [], lead, list(messages[lead:]))
    start = max(_shown_from(messages, applied.cutoff), lead)
    return Parts(list(messages[:lead]), [applied.summary], start, list(messages[start:]))


def _shown_from(messages: Sequence[AnyMessage], cutoff: int) -> int:
    if any(map(_is_shown, messages[cutoff:])):
        return cutoff
    return max(cuts_that_show(messages, pair(messages)), default=cutoff)


def cuts_that_show(messages: Sequence[AnyMessage], pairing: Pairing) -> list[int]:
    """Positions, ascending, at which no group is cut and behind which something is shown."""
    newest = next((at for at in reversed(range(len(messages))) if _is_shown(messages[at])), -1)
    return [cut for cut in pairing.cuts() if cut <= newest]


def _is_shown(message: AnyMessage) -> bool:
    """Whether a view in shape has a place for the message behind its head."""
    return message.type != "system" and not is_blank(message)


def plain_view(messages: Sequence[AnyMessage], applied: Applied | None) -> list[AnyMessage]:
    """The view before any compaction: the state messages, or summary and tail in shape."""
    if applied is None:
        return list(messages)
    return shaped_view(messages, parts(messages, applied))


def shaped_view(
    messages: Sequence[AnyMessage], of: Parts, pairing: Pairing | None = None
) -> list[AnyMessage]:
    """Leading system messages, front and tail, in a shape that providers accept.

    System messages are joined at the head; empty messages are left out. Providers demand the
    results of a call directly behind its message: a result that is not there, because its
    call is not shown or something else came between, becomes a human note that names the
    tool, in its own place, and a call left without one gets a short result that says so. A
    message that needs no change stays the same object, in its place.

    Args:
        messages: All state messages, to find the names of tools called before the tail.
        of: What to show; its tail may hold replacements of state messages.
        pairing: Calls and results of the tail, where they are known.
    """
    pairing = pairing or pair(of.tail)
    system = [*of.leading, *(message for message in of.tail if message.type == "system")]
    indexes = [index for index, message in enumerate(of.tail) if _is_shown(message)]
    notes, later, never = batches(of.tail, indexes, pairing)

    def name_of(index: int, call_id: str) -> str | None:
        """The tool of the call that a result answers."""
        owner = pairing.owner.get((index, call_id))
        callers = reversed(messages[: of.start]) if owner is None else [of.tail[owner]]
        calls = (call for message in callers for call in calls_of(message))
        return next((call.name for call in calls if call.id == call_id), None)

    shown: list[AnyMessage] = list(of.front)
    for index in indexes:
        message = of.tail[index]
        if index in notes:
            message = _as_note(message, notes[index], partial(name_of, index))
        shown.append(message)
        # Directly behind the call, so that the view ends as the state ends.
        shown.extend(_short_result(call, NO_RESULT) for call in never.get(index, ()))
        shown.extend(_short_result(call, LATER) for call in later.get(index, ()))
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


def _short_result(call: Call, text: str) -> AnyMessage:
    """What stands where a call's result should."""
    if call.id.startswith("function_call:"):
        return FunctionMessage(name=call.name, content=text)
    return ToolMessage(content=text, tool_call_id=call.id, name=call.name, status="error")


def _as_note(
    message: AnyMessage, noted: Sequence[int], name_of: Callable[[str], str | None]
) -> AnyMessage:
    """A result that cannot stand as one, as a human message with the same id.

    In a message of blocks only the results `noted`, by their order in it, become text; the
    others come first, where providers want them.
    """
    if message.type in ("tool", "function"):
        name = message.name or name_of(results_of(message)[0])
        content: Any = message.content
        head = _note_head(name)
        if isinstance(content, str):
            return HumanMessage(content=f"{head}\n{content}", id=message.id)
        return HumanMessage(content=[{"type": "text", "text": head}, *content], id=message.id)
    results: list[Any] = []
    others: list[Any] = []
    which = 0
    for block in _blocks(message.content):
        if not is_result_block(block):
            others.append(block)
            continue
        if which in noted:
            others.append({"type": "text", "text": _note_head(name_of(block["tool_use_id"]))})
            others.extend(_blocks(block.get("content") or []))
        else:
            results.append(block)
        which += 1
    return message.model_copy(update={"content": [*results, *others]})


def _note_head(name: str | None) -> str:
    return f"[Result of an earlier call of the tool {name or 'unknown'}]"
