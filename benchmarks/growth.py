"""Our own work over a conversation that grows, and after a summary."""

from math import log
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from benchmarks.conversation import conversation, turn
from benchmarks.ours import Clocked
from benchmarks.timing import Contender, interleaved
from langgraph_compression import CompressionSettings
from langgraph_compression.policy.summary import summary_message
from langgraph_compression.state.event import binding

NEVER = CompressionSettings(summary_threshold=1_000_000)
MARKS = (500, 1_000, 2_000)


def stored(settings: CompressionSettings, marks: tuple[int, ...]) -> dict[str, float]:
    """Seconds of our nodes until N messages, one turn after the other out of a checkpoint."""
    own = Clocked(settings, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "one"}}
    at: dict[str, float] = {}
    for number in range(marks[-1] // 4):
        own.graph.invoke({"messages": turn("english", number)[:3]}, config)
        if (number + 1) * 4 in marks:
            at[str((number + 1) * 4)] = sum(own.by_node.values())
    return at


def held(marks: tuple[int, ...]) -> dict[str, float]:
    """The same where the messages stay in memory, as within one run."""
    own = Clocked(NEVER)
    messages: list[Any] = []
    at: dict[str, float] = {}
    for number in range(marks[-1] // 4):
        messages += turn("english", number)
        own.graph.invoke({"messages": messages})
        if len(messages) in marks:
            at[str(len(messages))] = sum(own.by_node.values())
    return at


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

    def contender(_: list[Any]) -> float:
        before = sum(own.by_node.values())
        own.graph.invoke({"messages": [("user", "And now?")]}, config)
        return sum(own.by_node.values()) - before

    return contender


def run(seconds: float = 3.0) -> dict[str, Any]:
    """Seconds until N messages and their exponent; milliseconds of a call after a summary."""
    courses = {
        "out of a checkpoint each turn, never compressed": stored(NEVER, MARKS),
        "out of a checkpoint each turn, default settings": stored(CompressionSettings(), MARKS),
        "messages in memory, never compressed": held(MARKS),
    }
    return {
        "until N messages": courses,
        "exponent": {name: exponent(at) for name, at in courses.items()},
        "after a summary": after_summary((100, 1_000, 10_000), seconds),
    }
