"""Turns of a conversation in a process of their own: started, answered, ended.

    python -m tests.support.turns CHECKPOINTER FOLDER THREAD TURNS

CHECKPOINTER is a Postgres URI or the path of an SQLite file. Prints one JSON line a turn.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver

from langgraph_compression import CompressionSettings, Workdir, create_compression_graph

SETTINGS = CompressionSettings(summary_threshold=1, summary_keep_messages=2)
"""A threshold of 1,024 tokens."""


def text_of_turn(number: int) -> str:
    """What the user says: about 180 tokens, different in each turn."""
    return f"Turn {number}: " + f"ferry {number} reaches berth {number % 9} on time. " * 18


def report_of(state: Mapping[str, Any]) -> dict[str, Any]:
    """Texts of all messages, and cutoff and history file of the event (0 and None if none)."""
    event = state.get("_summarization_event") or {}
    return {
        "texts": [message.content for message in state["messages"]],
        "cutoff": event.get("cutoff_index", 0),
        "file_path": event.get("file_path"),
    }


@contextmanager
def opened(checkpointer: str) -> Iterator[BaseCheckpointSaver[Any]]:
    """The checkpointer that a URI or path names, with its tables."""
    if checkpointer.startswith("postgresql://"):
        with PostgresSaver.from_conn_string(checkpointer) as saver:
            saver.setup()
            yield saver
    else:
        with SqliteSaver.from_conn_string(checkpointer) as saver:
            yield saver


def main(checkpointer: str, folder: str, thread: str, turns: str) -> None:
    """Take turns, continuing the thread where it stands."""
    config: Any = {"configurable": {"thread_id": thread}}
    with opened(checkpointer) as saver:
        graph = create_compression_graph(
            "offline", settings=SETTINGS, workdir=Workdir(folder), checkpointer=saver
        )
        for _ in range(int(turns)):
            done = len(graph.get_state(config).values.get("messages", ())) // 2
            graph.invoke({"messages": [("user", text_of_turn(done))]}, config)
            print(json.dumps(report_of(graph.get_state(config).values)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
