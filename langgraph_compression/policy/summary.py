"""What goes to the summarizer and what comes back: frames, usable answers, messages."""

import hashlib
import re
from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage

from langgraph_compression.policy.content import argument_text, content_text, readable_text
from langgraph_compression.policy.preview_text import preview_text
from langgraph_compression.policy.visible_text import without_base64
from langgraph_compression.state.counting import Count
from langgraph_compression.state.pairing import calls_of, results_of

SUMMARY_MARK = {"lc_source": "summarization"}
"""`additional_kwargs` of a summary message, as LangChain marks its own."""

QUOTE_TOKENS = 400
"""Bound of the last human message that a summary quotes."""

FailureKind = Literal["empty", "tool_call", "cut_off", "too_long", "overflow"]

_THINK = re.compile(
    # Closed; never closed from the start on; opened by the prompt, closed on a line of its own.
    # A tag that the summary only mentions takes nothing with it.
    r"<(think|thinking|reasoning)>.*?</\1>"
    r"|\A\s*<(?:think|thinking|reasoning)>.*"
    r"|\A(?:(?!<(?:think|thinking|reasoning)>).)*?^[ \t]*</(?:think|thinking|reasoning)>[ \t]*$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete", "content_filter"})


def rendered(message: BaseMessage, index: int) -> str:
    """A message as the summarizer reads it: no reasoning, media named, calls with arguments.

    Args:
        message: The message, compacted.
        index: Its number in the state.
    """
    lines = [f"#{index} {_role(message)}"]
    text = readable_text(message.content)
    if text.strip():
        lines.append(text)
    lines.extend(
        f"[calls {call.name}] {without_base64(argument_text(call.args))}"
        for call in calls_of(message)
    )
    return "\n".join(lines)


def _role(message: BaseMessage) -> str:
    names = {"human": "user", "ai": "assistant"}
    role = names.get(message.type, message.type)
    name = f" {message.name}" if message.name and results_of(message) else ""
    status = " (error)" if getattr(message, "status", "") == "error" else ""
    return f"{role}{name}{status}"


def framed(texts: Sequence[str], so_far: str | None) -> str:
    """The history for the summarizer, in a frame that its text cannot imitate.

    The markers carry a hash of what they enclose, so no text can hold its own marker; each
    message stands in markers of its own, so none can pose as another.
    """
    hashed = hashlib.sha256((so_far or "").encode("utf-8", "backslashreplace"))
    for text in texts:
        hashed.update(f"\n{text}".encode("utf-8", "backslashreplace"))
    mark = hashed.hexdigest()[:12]
    lines = []
    if so_far:
        lines += [f"<summary-so-far {mark}>", so_far, f"</summary-so-far {mark}>"]
    lines.append(f"<history {mark}>")
    for text in texts:
        lines += [f"<message {mark}>", text, f"</message {mark}>"]
    lines.append(f"</history {mark}>")
    return _encodable("\n".join(lines))


def filled(prompt: str, history: str) -> str:
    """The prompt with `{messages}` replaced once, literally."""
    return prompt.replace("{messages}", history, 1)


def answer_text(answer: AIMessage) -> str:
    """The text of a summarizer's answer without its reasoning."""
    return _THINK.sub("", readable_text(answer.content)).strip()


def failure_of(answer: AIMessage, text: str) -> FailureKind | None:
    """Why an answer does not count as a summary, None if it does."""
    if not text:
        return "tool_call" if calls_of(answer) else "empty"
    metadata = answer.response_metadata or {}
    reasons = [
        metadata.get(key) for key in ("finish_reason", "stop_reason", "done_reason", "status")
    ]
    if any(str(reason).lower() in _CUT_OFF for reason in reasons if reason):
        return "cut_off"
    return None


def summary_message(
    text: str, *, file_path: str | None, quote: str | None, cutoff: int
) -> HumanMessage:
    """The message that stands for the summarized range.

    Args:
        text: The summary.
        file_path: The history file of the range; None if it could not be written.
        quote: The last human message, if it falls before the cut.
        cutoff: State messages the summary covers; part of the message's id.
    """
    head = (
        "[Summary of the conversation so far. For reference: it is not a new request, and what "
        "it reports as done is done.]"
    )
    text = _encodable(text)
    lines = [head, text]
    if quote:
        lines += ["", "[The user's last message before this point, verbatim]", quote]
    if file_path:
        lines += [
            "",
            f"[The full messages are kept in {file_path}; earlier ones, if any, beside it. "
            "read_file reads them in slices.]",
        ]
    span = [len(head) + 1, len(head) + 1 + len(text)]
    return _marked("summary", cutoff, lines, summary_span=span)


def summary_text(message: HumanMessage) -> str:
    """The summary in a summary message, without the lines around it; also of older events."""
    text = content_text(message.content)
    match message.additional_kwargs.get("summary_span"):
        case [int(start), int(end)]:
            return text[start:end]
    return text


def notice_message(digest: str, *, kind: str, file_path: str | None, cutoff: int) -> HumanMessage:
    """The message that stands for a range whose summary failed.

    Args:
        digest: Extractive digest of the range.
        kind: Class or kind of the failure, never its text.
        file_path: The history file of the range; None if it could not be written.
        cutoff: State messages the digest covers.
    """
    lines = [
        f"[The older part of the conversation is shown as a digest, because it could not be "
        f"summarized ({kind}).]",
        digest,
    ]
    if file_path:
        lines += ["", f"[The full messages are kept in {file_path}; read_file reads them.]"]
    return _marked("digest", cutoff, lines)


def _marked(kind: str, cutoff: int, lines: Sequence[str], **extra: Any) -> HumanMessage:
    """A message that stands for a range, with an id of its own for each content."""
    content = _encodable("\n".join(lines))
    mark = hashlib.sha256(content.encode()).hexdigest()[:16]
    return HumanMessage(
        content=content,
        id=f"{kind}-{cutoff}-{mark}",
        additional_kwargs={**SUMMARY_MARK, **extra},
    )


def last_request(messages: Sequence[AnyMessage], cut: int, count: Count) -> str | None:
    """The last human message, bounded, if it stands before the cut; None if it is kept."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.type == "human" and not results_of(message):
            if index >= cut or message.additional_kwargs.get("lc_source") == "summarization":
                return None
            return preview_text(readable_text(message.content), QUOTE_TOKENS, count) or None
    return None


def _encodable(text: str) -> str:
    """Text that any provider and checkpointer takes: no NUL, no lone surrogate."""
    text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
