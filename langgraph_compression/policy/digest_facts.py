"""What a digest tells, gathered from the messages in one pass."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage

from langgraph_compression.policy.content import readable_text
from langgraph_compression.policy.summary import SUMMARY_MARK, answer_text
from langgraph_compression.policy.telling_lines import decision_in, error_line
from langgraph_compression.state.pairing import calls_of, pair, results_of

_FILE_KEYS = (
    "file_path", "path", "filename", "file_name", "filepath", "file", "target_file",
    "notebook_path", "paths", "files",
)  # fmt: skip
_PATH_CHARS = 300
_ARGUMENT_CHARS = 20_000
"""Arguments that are a text are not parsed beyond this."""
_HEAD_CHARS, _TAIL_CHARS = 2000, 500
"""What is kept of a result: enough for an excerpt and for the last line of a traceback."""


@dataclass
class Request:
    """One message of the user and the assistant's last text before the next one."""

    text: str
    answer: str = ""


@dataclass
class ToolCall:
    """One call and its outcome."""

    name: str
    args: Mapping[str, Any]
    result: str | None = None
    """Beginning and end of the result; None without a result."""
    error: str | None = None
    """The line of the result that tells the failure; None if it succeeded."""


@dataclass
class Facts:
    """What happened in a range of messages, in order."""

    messages: int = 0
    earlier: str = ""
    """Text of the last summary among the messages."""
    requests: list[Request] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    """Sentences of the assistant that tell a decision, each once."""
    last_answer: str = ""
    answered: bool = True
    """The assistant has written something after the last request."""

    def said(self) -> list[str]:
        """What the user said, or the assistant if he said nothing."""
        return [request.text for request in self.requests] or [self.last_answer]


def gather(messages: Sequence[AnyMessage]) -> Facts:
    """The facts of the messages. Never raises, whatever content they have; linear time."""
    facts = Facts(messages=len(messages))
    pairing = pair(messages)
    by_call: dict[tuple[int, str], list[ToolCall]] = {}
    for index, message in enumerate(messages):
        if message.additional_kwargs.get("lc_source") == SUMMARY_MARK["lc_source"]:
            facts.earlier = _text(message.content)
            continue
        for call in calls_of(message):
            made = ToolCall(call.name, _arguments(call.args))
            by_call.setdefault((index, call.id), []).append(made)
            facts.calls.append(made)
        for call_id, text, failed in _results(message):
            owner = pairing.owner.get((index, call_id), -1)
            open_calls = by_call.get((owner, call_id), [])
            call_made = next((made for made in open_calls if made.result is None), None)
            if call_made is None:
                call_made = ToolCall(str(message.name or "?"), {})
                facts.calls.append(call_made)
            call_made.error = error_line(text, failed=failed)
            call_made.result = _ends(text)
        _talk(facts, message)
    return facts


def _talk(facts: Facts, message: BaseMessage) -> None:
    role = getattr(message, "role", "")
    if isinstance(message, AIMessage) or role in ("assistant", "ai"):
        text = answer_text(message) if isinstance(message, AIMessage) else _plain(message)
        if text:
            facts.last_answer, facts.answered = text, True
            decision = decision_in(text)
            if decision and decision not in facts.decisions[-50:]:
                facts.decisions.append(decision)
            if facts.requests:
                facts.requests[-1].answer = text
    elif isinstance(message, HumanMessage) or role in ("user", "human"):
        text = "" if results_of(message) else _plain(message)
        if text:
            facts.requests.append(Request(text))
            facts.answered = False


def _plain(message: BaseMessage) -> str:
    return _text(message.content).strip()


def _text(content: str | list[Any]) -> str:
    """Text as it is, however long: only what is shown of it is cleaned."""
    return content if isinstance(content, str) else readable_text(content)


def _results(message: BaseMessage) -> Iterator[tuple[str, str, bool]]:
    """Call id, text and declared failure of every result in a message."""
    ids = results_of(message)
    if not ids:
        return
    if message.type in ("tool", "function"):
        yield ids[0], _text(message.content), getattr(message, "status", "") == "error"
        return
    for block in message.content:
        if isinstance(block, dict) and block.get("tool_use_id") in ids:
            text = _text(block.get("content") or "")
            yield block["tool_use_id"], text, block.get("is_error") is True


def _arguments(args: object) -> Mapping[str, Any]:
    """The arguments of a call as names and values, also of a call that did not parse."""
    if isinstance(args, str):
        try:
            args = json.loads(args[:_ARGUMENT_CHARS])
        except (ValueError, RecursionError):
            return {"arguments": args}
    return args if isinstance(args, Mapping) else {} if args is None else {"arguments": args}


def _ends(text: str) -> str:
    if len(text) <= _HEAD_CHARS + _TAIL_CHARS:
        return text
    return f"{text[:_HEAD_CHARS]}\n…\n{text[-_TAIL_CHARS:]}"


# -- files and open tasks --------------------------------------------------------------------


def files_of(call: ToolCall) -> list[str]:
    """Paths that a call names in its arguments."""
    found: list[str] = []
    for key in _FILE_KEYS:
        value = call.args.get(key)
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, str) and _is_file(path) and path not in found:
                found.append(path)
    return found


def _is_file(path: str) -> bool:
    plain = path.strip()
    return 0 < len(plain) <= _PATH_CHARS and plain.strip("./") != "" and "\n" not in plain


def open_tasks(calls: Sequence[ToolCall]) -> list[str]:
    """Entries of the assistant's last to-do list that are not done."""
    for call in reversed(calls):
        todos = call.args.get("todos")
        if isinstance(todos, list):
            return [
                f"{todo.get('content') or todo.get('title')} ({todo.get('status', '?')})"
                for todo in todos
                if isinstance(todo, dict)
                and (todo.get("content") or todo.get("title"))
                and todo.get("status") not in ("completed", "done", "cancelled")
            ]
    return []
