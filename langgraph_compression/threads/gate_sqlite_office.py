"""The ticket office of the SQLite gate: one file, a connection for each process."""

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from langgraph_compression.threads.gate_sqlite_sign import SignOfLife, is_dead

BUSY_SECONDS = 30.0
"""The most a statement waits for the statement of another process."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS compression_tickets (
    ticket INTEGER PRIMARY KEY AUTOINCREMENT,
    thread TEXT NOT NULL,
    place TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    inside INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS compression_tickets_thread ON compression_tickets (thread, ticket);
"""


class Office:
    """What a process needs to use the file: a connection, and a sign that it is alive.

    Args:
        file: The SQLite file, without links in its path. Made when it is not there.
    """

    def __init__(self, file: Path) -> None:
        self.signs = file.with_name(file.name + ".alive")
        sign = SignOfLife(self.signs)
        self.owner = sign.name
        self.lock = threading.Lock()
        self.db = sqlite3.connect(
            file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        self.given_up: set[str] = set()
        """Places that could not be removed yet."""
        # At the end of the process, too: a clean end leaves no sign behind.
        weakref.finalize(self, _close, os.getpid(), self.db, sign)
        _use_wal(self.db)
        self.db.executescript(SCHEMA)
        for sign_file in list(self.signs.iterdir()):
            self.remove_dead(sign_file.name)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction."""
        with self.lock:
            try:
                self.db.execute("BEGIN IMMEDIATE")
                self.db.executemany(
                    "DELETE FROM compression_tickets WHERE place = ?",
                    [(place,) for place in self.given_up],
                )
                yield self.db
                self.db.execute("COMMIT")
                self.given_up.clear()
            except BaseException:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                raise

    def give_up(self, place: str) -> None:
        """Remove a place; if that fails, with the next transaction of this process."""
        with self.lock:
            self.given_up.add(place)
        with self.writing():
            pass

    def remove_dead(self, owner: str) -> bool:
        """Whether the process is gone; its tickets then are, too."""
        if owner == self.owner or not is_dead(self.signs, owner):
            return False
        with self.writing() as db:
            db.execute("DELETE FROM compression_tickets WHERE owner = ?", (owner,))
        return True


def _use_wal(db: sqlite3.Connection) -> None:
    """Readers, who wait, do not block writers. Needs the file alone for a moment."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _close(pid: int, db: sqlite3.Connection, sign: SignOfLife) -> None:
    # A forked child must not take away the sign of its parent.
    if os.getpid() == pid:
        db.close()
        sign.close()
