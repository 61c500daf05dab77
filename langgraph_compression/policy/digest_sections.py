"""The sections of a digest and what could stand in them, most wanted first."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from langgraph_compression.policy.digest_facts import Facts, ToolCall, files_of, open_tasks
from langgraph_compression.policy.digest_words import Words
from langgraph_compression.policy.quoting import cut, ends, one_line, quoted

LEAST_CHARS = 16
"""An entry is not shortened below this."""


@dataclass
class Entry:
    """A piece of a section: where it stands, and its text for a given number of characters."""

    position: int
    render: Callable[[int], str]
    chars: int
    """How long it may be at most."""
    vital: bool = False
    """It is worth being shortened rather than left out."""


@dataclass
class Section:
    """One section: what could stand in it and what was chosen."""

    title: str
    entries: list[Entry]
    """In the order in which they are wanted."""
    gaps: str = ""
    """What stands where entries between are missing."""
    chosen: dict[int, str] = field(default_factory=dict)

    def text(self) -> str:
        """The heading and the chosen entries in order; what is missing between is said."""
        lines = [f"## {self.title}"]
        expected = 0
        for position in sorted(self.chosen):
            if self.gaps and position > expected:
                lines.append(f"[… {self.gaps.format(n=position - expected)} …]")
            lines.append(self.chosen[position])
            expected = position + 1
        return "\n".join(lines)


def sections_of(facts: Facts, words: Words, chars: int) -> dict[str, Section]:
    """All sections that have something to tell, for a digest of about `chars` characters."""
    made = {
        "earlier": _quote(words.earlier, facts.earlier, chars, words),
        "requests": _requests(facts, words, chars),
        "decisions": _decisions(facts, words),
        "files": _files(facts, words),
        "tools": _tools(facts, words, chars),
        "errors": _errors(facts, words, chars),
        "open": _open(facts, words, chars),
        "last": _quote(words.last, facts.last_answer, chars, words),
    }
    return {key: section for key, section in made.items() if section.entries}


def _quote(title: str, text: str, chars: int, words: Words) -> Section:
    render = partial(quoted, text, omitted=words.shortened)
    return Section(title, [Entry(0, render, chars, vital=True)] if text.strip() else [])


def _requests(facts: Facts, words: Words, chars: int) -> Section:
    requests = facts.requests
    each = max(160, min(chars // 5, chars // (2 * max(1, len(requests)))))

    def entry(position: int) -> Entry:
        request = requests[position]
        answer = "" if request.answer == facts.last_answer else request.answer

        def render(size: int) -> str:
            lines = [f"[{position + 1}]", quoted(request.text, size, omitted=words.shortened)]
            if answer and size > 4 * LEAST_CHARS:
                room = max(120, min(size // 2, 500))
                lines.append(f"→ {words.answer}{one_line(answer, room)}")
            return "\n".join(lines)

        ends = position in (0, len(requests) - 1)
        return Entry(position, render, max(each, chars // 5) if ends else each, vital=ends)

    # The last and the first, the one before the last, the second; then from the newest back.
    backwards = range(len(requests) - 1, -1, -1)
    forwards = range(len(requests))
    wanted = [*backwards[:1], *forwards[:1], *backwards[1:2], *forwards[1:2], *backwards]
    entries = [entry(position) for position in dict.fromkeys(wanted)]
    return Section(words.requests, entries, words.omitted)


def _decisions(facts: Facts, words: Words) -> Section:
    entries = [
        Entry(at, partial(_item, decision), 200) for at, decision in enumerate(facts.decisions)
    ]
    return Section(words.decisions, entries[::-1], words.omitted)


def _files(facts: Facts, words: Words) -> Section:
    uses: dict[str, Counter[str]] = {}
    failed: Counter[str] = Counter()
    for call in facts.calls:
        for path in files_of(call):
            tools = uses.pop(path, Counter())  # to the end: the latest stands last
            tools[call.name] += 1
            uses[path] = tools
            failed[path] += call.error is not None

    def line(path: str, size: int) -> str:
        tools = ", ".join(_times(one_line(name, 40), n) for name, n in uses[path].items())
        bad = f" ({failed[path]} {words.failed})" if failed[path] else ""
        return cut(f"- {one_line(path, 200)}: {tools}{bad}", size)

    return _lines(words.files, [partial(line, path) for path in reversed(uses)], 400)


def _tools(facts: Facts, words: Words, chars: int) -> Section:
    calls: Counter[str] = Counter(call.name for call in facts.calls)
    failed = Counter(call.name for call in facts.calls if call.error is not None)
    open_calls = Counter(call.name for call in facts.calls if call.result is None)

    def total(name: str) -> str:
        notes = [f"{failed[name]} {words.failed}"] if failed[name] else []
        notes += [f"{open_calls[name]} {words.no_result}"] if open_calls[name] else []
        return _times(one_line(name, 40), calls[name]) + (f" ({', '.join(notes)})" if notes else "")

    excerpt = max(160, min(600, chars // (3 * max(1, len(facts.calls)))))
    summary = ", ".join(total(name) for name, _ in calls.most_common(30))

    def outcome(call: ToolCall, size: int) -> str:
        result = words.no_result if call.result is None else ends(call.result, excerpt) or "∅"
        return cut(f"- {_call(call, 120)} → {result}", size)

    entries = [Entry(0, partial(cut, f"- {summary}"), 1200)] if calls else []
    newest = range(len(facts.calls) - 1, max(-1, len(facts.calls) - 200), -1)
    entries += [Entry(at + 1, partial(outcome, facts.calls[at]), excerpt + 150) for at in newest]
    return Section(words.tools, entries, words.omitted)


def _errors(facts: Facts, words: Words, chars: int) -> Section:
    """One line for each call that failed, in the order of the last failure."""
    seen: dict[str, tuple[ToolCall, int, bool]] = {}
    for call in facts.calls:
        key = _call(call, 200)
        if call.error is not None:
            _, times, _ = seen.pop(key, (call, 0, False))
            seen[key] = (call, times + 1, False)
        elif key in seen and call.result is not None:
            seen[key] = (*seen[key][:2], True)

    def line(call: ToolCall, times: int, fixed: bool, size: int) -> str:
        note = f" [{words.later_ok}]" if fixed else ""
        again = f" x{times}" if times > 1 else ""
        return f"- {_call(call, 80)}{again}: {one_line(call.error or '', size)}{note}"

    entries = [
        Entry(at, partial(line, *made), min(240, chars // 6))
        for at, made in enumerate(seen.values())
    ]
    return Section(words.errors, entries[::-1], words.omitted)


def _open(facts: Facts, words: Words, chars: int) -> Section:
    renders: list[Callable[[int], str]] = []
    if facts.requests and not facts.answered:
        renders.append(lambda size: f"- {words.unanswered}")
    elif question := _question(facts.last_answer):
        renders.append(lambda size: f"- {words.asked}{one_line(question, size)}")
    waiting = [call for call in facts.calls if call.result is None]
    renders += [partial(_named_call, call, words.no_result) for call in waiting[-5:]]
    renders += [partial(_task, task, words.task) for task in open_tasks(facts.calls)[:20]]
    return _lines(words.open, renders, min(300, chars // 4))


def _named_call(call: ToolCall, note: str, size: int) -> str:
    return f"- {_call(call, size)}: {note}"


def _item(text: str, size: int) -> str:
    return f"- {one_line(text, size)}"


def _task(task: str, title: str, size: int) -> str:
    return f"- {title}{one_line(task, size)}"


def _lines(title: str, renders: Sequence[Callable[[int], str]], chars: int) -> Section:
    return Section(title, [Entry(at, render, chars) for at, render in enumerate(renders)])


def _question(text: str) -> str:
    """The last question near the end of a text."""
    found = re.findall(r"[^\n.!?。！？]{2,300}[?？]", text[-600:])
    return found[-1].strip() if found else ""


def _call(call: ToolCall, chars: int) -> str:
    args = ", ".join(f"{one_line(str(k), 40)}={_value(v)}" for k, v in list(call.args.items())[:8])
    return one_line(f"{one_line(call.name, 60)}({args})", chars)


def _value(value: object) -> str:
    if isinstance(value, str):
        size = "" if len(value) <= 200 else f" [{len(value):,}]"
        return one_line(value, 30 if size else 60) + size
    if isinstance(value, list | tuple | dict):
        return f"[{len(value)}]"
    try:
        return one_line(str(value), 60)
    except ValueError:  # a number with thousands of digits
        return "…"


def _times(name: str, n: int) -> str:
    return f"{name} x{n}" if n > 1 else name
