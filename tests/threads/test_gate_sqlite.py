"""What only the SQLite gate promises."""

import logging
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from langgraph_compression import CompressionError, SqliteGate
from langgraph_compression.threads import gate_sqlite_office
from tests.threads.gate_stores import busy_reason, wait_until_queued


def test_gates_on_one_file_are_one_gate(tmp_path: Path) -> None:
    """Also by way of a link and of an unusual spelling."""
    (tmp_path / "link.db").symlink_to(tmp_path / "new" / "gate.db")
    first = SqliteGate(tmp_path / "new" / "gate.db")
    others = [
        SqliteGate(tmp_path / "link.db"),
        SqliteGate(f"{tmp_path}/new/../new/./gate.db"),
    ]
    with first.turn("t"):
        for other in others:
            assert busy_reason(other) == "running"
    with others[0].turn("t"):
        assert busy_reason(first) == "running"


def test_a_relative_path_stays_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    gate = SqliteGate("gate.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with gate.turn("t"):
        assert (tmp_path / "gate.db").exists()


@pytest.mark.parametrize("path", ["", ":memory:", "file:x?mode=memory"])
def test_a_path_that_is_no_file_is_refused(path: str) -> None:
    with pytest.raises(CompressionError, match="MemoryGate"):
        SqliteGate(path)


def test_nothing_is_written_before_the_first_use(tmp_path: Path) -> None:
    SqliteGate(tmp_path / "gate.db").turn("t")
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_ends_well_leaves_no_sign(tmp_path: Path) -> None:
    program = (
        "import sys; from langgraph_compression import SqliteGate\n"
        "with SqliteGate(sys.argv[1]).turn('t'): pass\n"
    )
    path = tmp_path / "gate.db"
    subprocess.run([sys.executable, "-c", program, path], check=True)
    assert list((tmp_path / "gate.db.alive").iterdir()) == []
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM compression_tickets").fetchone() == (0,)


def test_signs_of_crashed_processes_are_removed_when_another_starts(tmp_path: Path) -> None:
    program = (
        "import os, sys; from langgraph_compression import SqliteGate\n"
        "SqliteGate(sys.argv[1]).turn('t').__enter__(); os._exit(0)\n"
    )
    path = tmp_path / "gate.db"
    for _ in range(3):
        subprocess.run([sys.executable, "-c", program, path], check=True)
    gate = SqliteGate(path)
    with gate.turn("another"):
        assert len(list((tmp_path / "gate.db.alive").iterdir())) == 1
    assert busy_reason(gate) is None


def test_the_file_may_be_that_of_the_checkpointer(tmp_path: Path) -> None:
    gate = SqliteGate(tmp_path / "chat.db")
    with SqliteSaver.from_conn_string(str(tmp_path / "chat.db")) as saver:
        saver.setup()
        with gate.turn("t"):
            assert list(saver.list({"configurable": {"thread_id": "t"}})) == []
            assert busy_reason(gate) == "running"


def test_a_release_that_fails_is_logged_and_made_good_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(gate_sqlite_office, "BUSY_SECONDS", 0.05)
    path = tmp_path / "gate.db"
    gate, other = SqliteGate(path), SqliteGate(path)
    assert busy_reason(other) is None
    with closing(sqlite3.connect(path, isolation_level=None)) as blocker:
        with pytest.raises(ZeroDivisionError), gate.turn("t"):  # noqa: PT012
            blocker.execute("BEGIN IMMEDIATE")
            raise ZeroDivisionError
        [record] = caplog.records
        assert record.levelno == logging.WARNING
        assert "'t'" in record.getMessage()
        blocker.execute("ROLLBACK")
    with gate.turn("any other"):
        assert busy_reason(other) is None


def test_a_ticket_that_was_taken_away_is_not_used(tmp_path: Path) -> None:
    """Something removes the signs of life, as cleaners of temporary folders do."""
    gate, other = SqliteGate(tmp_path / "gate.db"), SqliteGate(tmp_path / "gate.db")

    def turn() -> None:
        with gate.turn("t"):
            pytest.fail("entered")

    with ThreadPoolExecutor(1) as pool:
        with other.turn("t"):
            holders = set((tmp_path / "gate.db.alive").iterdir())
            waiting = pool.submit(turn)
            wait_until_queued(other)
            for sign in set((tmp_path / "gate.db.alive").iterdir()) - holders:
                sign.unlink()
            assert busy_reason(other) == "running", "who waits is taken for dead"
        with pytest.raises(CompressionError, match=r"clean up .*gate\.db\.alive"):
            waiting.result()
