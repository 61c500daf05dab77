"""Our own work over a conversation that grows, and after a summary."""

from collections.abc import Callable
from math import log
from typing import Any, NamedTuple

from langgraph.checkpoint.memory import InMemorySaver

from benchmarks.conversation import conversation, turn
from benchmarks.ours import Clocked
from benchmarks.timing import Contender, interleaved
from langgraph_compression import CompressionSettings
from langgraph_compression.policy.summary import summary_message
from langgraph_compression.state.event import binding
from langgraph_compression.tokens.estimate import estimate_tokens

NEVER = CompressionSettings(summary_threshold=1_000_000)
MARKS = (500, 1_000, 2_000)


class Course(NamedTuple):
    """Seconds until N messages, by N."""

    ours: dict[str, float]
    """Inside of our nodes."""
    whole: dict[str, float]
    """With LangGraph's own steps, channels and checkpoints."""


def stored(settings: CompressionSettings, first: int) -> Course:
    """One turn after the other, each out of a checkpoint.

    The texts of turns numbered from `first` on are new to the process.
    """
    own = Clocked(settings, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "one"}}
    return _course(own, lambda number: own.whole(turn("english", first + number)[:3], config))


def held(first: int) -> Course:
    """The same where the messages stay in memory, as within one run."""
    own = Clocked(NEVER)
    messages: list[Any] = []

    def take(number: int) -> float:
        messages.extend(turn("english", first + number))
        return own.whole(messages)

    return _course(own, take)


def _course(
    own: Clocked, take: Callable[[int], float], spent: Callable[[], float] | None = None
) -> Course:
    spent = spent or (lambda: sum(own.by_node.values()))
    course, whole = Course({}, {}), 0.0
    for number in range(MARKS[-1] // 4):
        whole += take(number)
        if (number + 1) * 4 in MARKS:
            mark = str((number + 1) * 4)
            course.ours[mark], course.whole[mark] = spent(), whole
    return course


def estimated() -> dict[str, float]:
    """Texts that are estimated until N messages, out of a checkpoint each turn."""
    texts = 0

    def counter(text: str) -> int:
        nonlocal texts
        texts += 1
        return estimate_tokens(text)

    own = Clocked(NEVER, counter, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "one"}}
    course = _course(
        own, lambda number: own.whole(turn("english", number)[:3], config), lambda: texts
    )
    return course.ours


def exponent(at: dict[str, float]) -> float:
    """Slope of the last doubling in a log-log plot: 1 is linear, 2 quadratic."""
    (n, before), (m, after) = list(at.items())[-2:]
    return log(after / before) / log(int(m) / int(n))


def after_summary(sizes: tuple[int, ...], seconds: float) -> dict[str, Any]:
    """Milliseconds of our nodes with an event that leaves 10 messages, by length of history."""
    results = {}
    for size in sizes:
        messages = conversation(size)
        own = Clocked(NEVER, checkpointer=InMemorySaver())
        cutoff = size - 12
        event = {
            "cutoff_index": cutoff,
            "summary_message": summary_message(
                "What happened before.", file_path=None, quote=None, cutoff=cutoff
            ),
            "file_path": None,
            **binding(messages, cutoff),
        }
        config: Any = {"configurable": {"thread_id": "one"}}
        own.graph.update_state(
            config, {"messages": messages[:-1], "_summarization_event": event}, as_node="model"
        )
        results[str(size)] = interleaved({"ours": _turn(own, config)}, list, seconds=seconds)
    return results


def _turn(own: Clocked, config: Any) -> Contender:
    """One further turn of a stored thread: seconds of our nodes."""
    given: Any = {"messages": [("user", "And now?")]}

    def contender(_: list[Any]) -> float:
        before = sum(own.by_node.values())
        own.graph.invoke(given, config)
        return sum(own.by_node.values()) - before

    return contender


def run(seconds: float = 3.0) -> dict[str, Any]:
    """Seconds until N messages and their exponent; milliseconds of a call after a summary."""
    courses = {
        "out of a checkpoint each turn, never compressed": stored(NEVER, 1_000_000),
        "out of a checkpoint each turn, default settings": stored(CompressionSettings(), 2_000_000),
        "messages in memory, never compressed": held(3_000_000),
    }
    texts = estimated()
    return {
        "until N messages": {name: course.ours for name, course in courses.items()},
        "texts estimated": texts,
        "exponent": {
            "texts estimated, out of a checkpoint each turn": exponent(texts),
            **{f"time, {name}": exponent(course.ours) for name, course in courses.items()},
        },
        "share of the whole": {
            name: {mark: spent / course.whole[mark] for mark, spent in course.ours.items()}
            for name, course in courses.items()
        },
        "after a summary": after_summary((100, 1_000, 10_000), seconds),
    }
