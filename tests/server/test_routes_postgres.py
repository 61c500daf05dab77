"""The served system on a Postgres checkpointer, started again."""

import contextlib
import json
from pathlib import Path

import psycopg
import pytest

from tests.support.langgraph_server import CONFIG as ROOT_CONFIG
from tests.support.langgraph_server import running_server
from tests.support.served.client import CONFIG, Thread, User
from tests.threads.chat_checkpointer import ADDRESS

pytestmark = [pytest.mark.server, pytest.mark.postgres]

ADA = "token-of-ada"


@pytest.fixture
def config(tmp_path: Path, postgres_uri: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A langgraph.json that names the checkpointer."""
    monkeypatch.setenv(ADDRESS, postgres_uri)
    settings = json.loads(CONFIG.read_text("utf-8"))
    settings["dependencies"] = [str(ROOT_CONFIG.parent)]
    settings["checkpointer"] = {"path": "tests.threads.chat_checkpointer.opened"}
    path = tmp_path / "langgraph.json"
    path.write_text(json.dumps(settings), "utf-8")
    return path


def test_thread_compressed_twice_survives_restarts(
    tmp_path: Path, config: Path, postgres_uri: str
) -> None:
    with (
        running_server(tmp_path, config=config) as server,
        contextlib.closing(User(server, ADA)) as ada,
    ):
        thread = ada.thread()
        first = thread.compress()
        before, status = thread.values, thread.status
    with psycopg.connect(postgres_uri) as connection:
        saved = connection.execute(
            "SELECT count(*) FROM checkpoints WHERE thread_id = %s", (thread.id,)
        ).fetchone()
    assert saved is not None
    assert saved[0] > 0, "the server did not use the checkpointer"

    with (
        running_server(tmp_path, config=config) as server,
        contextlib.closing(User(server, ADA)) as ada,
    ):
        thread = Thread(ada, thread.id)
        assert (thread.values, thread.status) == (before, status)
        thread.run("And berth 9?")
        thread.run("And berth 7?")
        second = thread.compress()
        assert (first["status"], second["status"]) == ("completed", "completed")
        assert thread.get("/history") == {"files": [first["file_path"], second["file_path"]]}
        event = thread.values["_summarization_event"]
        assert event["cutoff_index"] > before["_summarization_event"]["cutoff_index"]
        assert thread.texts[:-4] == [message["content"] for message in before["messages"]]
