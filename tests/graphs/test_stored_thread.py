"""Threads that an older langgraph stored: they open, and go on.

`scripts/record_thread.py` stored them.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver

from langgraph_compression import CompressionSettings, create_compression_graph
from tests.support.fakes import FakeModel, RecordingWorkdir

CONFIG: Any = {"configurable": {"thread_id": "stored"}}
STORED = sorted((Path(__file__).parent / "stored").glob("*.sqlite"))


@pytest.fixture(params=STORED, ids=lambda path: str(path.stem))
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteSaver]:
    copy = shutil.copy(request.param, tmp_path / "thread.sqlite")
    with SqliteSaver.from_conn_string(str(copy)) as opened:
        yield opened


def test_the_oldest_supported_version_is_there() -> None:
    assert "langgraph-1.2.24" in [path.stem for path in STORED]


def test_thread_opens_and_goes_on(saver: SqliteSaver) -> None:
    model = FakeModel()
    graph = create_compression_graph(
        model,
        summary_model=FakeModel(answer="A new summary."),
        settings=CompressionSettings(summary_threshold=1, summary_keep_messages=4),
        workdir=RecordingWorkdir(),
        checkpointer=saver,
    )
    before = graph.get_state(CONFIG).values
    messages, event = before["messages"], before["_summarization_event"]
    questions = [m.id for m in messages if m.type == "human"]
    assert questions == [f"h{turn}" for turn in range(12)]
    assert [m.content for m in messages if m.type == "ai"][-1] == "Answer 11."
    assert event["cutoff_index"] > 0
    assert "The summary." in event["summary_message"].content

    graph.invoke({"messages": [HumanMessage("And now? " + "word " * 400, id="h12")]}, CONFIG)

    after = graph.get_state(CONFIG).values
    assert after["messages"][: len(messages)] == messages
    assert after["_summarization_event"]["cutoff_index"] > event["cutoff_index"]
    assert [m.id for m in model.views[-1]][-1] == "h12"
    assert len(list(graph.get_state_history(CONFIG))) > 12
