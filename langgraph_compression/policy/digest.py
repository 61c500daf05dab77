"""A digest of a range of messages without a model: extracts, counted and bounded.

It stands in for a summary when no model writes one. Everything in it is taken from the
messages; what is left out is said. Lines of messages are quoted with `> `, and whatever else
comes from a message stands inside a line, so that no text can pose as a heading.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from langchain_core.messages import AnyMessage

from langgraph_compression.policy.digest_facts import (
    Facts,
    ToolCall,
    files_of,
    gather,
    open_tasks,
)
from langgraph_compression.policy.visible_text import visible, whole_character, without_base64
from langgraph_compression.state.counting import Count


@dataclass(frozen=True)
class _Words:
    """The digest's own words in one language."""

    head: str
    earlier: str
    requests: str
    files: str
    tools: str
    errors: str
    open: str
    last: str
    answer: str
    omitted: str
    shortened: str
    failed: str
    no_result: str
    later_ok: str
    unanswered: str
    asked: str
    task: str


_ENGLISH = _Words(
    head="Extract of {messages} messages ({requests} requests, {calls} tool calls), no rewriting. "
    "Quoted lines start with >.",
    earlier="Earlier summary",
    requests="Requests of the user",
    files="Files touched (latest first)",
    tools="Tools used",
    errors="Errors (latest last)",
    open="Open at the end of this part",
    last="Last state: the assistant's last text",
    answer="answered: ",
    omitted="{n} left out",
    shortened="{n} characters left out",
    failed="failed",
    no_result="no result",
    later_ok="the same call succeeded later",
    unanswered="The last request has no answer yet.",
    asked="The assistant asked: ",
    task="to do: ",
)
_CHINESE = _Words(
    head="以下摘录自 {messages} 条消息（用户请求 {requests} 条，工具调用 {calls} 次），未经改写；"
    "以 > 开头的行是原文。",
    earlier="先前的摘要",
    requests="用户的请求",
    files="涉及的文件（最近的在前）",
    tools="使用的工具",
    errors="错误（最近的在后）",
    open="到此为止尚未完成",
    last="最后的状态：助手的最后一段话",
    answer="答复：",
    omitted="略去 {n} 条",
    shortened="略去 {n} 字符",
    failed="失败",
    no_result="无结果",
    later_ok="之后同样的调用已成功",
    unanswered="最后一条请求尚未答复。",
    asked="助手问：",
    task="待办：",
)

_SHARES = {"requests": 0.34, "earlier": 0.2, "last": 0.16, "open": 0.1, "errors": 0.12}
_SHARES |= {"files": 0.12, "tools": 0.16}
"""Of the limit, by section, in the order in which sections are filled; what one does not need
goes to the others afterwards. They sum up to more than 1 because few digests have all."""
_SMALL_SHARES = {"requests": 0.55, "last": 0.45}
"""In a digest too small for all sections; the others get what is left."""
_ORDER = ("earlier", "requests", "files", "tools", "errors", "open", "last")
_LEAST_CHARS = 16
_SPARED = 40
"""To leave out fewer characters than this saves nothing: the note is as long."""
_SMALL = 200
"""Tokens below which a digest is small: it has no introduction and few sections."""


@dataclass
class _Entry:
    """A piece of a section: where it stands, and its text for a given number of characters."""

    position: int
    render: Callable[[int], str]
    chars: int
    """How long it may be at most."""
    vital: bool = False
    """It is worth being shortened rather than left out."""


@dataclass
class _Section:
    title: str
    entries: list[_Entry]
    """In the order in which they are wanted."""
    gaps: str = ""
    """What stands where entries between are missing."""
    chosen: dict[int, str] = field(default_factory=dict)

    def text(self) -> str:
        lines = [f"## {self.title}"]
        expected = 0
        for position in sorted(self.chosen):
            if self.gaps and position > expected:
                lines.append(f"[… {self.gaps.format(n=position - expected)} …]")
            lines.append(self.chosen[position])
            expected = position + 1
        return "\n".join(lines)


