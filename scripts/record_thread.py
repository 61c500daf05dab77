"""Store a thread for tests/graphs/test_stored_thread.py, with the langgraph that is installed.

    .venv/bin/python scripts/record_thread.py

Run once for each langgraph whose threads must stay readable; the file is named by its version.
"""

from importlib.metadata import version
from pathlib import Path
from typing import Any

from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.sqlite import SqliteSaver

from langgraph_compression import CompressionSettings, Workdir, create_compression_graph

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "graphs" / "stored"
TURNS = 12
CONFIG: Any = {"configurable": {"thread_id": "stored"}}


def main() -> None:
    """Twelve turns, of which some are summarized, the last with an answered tool call."""
    target = FOLDER / f"langgraph-{version('langgraph')}.sqlite"
    target.unlink(missing_ok=True)
    with SqliteSaver.from_conn_string(str(target)) as saver:
        graph = create_compression_graph(
            FakeListChatModel(responses=[f"Answer {n}." for n in range(TURNS)]),
            summary_model=FakeListChatModel(responses=["The summary."]),
            settings=CompressionSettings(summary_threshold=1, summary_keep_messages=4),
            workdir=Workdir("memory://stored"),
            checkpointer=saver,
        )
        for turn in range(TURNS):
            asked: list[Any] = [HumanMessage(f"Question {turn}. " + "word " * 100, id=f"h{turn}")]
            if turn == TURNS - 1:
                call = {"name": "lookup", "args": {"key": "k"}, "id": "c1", "type": "tool_call"}
                asked += [
                    AIMessage("", tool_calls=[call], id="ca"),
                    ToolMessage("found", tool_call_id="c1", name="lookup", id="r"),
                ]
            graph.invoke({"messages": asked}, CONFIG)
        saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        saver.conn.execute("PRAGMA journal_mode=DELETE")
        saver.conn.execute("VACUUM")


if __name__ == "__main__":
    main()
