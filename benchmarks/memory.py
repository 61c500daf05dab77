"""Peak memory of one call, of a large tool result, and what history costs in writes."""

import tempfile
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

from deepagents.backends import FilesystemBackend
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from benchmarks import peers
from benchmarks.conversation import conversation, turn
from benchmarks.model import InstantModel
from langgraph_compression import CompressionSettings, Workdir, create_compression_graph

SIZES = (10_000, 50_000)
NEVER = CompressionSettings(summary_threshold=1_000_000)
MEGABYTE = 1_000_000


def folder() -> str:
    """A new folder."""
    return tempfile.mkdtemp(prefix="bench-")


def peak(make: Callable[[], Any], call: Callable[[Any], Any]) -> tuple[int, int]:
    """Bytes of what is made, and of the peak while it is used, both from zero."""
    tracemalloc.start()
    try:
        given = make()
        made, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        call(given)
        return made, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def one_call(sizes: tuple[int, ...]) -> dict[str, Any]:
    """Peak of one call over the messages themselves, whole graph, no checkpointer."""
    results: dict[str, Any] = {}
    for size in sizes:
        model = InstantModel()
        calls: dict[str, Callable[[list[Any]], Any]] = {
            "ours, below the threshold": _ours(NEVER),
            "ours, summarizing": _ours(CompressionSettings()),
            "one-node graph": peers.one_node(model.invoke),
            "langchain summarization, below": peers.agent(
                model, peers.summarization(model, peers.NEVER)
            ),
            "langchain context editing, below": peers.agent(model, peers.editing(peers.NEVER)),
            "deepagents summarization, below": peers.agent(model, peers.deep(model, peers.NEVER)),
            "deepagents summarization, summarizing": peers.agent(model, peers.deep(model, 100_000)),
        }
        row = results.setdefault(str(size), {})
        for name, call in calls.items():
            call(conversation(8))  # what is made at the first call only
            made, most = peak(partial(conversation, size), call)
            row["messages, MB"] = made / MEGABYTE
            row[name] = most / made
    return results


def _ours(settings: CompressionSettings) -> Callable[[list[Any]], Any]:
    graph = create_compression_graph(InstantModel(), settings=settings, workdir=Workdir(folder()))
    return lambda messages: graph.invoke({"messages": messages})


def large_result(megabytes: int) -> dict[str, float]:
    """Copies of one large tool result that exist at the peak, the message's own included."""

    def make() -> list[Any]:
        line = "2026-01-05 12:00:00 INFO gate 7 closed, truck 4711 waits for slot 12\n"
        return [
            HumanMessage("Read the log.", id="1"),
            AIMessage("", tool_calls=[{"name": "read_log", "args": {}, "id": "call-1"}], id="2"),
            ToolMessage(line * (megabytes * MEGABYTE // len(line)), tool_call_id="call-1", id="3"),
        ]

    call = _ours(CompressionSettings())
    call(conversation(8))
    made, most = peak(make, call)
    return {"MB": made / MEGABYTE, "copies at the peak": most / made}


class CountingWorkdir(Workdir):
    """Knows how many bytes were written, and how often."""

    written = 0
    files = 0

    def write_text(self, path: str, text: str) -> Any:
        """As every workdir."""
        self.written += len(text.encode())
        self.files += 1
        return super().write_text(path, text)


class CountingBackend(FilesystemBackend):
    """The same for deepagents: `edit` writes the whole file."""

    written = 0
    files = 0

    def write(self, file_path: str, content: str) -> Any:
        """As every backend."""
        self.written += len(content.encode())
        self.files += 1
        return super().write(file_path, content)

    def edit(self, file_path: str, old_string: str, new_string: str, *args: Any) -> Any:
        """As every backend."""
        self.written += len(new_string.encode())
        self.files += 1
        return super().edit(file_path, old_string, new_string, *args)


def history(marks: tuple[int, ...]) -> dict[str, Any]:
    """Megabytes written after so many compressions of one thread, ours and deepagents."""
    workdir = CountingWorkdir(folder())
    ours = create_compression_graph(
        InstantModel(),
        settings=CompressionSettings(summary_threshold=2, summary_keep_messages=6),
        workdir=workdir,
        checkpointer=InMemorySaver(),
    )
    backend = CountingBackend(root_dir=folder(), virtual_mode=True)
    model = InstantModel()
    middleware = peers.deep(model, 2048, backend=backend)
    deep = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
    results: dict[str, Any] = {}
    contenders: tuple[tuple[str, Any, Any], ...] = (
        ("ours", ours, workdir),
        ("deepagents summarization", deep, backend),
    )
    for name, graph, store in contenders:
        config: Any = {"configurable": {"thread_id": "one"}}
        compressions, number, standing = 0, 0, None
        row = results.setdefault(name, {})
        while compressions < marks[-1] and number < 40 * marks[-1]:
            given = [m for n in range(number, number + 6) for m in turn("english", n)][:-1]
            number += 6
            state = graph.invoke({"messages": given}, config)
            event = graph.get_state(config).values.get("_summarization_event")
            if event and event["cutoff_index"] != standing:
                standing = event["cutoff_index"]
                compressions += 1
                if compressions in marks:
                    size = sum(len(str(m.content)) for m in state["messages"][:standing])
                    row[str(compressions)] = {
                        "MB written": store.written / MEGABYTE,
                        "MB of text summarized": size / MEGABYTE,
                    }
    return results


def run() -> dict[str, Any]:
    """Ratios of memory, and megabytes of history."""
    return {
        "one call": one_call(SIZES),
        "large result": large_result(50),
        "history": history((25, 50, 100)),
    }