def digest(messages: Sequence[AnyMessage], limit: int, count: Count) -> str:
    r"""An extractive digest of the messages, in the language of their user.

    Requests of the user with the answers they got, files touched, tools with outcomes,
    errors, what is open, the last state. The newest and the first requests are preferred.
    Reasoning is left out, media are named. The same messages give the same digest.

    Args:
        messages: Any messages, with any content.
        limit: Tokens by `count` that the digest has at most; below about 30 little is left.
        count: The counter; called some hundred times at most, on short texts.

    >>> from langchain_core.messages import AIMessage, HumanMessage
    >>> talk = [HumanMessage("Rename a.py to b.py"), AIMessage("Done. Shall I fix the imports?")]
    >>> print(digest(talk, 100, lambda text: len(text) // 4))
    ## Requests of the user
    [1]
    > Rename a.py to b.py
    ## Open at the end of this part
    - The assistant asked: Shall I fix the imports?
    ## Last state: the assistant's last text
    > Done. Shall I fix the imports?
    """
    if not messages or limit <= 0:
        return ""
    facts = gather(messages)
    words = _language(facts)
    per_token = _characters_per_token(facts, count)
    sections = _sections(facts, words, int(limit * per_token))
    head = ""
    if limit >= _SMALL:
        head = words.head.format(
            messages=facts.messages, requests=len(facts.requests), calls=len(facts.calls)
        )
    order = _fill(sections, limit - count(head) - min(2 * len(sections), limit // 16), count)
    while True:
        parts = [sections[key].text() for key in _ORDER if key in sections and sections[key].chosen]
        text = "\n".join([head, *parts] if head else parts)
        if count(text) <= limit:
            return text
        if order:
            key, position = order.pop()
            del sections[key].chosen[position]
        elif head:
            head = ""
        else:
            return ""


def _fill(sections: dict[str, _Section], room: int, count: Count) -> list[tuple[str, int]]:
    """Choose entries: first within each section's share, then with what is left.

    Returns:
        What was chosen, the most wanted first.
    """
    order: list[tuple[str, int]] = []
    left = room
    shares = _SHARES if room >= _SMALL else _SMALL_SHARES
    rounds = [*shares.items(), *((key, 1.0) for key in _SHARES)]
    for key, part in rounds:
        if key in sections:
            share = min(left, int(room * part))
            left -= _choose(key, sections[key], share, count, order)
    return order


def _choose(
    key: str, section: _Section, share: int, count: Count, order: list[tuple[str, int]]
) -> int:
    """Take entries of a section within its share; the tokens they need."""
    used = 0 if section.chosen else count(f"## {section.title}") + 1
    start = len(order)
    while section.entries:
        entry = section.entries[0]
        chars = entry.chars
        text = entry.render(chars)
        cost = count(text) + 1
        while used + cost > share and entry.vital and chars > _LEAST_CHARS:
            room = max(1, share - used)
            chars = max(_LEAST_CHARS, min(chars * 2 // 3, int(chars * room / cost)))
            text = entry.render(chars)
            cost = count(text) + 1
        if used + cost > share:
            break
        section.entries.pop(0)
        section.chosen[entry.position] = text
        order.append((key, entry.position))
        used += cost
    return used if len(order) > start else 0


# -- sections ------------------------------------------------------------------------------


def _sections(facts: Facts, words: _Words, chars: int) -> dict[str, _Section]:
    """All sections that have something to tell, for a digest of about `chars` characters."""
    made = {
        "earlier": _Section(words.earlier, _quotes([facts.earlier], chars, words)),
        "requests": _requests(facts, words, chars),
        "files": _files(facts, words),
        "tools": _tools(facts, words, chars),
        "errors": _errors(facts, words, chars),
        "open": _open(facts, words, chars),
        "last": _Section(words.last, _quotes([facts.last_answer], chars, words)),
    }
    return {key: section for key, section in made.items() if section.entries}


def _quotes(texts: Iterable[str], chars: int, words: _Words) -> list[_Entry]:
    return [
        _Entry(position, partial(_quoted, text, words=words), chars, vital=True)
        for position, text in enumerate(texts)
        if text
    ]


def _requests(facts: Facts, words: _Words, chars: int) -> _Section:
    requests = facts.requests
    each = max(160, min(chars // 5, chars // (2 * max(1, len(requests)))))

    def entry(position: int) -> _Entry:
        request = requests[position]
        answer = "" if request.answer == facts.last_answer else request.answer

        def render(size: int) -> str:
            lines = [f"[{position + 1}]", _quoted(request.text, size, words=words)]
            if answer and size > 4 * _LEAST_CHARS:
                lines.append(f"→ {words.answer}{_line(answer, min(size // 2, 500))}")
            return "\n".join(lines)

        ends = position in (0, len(requests) - 1)
        return _Entry(position, render, max(each, chars // 5) if ends else each, vital=ends)

    # The last and the first, then from the newest back, the second in between.
    wanted = dict.fromkeys(
        position
        for position in [
            len(requests) - 1,
            0,
            len(requests) - 2,
            1,
            *reversed(range(len(requests))),
        ]
        if 0 <= position < len(requests)
    )
    return _Section(words.requests, [entry(position) for position in wanted], words.omitted)


def _files(facts: Facts, words: _Words) -> _Section:
    uses: dict[str, Counter[str]] = {}
    failed: Counter[str] = Counter()
    for call in facts.calls:
        for path in files_of(call):
            tools = uses.pop(path, Counter())  # to the end: the latest stands last
            tools[call.name] += 1
            uses[path] = tools
            failed[path] += call.error is not None

    def line(path: str, size: int) -> str:
        tools = ", ".join(_times(_line(name, 40), n) for name, n in uses[path].items())
        bad = f" ({failed[path]} {words.failed})" if failed[path] else ""
        return _cut(f"- {_line(path, 200)}: {tools}{bad}", size)

    return _lines(words.files, [partial(line, path) for path in reversed(uses)], 400)


def _tools(facts: Facts, words: _Words, chars: int) -> _Section:
    calls: Counter[str] = Counter(call.name for call in facts.calls)
    failed = Counter(call.name for call in facts.calls if call.error is not None)
    open_calls = Counter(call.name for call in facts.calls if call.result is None)

    def total(name: str) -> str:
        notes = [f"{failed[name]} {words.failed}"] if failed[name] else []
        notes += [f"{open_calls[name]} {words.no_result}"] if open_calls[name] else []
        return _times(_line(name, 40), calls[name]) + (f" ({', '.join(notes)})" if notes else "")

    excerpt = max(160, min(600, chars // (3 * max(1, len(facts.calls)))))
    summary = ", ".join(total(name) for name, _ in calls.most_common(30))

    def outcome(call: ToolCall, size: int) -> str:
        result = words.no_result if call.result is None else _line(call.result, excerpt) or "∅"
        return _cut(f"- {_call(call, 120)} → {result}", size)

    entries = [_Entry(0, partial(_cut, f"- {summary}"), 1200)] if calls else []
    newest = range(len(facts.calls) - 1, max(-1, len(facts.calls) - 200), -1)
    entries += [_Entry(at + 1, partial(outcome, facts.calls[at]), excerpt + 150) for at in newest]
    return _Section(words.tools, entries, words.omitted)


def _errors(facts: Facts, words: _Words, chars: int) -> _Section:
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
        return f"- {_call(call, 80)}{again}: {_line(call.error or '', size)}{note}"

    entries = [
        _Entry(at, partial(line, *made), min(240, chars // 6))
        for at, made in enumerate(seen.values())
    ]
    return _Section(words.errors, entries[::-1], words.omitted)


def _open(facts: Facts, words: _Words, chars: int) -> _Section:
    renders: list[Callable[[int], str]] = []
    if facts.requests and not facts.answered:
        renders.append(lambda size: f"- {words.unanswered}")
    elif question := _question(facts.last_answer):
        renders.append(lambda size: f"- {words.asked}{_line(question, size)}")
    waiting = [call for call in facts.calls if call.result is None]
    renders += [partial(_named_call, call, words.no_result) for call in waiting[-5:]]
    renders += [partial(_task, task, words.task) for task in open_tasks(facts.calls)[:20]]
    return _lines(words.open, renders, min(300, chars // 4))


def _named_call(call: ToolCall, note: str, size: int) -> str:
    return f"- {_call(call, size)}: {note}"


def _task(task: str, title: str, size: int) -> str:
    return f"- {title}{_line(task, size)}"


def _lines(title: str, renders: Sequence[Callable[[int], str]], chars: int) -> _Section:
    return _Section(title, [_Entry(at, render, chars) for at, render in enumerate(renders)])


def _question(text: str) -> str:
    """The last question near the end of a text."""
    found = re.findall(r"[^\n.!?。！？]{2,300}[?？]", text[-600:])
    return found[-1].strip() if found else ""


# -- texts ---------------------------------------------------------------------------------


def _quoted(text: str, chars: int, *, words: _Words) -> str:
    """The text as quoted lines, head and tail if it is longer than `chars`."""
    head, tail = text, ""
    if chars < 2 * _SPARED and len(text) > chars:
        head = _cut(text, chars)
    elif len(text) > chars + _SPARED:
        head = text[: whole_character(text, chars * 2 // 3)]
        tail = text[whole_character(text, len(text) - chars // 3) :]
    lines = [f"> {line}" for line in _shown(head) if line]
    if tail:
        n = f"{len(text) - len(head) - len(tail):,}"
        lines.append(f"[… {words.shortened.format(n=n)} …]")
        lines += [f"> {line}" for line in _shown(tail) if line]
    return "\n".join(lines)


def _line(text: str, chars: int) -> str:
    """The text in one line, cut at the end."""
    line = " ".join(" ".join(_shown(text[: 4 * chars + 200])).split())
    return _cut(line, chars)


def _cut(line: str, chars: int) -> str:
    if len(line) <= chars:
        return line
    return line[: whole_character(line, max(0, chars - 1))] + "…"


def _shown(text: str) -> list[str]:
    return [line.rstrip() for line in visible(without_base64(text)).splitlines()]


def _call(call: ToolCall, chars: int) -> str:
    args = ", ".join(f"{_line(str(k), 40)}={_value(v)}" for k, v in list(call.args.items())[:8])
    return _line(f"{_line(call.name, 60)}({args})", chars)


def _value(value: object) -> str:
    if isinstance(value, str):
        return _line(value, 60) if len(value) <= 200 else f"{_line(value, 30)} [{len(value):,}]"
    if isinstance(value, list | tuple | dict):
        return f"[{len(value)}]"
    try:
        return _line(str(value), 60)
    except ValueError:  # a number with thousands of digits
        return "…"


def _times(name: str, n: int) -> str:
    return f"{name} x{n}" if n > 1 else name


# -- language ------------------------------------------------------------------------------


def _language(facts: Facts) -> _Words:
    """Chinese if the user writes at least as many Chinese characters as other words."""
    said = [request.text[:500] for request in facts.requests] or [facts.last_answer[:2000]]
    sample = "\n".join(said[:20] + said[-20:])
    chinese = len(re.findall(r"[\u4e00-\u9fff]", sample))
    words = len(re.findall(r"[^\W\d_\u4e00-\u9fff]+", sample))
    return _CHINESE if chinese and chinese >= words else _ENGLISH


def _characters_per_token(facts: Facts, count: Count) -> float:
    texts = [request.text for request in facts.requests[-4:]] + [facts.last_answer]
    sample = visible("\n".join(text[:1000] for text in texts))[:4000] or "sample text"
    return min(16.0, max(0.25, len(sample) / max(1, count(sample))))
