"""What each check of a scenario means, over what was observed.

A check returns True or False; None where it cannot be judged, because an error came first.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from langchain_core.messages import BaseMessage

from tests.cases.observed import Observed
from tests.cases.reading import (
    call_ids,
    orphans,
    readable,
    reference_tokens,
    result_ids,
    results_of_group,
)

RESULTS, HISTORY = "outputs/large_tool_results/", "outputs/conversation_history/"
Given = Mapping[str, Any]
CHECKS: dict[str, Callable[[Observed, Given], bool | None]] = {}


def check(function: Callable[[Observed, Given], bool | None]) -> Any:
    CHECKS[function.__name__] = function
    return function


def of_view(function: Callable[[Observed, Given], bool | None]) -> Any:
    """A check of the view: without a request it fails, or an error came first."""

    def judged(seen: Observed, given: Given) -> bool | None:
        if not seen.requests:
            return None if seen.raised else False
        return function(seen, given)

    CHECKS[function.__name__] = judged
    return judged


# -- helpers


def named(messages: list[BaseMessage], message_id: str) -> BaseMessage | None:
    return next((message for message in messages if message.id == message_id), None)


def said(message: BaseMessage) -> tuple[Any, ...]:
    return (
        message.type,
        message.content,
        getattr(message, "tool_calls", None),
        message.additional_kwargs,
        getattr(message, "tool_call_id", None),
    )


def text_of(messages: list[BaseMessage]) -> str:
    """All that a model could read."""
    parts = []
    for message in messages:
        parts.append(readable(message.content))
        calls = getattr(message, "tool_calls", None) or []
        broken = getattr(message, "invalid_tool_calls", None) or []
        parts += [f"{call['name']} {_as_text(call['args'])}" for call in [*calls, *broken]]
        raw = message.additional_kwargs.get("tool_calls") or []
        parts += [str(call.get("function", {}).get("arguments")) for call in raw]
    return "\n".join(parts)


def _as_text(args: Any) -> str:
    return args if isinstance(args, str) else json.dumps(args, ensure_ascii=False, default=str)


def size(messages: list[BaseMessage]) -> int:
    return sum(map(reference_tokens, messages))


def shown(seen: Observed, message_id: str) -> str:
    message = named(seen.view, message_id)
    return "" if message is None else readable(message.content)


def own_text(seen: Observed, message_id: str) -> str:
    message = named(seen.after, message_id)
    assert message is not None
    if isinstance(message.content, str):
        return message.content
    return "\n".join(b if isinstance(b, str) else b.get("text", "") for b in message.content)


def files_named(seen: Observed, message_id: str) -> list[str]:
    return [path for path in seen.files if path in shown(seen, message_id)]


def stored_forms(text: str) -> set[str]:
    """A text as a file may hold it: lone surrogates have no UTF-8 form."""
    return {text, *(text.encode("utf-8", how).decode() for how in ("replace", "backslashreplace"))}


def args_of(seen: Observed, message_id: str) -> list[dict[str, Any]]:
    message = named(seen.view, message_id)
    return [call["args"] for call in message.tool_calls] if message else []  # type: ignore[attr-defined]


def copies_of_args(message: BaseMessage) -> Iterator[list[Any]]:
    """For each call every copy of its arguments; None for one that does not parse."""
    first = [call["args"] for call in message.tool_calls]  # type: ignore[attr-defined]
    raw = message.additional_kwargs.get("tool_calls") or []
    second = [_parsed(call.get("function", {}).get("arguments")) for call in raw]
    blocks = message.content if isinstance(message.content, list) else []
    third = [
        _parsed(block.get("input", block.get("arguments")))
        for block in blocks
        if isinstance(block, dict) and block.get("type") in ("tool_use", "function_call")
    ]
    for number in range(len(first)):
        yield [copies[number] for copies in (first, second, third) if number < len(copies)]


def _parsed(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None


def payloads(messages: list[BaseMessage]) -> set[str]:
    """Long strings of media blocks."""
    found: set[str] = set()
    todo: list[Any] = [m.content for m in messages if isinstance(m.content, list)]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo += value.values()
            keys = ("base64", "data", "url", "image_url", "file_data")
            found |= {
                value[k] for k in keys if isinstance(value.get(k), str) and len(value[k]) > 2000
            }
        elif isinstance(value, list):
            todo += value
    return found


def event_key(event: Any) -> Any:
    return event and (event["cutoff_index"], summary_text(event), event.get("file_path"))


def summary_text(event: Any) -> str:
    return readable(event["summary_message"].content) if event else ""


def added(seen: Observed) -> list[BaseMessage]:
    """Messages of the view that are not of the state."""
    known = {m.id for m in seen.after if m.id} | {str(m.content) for m in seen.after if not m.id}
    return [m for m in seen.view if (m.id or str(m.content)) not in known]


def group(seen: Observed, given: Given) -> list[BaseMessage]:
    """An assistant message with the results of its calls."""
    caller = next(i for i, m in enumerate(seen.after) if m.id == given["call_message"])
    wanted = given.get("results")
    results = results_of_group(seen.after, caller)
    return [seen.after[caller], *(m for m in results if wanted is None or m.id in wanted)]


def has_event(seen: Observed, status: str) -> bool:
    return any(event["status"] == status for event in seen.events)


# -- errors


@check
def no_exception(seen: Observed, given: Given) -> bool:
    return seen.raised is None


@check
def no_exception_or(seen: Observed, given: Given) -> bool:
    return seen.raised is None or raises(seen, given)


@check
def raises(seen: Observed, given: Given) -> bool:
    names = {kind.__name__ for kind in type(seen.raised).__mro__}
    return seen.raised is not None and bool(names & set(given["names"]))


@check
def original_error_raised(seen: Observed, given: Given) -> bool:
    return given["text"] in str(seen.raised)


@check
def classified_overflow(seen: Observed, given: Given) -> bool | None:
    return None if seen.overflow is None else seen.overflow == given["value"]


@check
def model_called_or_raised(seen: Observed, given: Given) -> bool:
    return bool(seen.requests) or seen.raised is not None


# -- pairs


@of_view
def no_new_orphans(seen: Observed, given: Given) -> bool:
    return orphans(seen.view) <= orphans(seen.after)


@of_view
def tool_pairs_complete(seen: Observed, given: Given) -> bool:
    in_state = {one for message in seen.after for one in result_ids(message)}
    in_view = {one for message in seen.view for one in result_ids(message)}
    called = {one for message in seen.view for one in call_ids(message)}
    return bool(no_new_orphans(seen, given)) and called & in_state <= in_view


@of_view
def batch_atomic(seen: Observed, given: Given) -> bool:
    present = {named(seen.view, str(message.id)) is not None for message in group(seen, given)}
    return len(present) == 1


CHECKS["pairs_all_or_none"] = CHECKS["batch_atomic"]


@of_view
def call_ids_unchanged(seen: Observed, given: Given) -> bool | None:
    message, before = named(seen.view, given["id"]), named(seen.after, given["id"])
    if message is None or before is None:
        return None
    return call_ids(message) == call_ids(before)


# -- the view


@of_view
def view_not_empty(seen: Observed, given: Given) -> bool:
    return any(message.type != "system" for message in seen.view)


@of_view
def view_has_human(seen: Observed, given: Given) -> bool:
    return any(message.type == "human" for message in seen.view)


@of_view
def view_starts_with_human_or_summary(seen: Observed, given: Given) -> bool:
    body = [message for message in seen.view if message.type != "system"]
    state = [message for message in seen.after if message.type != "system"]
    if not body:
        return not state
    return body[0].type == "human" or (seen.after_event is None and body[0].id == state[0].id)


@of_view
def view_order_preserved(seen: Observed, given: Given) -> bool:
    place = {message.id: index for index, message in enumerate(seen.after) if message.id}
    order = [place[message.id] for message in seen.view if message.id in place]
    return order == sorted(set(order))


@of_view
def view_equals_state(seen: Observed, given: Given) -> bool:
    view = [m for m in seen.view if m.type != "system" or named(seen.after, str(m.id))]
    return list(map(said, view)) == list(map(said, seen.after))


@of_view
def view_tokens_at_most(seen: Observed, given: Given) -> bool:
    return size(seen.view) <= given["n"]


@of_view
def view_not_larger_than_before(seen: Observed, given: Given) -> bool:
    return size(seen.view) <= size(seen.before) * 1.05 + 50


@of_view
def view_added_messages_at_most(seen: Observed, given: Given) -> bool:
    return sum(message.type != "system" for message in added(seen)) <= given["n"]


@of_view
def view_utf8_encodable(seen: Observed, given: Given) -> bool:
    return _has_utf8_form(text_of(seen.view))


@of_view
def no_consecutive_system(seen: Observed, given: Given) -> bool:
    return ("system", "system") not in pairwise(message.type for message in seen.view)


@of_view
def no_new_system_messages(seen: Observed, given: Given) -> bool:
    new = {id(message) for message in added(seen) if message.type == "system"}
    return [n for n, message in enumerate(seen.view) if id(message) in new] in ([], [0])


@of_view
def message_present_in_view(seen: Observed, given: Given) -> bool:
    message, before = named(seen.view, given["id"]), named(seen.after, given["id"])
    return message is not None and before is not None and message.type == before.type


@of_view
def message_absent_from_view(seen: Observed, given: Given) -> bool:
    return named(seen.view, given["id"]) is None


@of_view
def message_unchanged_in_view(seen: Observed, given: Given) -> bool:
    message, before = named(seen.view, given["id"]), named(seen.after, given["id"])
    return message is not None and before is not None and said(message) == said(before)


@of_view
def message_chars_at_most(seen: Observed, given: Given) -> bool | None:
    message = named(seen.view, given["id"])
    return None if message is None else len(message.model_dump_json()) <= given["n"]


@of_view
def text_in_view(seen: Observed, given: Given) -> bool:
    return any(text in text_of(seen.view) for text in given.get("any_of") or [given["text"]])


@of_view
def text_not_in_view(seen: Observed, given: Given) -> bool:
    return given["text"] not in text_of(seen.view)


@of_view
def text_reachable(seen: Observed, given: Given) -> bool:
    return given["text"] in text_of(seen.view) + "".join(seen.files.values())


@of_view
def retry_view_smaller(seen: Observed, given: Given) -> bool | None:
    return None if len(seen.requests) < 2 else size(seen.view) < size(seen.requests[0])


@of_view
def idempotent(seen: Observed, given: Given) -> bool:
    assert seen.second is not None
    view, calls = seen.second
    return calls == 0 and list(map(said, view)) == list(map(said, seen.view))


# -- state and event


@check
def state_messages_unchanged(seen: Observed, given: Given) -> bool:
    kept = seen.after[: len(seen.before)]
    return [(m.id, said(m)) for m in kept] == [(m.id, said(m)) for m in seen.before]


@check
def summary_happened(seen: Observed, given: Given) -> bool:
    return event_unchanged(seen, given) != given["value"]


@check
def event_unchanged(seen: Observed, given: Given) -> bool:
    return bool(event_key(seen.before_event) == event_key(seen.after_event))


@check
def event_cutoff_valid(seen: Observed, given: Given) -> bool:
    event = seen.after_event
    return not event or 0 < event["cutoff_index"] <= len(seen.after)


@check
def summary_contains_text(seen: Observed, given: Given) -> bool:
    return given["text"] in summary_text(seen.after_event)


@check
def summary_message_has_id(seen: Observed, given: Given) -> bool:
    return bool(seen.after_event and seen.after_event["summary_message"].id)


@check
def failure_is_clean(seen: Observed, given: Given) -> bool:
    told = seen.fault.get("text")
    leaked = bool(told and seen.requests and told in text_of(seen.view))
    return event_unchanged(seen, given) and state_messages_unchanged(seen, given) and not leaked


@check
def summary_or_clean(seen: Observed, given: Given) -> bool:
    return not event_unchanged(seen, given) or failure_is_clean(seen, given)


# -- summarizer


@check
def summarizer_calls_at_most(seen: Observed, given: Given) -> bool:
    return len(seen.summarizer) <= given["n"]


@check
def total_summarizer_calls_at_most(seen: Observed, given: Given) -> bool:
    return seen.earlier_summaries + len(seen.summarizer) <= given["n"]


@check
def model_calls_at_most(seen: Observed, given: Given) -> bool:
    return len(seen.requests) <= given["n"]


@check
def summarizer_request_at_most(seen: Observed, given: Given) -> bool:
    return all(size(request) <= given["n"] for request in seen.summarizer)


@check
def summarizer_request_contains(seen: Observed, given: Given) -> bool:
    return any(given["text"] in text_of(request) for request in seen.summarizer)


@check
def no_identical_summarizer_requests(seen: Observed, given: Given) -> bool:
    texts = list(map(text_of, seen.summarizer))
    return len(texts) == len(set(texts))


@check
def summarizer_prompt_not_in_view(seen: Observed, given: Given) -> bool:
    history = text_of(seen.before) + summary_text(seen.before_event)
    lines = {
        line.strip()
        for request in seen.summarizer
        for line in text_of(request).splitlines()
        if len(line.strip()) >= 60 and "Routine note" not in line
    }
    told = text_of(seen.view) + text_of(seen.after)
    return not any(line in told for line in lines if line not in history)


@check
def summarizer_instruction_last_or_system(seen: Observed, given: Given) -> bool:
    history = text_of(seen.before)
    return all(
        any(message.type == "system" for message in request)
        or text_of(request).rstrip().splitlines()[-1].strip() not in history
        for request in seen.summarizer
    )


# -- arguments, blocks, media


@of_view
def tool_args_valid_json(seen: Observed, given: Given) -> bool:
    callers = [message for message in seen.view if message.type == "ai"]
    return all(isinstance(c, dict) for m in callers for cs in copies_of_args(m) for c in cs)


@of_view
def args_copies_agree(seen: Observed, given: Given) -> bool | None:
    message = named(seen.view, given["id"])
    if message is None:
        return None
    return all(copy == copies[0] for copies in copies_of_args(message) for copy in copies)


@of_view
def arg_equals(seen: Observed, given: Given) -> bool | None:
    args = args_of(seen, given["id"])
    return any(one.get(given["key"]) == given["value"] for one in args) if args else None


def _argument(seen: Observed, given: Given) -> str | None:
    calls = [call for m in seen.view for call in getattr(m, "tool_calls", None) or []]
    return next((c["args"].get(given["key"]) for c in calls if c["id"] == given["call"]), None)


@of_view
def arg_len(seen: Observed, given: Given) -> bool | None:
    value = _argument(seen, given)
    return None if value is None else len(value) == given["n"]


@of_view
def arg_not_longer(seen: Observed, given: Given) -> bool | None:
    value = _argument(seen, given)
    return None if value is None else len(value) <= given["n"]


@of_view
def thinking_blocks_verbatim_or_absent(seen: Observed, given: Given) -> bool:
    kinds = ("thinking", "redacted_thinking", "reasoning", "reasoning_content")

    def thoughts(message: BaseMessage | None) -> list[Any]:
        blocks = message.content if message and isinstance(message.content, list) else []
        return [b for b in blocks if isinstance(b, dict) and b.get("type") in kinds]

    return all(
        block in thoughts(named(seen.after, str(message.id)))
        for message in seen.view
        for block in thoughts(message)
    )


@of_view
def media_payload_intact_or_absent(seen: Observed, given: Given) -> bool:
    known = payloads(seen.after)
    text = text_of(seen.view)
    return payloads(seen.view) <= known and not any(one[200:260] in text for one in known)


# -- files


@of_view
def offloaded(seen: Observed, given: Given) -> bool:
    named_files = [path for path in files_named(seen, given["id"]) if path.startswith(RESULTS)]
    return bool(named_files) and len(shown(seen, given["id"])) < len(own_text(seen, given["id"]))


@of_view
def offload_content_lossless(seen: Observed, given: Given) -> bool:
    message = named(seen.after, given["id"])
    forms = stored_forms(own_text(seen, given["id"]))
    return any(
        seen.files[path] in forms or _parsed(seen.files[path]) == getattr(message, "content", None)
        for path in files_named(seen, given["id"])
    )


@of_view
def preview_sha256_matches(seen: Observed, given: Given) -> bool:
    digests = {
        hashlib.sha256(seen.files[path].encode()).hexdigest()
        for path in files_named(seen, given["id"])
    }
    return any(digest in shown(seen, given["id"]) for digest in digests)


@of_view
def preview_path_exists(seen: Observed, given: Given) -> bool:
    return bool(files_named(seen, given["id"]))


@of_view
def preview_at_most(seen: Observed, given: Given) -> bool:
    return len(shown(seen, given["id"])) <= given["n"]


@of_view
def preview_contains(seen: Observed, given: Given) -> bool:
    return given["text"] in shown(seen, given["id"])


@of_view
def preview_is_not_invalid_json(seen: Observed, given: Given) -> bool:
    def strict(text: str) -> bool:
        try:
            json.loads(text, parse_constant=lambda name: 1 / 0)
        except (ValueError, ZeroDivisionError):
            return False
        return True

    fences = re.findall(r"```json\s*(.*?)```", shown(seen, given["id"]), re.DOTALL)
    return all(map(strict, fences))


@check
def archive_contains(seen: Observed, given: Given) -> bool:
    return any(given["text"] in t for p, t in seen.files.items() if p.startswith(HISTORY))


@check
def files_distinct(seen: Observed, given: Given) -> bool:
    paths = [path for path in seen.files if path.startswith(RESULTS)]
    return len({p.casefold() if given.get("casefold") else p for p in paths}) >= given["n"]


@check
def files_only_under(seen: Observed, given: Given) -> bool:
    return all(path.startswith(tuple(given["prefixes"])) for path in seen.files)


@check
def paths_safe(seen: Observed, given: Given) -> bool:
    part = re.compile(r'(?!(?i:con|prn|aux|nul|com\d|lpt\d)(\.|$))[^\\:*?"<>|]{1,255}')
    return all(
        path.isascii()
        and path.isprintable()
        and all(part.fullmatch(one) and one.strip(".") for one in path.split("/"))
        for path in seen.files
    )


@check
def files_readable_utf8(seen: Observed, given: Given) -> bool:
    return all(map(_has_utf8_form, seen.files.values()))


def _has_utf8_form(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@check
def file_writes_at_most(seen: Observed, given: Given) -> bool:
    return sum(path.startswith(RESULTS) for path in seen.written) <= given["n"]


# -- events and status


@check
def events_lack_text(seen: Observed, given: Given) -> bool:
    return given["text"] not in f"{seen.events}{seen.status}"


@check
def failure_event_emitted(seen: Observed, given: Given) -> bool:
    return has_event(seen, "failed") or any(event.get("failures") for event in seen.events)


@check
def completed_event_absent(seen: Observed, given: Given) -> bool:
    return all(e.get("failures") for e in seen.events if e["status"] == "completed")


@check
def status_ratio_between(seen: Observed, given: Given) -> bool:
    return bool(given["low"] <= seen.status.ratio <= given["high"])


@check
def status_warning(seen: Observed, given: Given) -> bool:
    return bool(seen.status.suggest_compression == given["value"])
