"""The served system on a checkpointer of its own, started again on the same files."""

import contextlib
from pathlib import Path

import pytest

from tests.support.langgraph_server import running_server
from tests.support.served.client import CONFIG, Thread, User

pytestmark = pytest.mark.server

ADA = "token-of-ada"


def test_compressed_thread_survives_a_restart(tmp_path: Path) -> None:
    config = CONFIG.with_name("langgraph-sqlite.json")
    with (
        running_server(tmp_path, config=config) as server,
        contextlib.closing(User(server, ADA)) as ada,
    ):
        thread = ada.thread()
        done = thread.compress()
        before, status = thread.values, thread.status
    assert (tmp_path / "threads.sqlite").stat().st_size > 0

    with (
        running_server(tmp_path, config=config) as server,
        contextlib.closing(User(server, ADA)) as ada,
    ):
        thread = Thread(ada, thread.id)
        assert (thread.values, thread.status) == (before, status)
        assert thread.get("/history") == {"files": [done["file_path"]]}
        thread.run("And berth 9?")
        assert thread.values["_summarization_event"] == before["_summarization_event"]
        assert thread.values["context_pressure"]["total"] < 1024  # the summary is in force
        assert thread.texts[:-2] == [message["content"] for message in before["messages"]]
