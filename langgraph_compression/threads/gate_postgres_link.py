"""Transactions of the Postgres gate: short ones, and one that is held."""

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from langgraph_compression.threads.gate_place import PerProcess

if TYPE_CHECKING:
    from psycopg import Connection, Cursor
    from psycopg_pool import ConnectionPool

T = TypeVar("T")


class PoolLink:
    """Every transaction borrows a connection."""

    def __init__(self, pool: "ConnectionPool[Any]") -> None:
        self.pool = pool

    @contextmanager
    def held(self) -> Iterator["Cursor[Any]"]:
        """A transaction for as long as the context."""
        with self.pool.connection() as connection, transaction(connection) as cursor:
            yield cursor

    def short(self, work: Callable[["Cursor[Any]"], T]) -> T:
        """Run `work` in a transaction of its own."""
        with self.held() as cursor:
            return work(cursor)


class DialledLink:
    """Held transactions have a new connection each, short ones share one per process."""

    def __init__(self, conninfo: str) -> None:
        self.conninfo = conninfo
        self.shared = PerProcess(lambda: _Shared(conninfo))

    @contextmanager
    def held(self) -> Iterator["Cursor[Any]"]:
        """A transaction for as long as the context."""
        with _dial(self.conninfo) as connection, transaction(connection) as cursor:
            yield cursor

    def short(self, work: Callable[["Cursor[Any]"], T]) -> T:
        """Run `work` in a transaction of its own."""
        return self.shared.get().run(work)


class _Shared:
    """A connection that is kept, and renewed when it is lost."""

    def __init__(self, conninfo: str) -> None:
        self.conninfo = conninfo
        self.lock = threading.Lock()
        self.connection: Connection[Any] | None = None

    def run(self, work: Callable[["Cursor[Any]"], T]) -> T:
        with self.lock:
            old = self.connection
            if old is not None and not old.closed:
                try:
                    with transaction(old) as cursor:
                        return work(cursor)
                except Exception:
                    # Lost: the server was restarted, or closes idle connections.
                    if not old.closed:
                        raise
            self.connection = _dial(self.conninfo)
            weakref.finalize(self, _close, os.getpid(), self.connection)
            with transaction(self.connection) as cursor:
                return work(cursor)


@contextmanager
def transaction(connection: "Connection[Any]") -> Iterator["Cursor[Any]"]:
    """A transaction that works whatever the connection's defaults are, also with pgbouncer."""
    from psycopg.rows import tuple_row

    threshold = connection.prepare_threshold
    connection.prepare_threshold = None
    try:
        with connection.transaction(), connection.cursor(row_factory=tuple_row) as cursor:
            # A stricter level would refuse to lock a row that somebody has just created.
            cursor.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
            yield cursor
    finally:
        connection.prepare_threshold = threshold


def _dial(conninfo: str) -> "Connection[Any]":
    import psycopg

    return psycopg.connect(conninfo, autocommit=True)


def _close(pid: int, connection: "Connection[Any]") -> None:
    # What a forked child inherited is still used by its parent.
    if os.getpid() == pid:
        connection.close()
