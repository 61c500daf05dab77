"""A gate for many processes on many machines."""

import time
from contextlib import ExitStack
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from langgraph_compression.errors import CompressionError, MissingExtraError
from langgraph_compression.threads.gate import ThreadBusy
from langgraph_compression.threads.gate_place import Place, PlaceGate, next_pause, thread_key
from langgraph_compression.threads.gate_postgres_link import DialledLink, PoolLink
from langgraph_compression.threads.gate_postgres_schema import migrate

if TYPE_CHECKING:
    from psycopg import Cursor
    from psycopg_pool import ConnectionPool

SEEN_SECONDS = 3
"""A request that has not asked for that long has crashed, or lets others go first."""
FORGET_SECONDS = 60
"""A request that has not asked for that long is removed; it comes back when it asks."""


class PostgresGate(PlaceGate):
    """Lets one holder at a time to a thread, across machines.

    The holder holds the row lock of its thread in `compression_conversations` (`SELECT … FOR
    UPDATE`) in a transaction that stays open as long: when it crashes, its connection dies
    and the lock is free at once; when its machine vanishes, after about 30 seconds. The
    order comes from numbered tickets in `compression_queue`, because row locks alone let a
    newcomer pass those who wait. Who waits has no connection of its own; it asks again after
    10 to 250 ms. A request that crashed while waiting holds up the queue for 3 seconds.
    If the server closes the holder's connection, the thread is free although the holder goes
    on; its release then logs a warning.

    Connections: one per thread that is held, and one per process for everybody who waits.
    A pool must have more connections than threads held at the same time, or holders wait for
    each other; best it is not the checkpointer's.

    pgbouncer: in session or transaction mode; not in statement mode. No prepared statements
    and no session state are used. Its `idle_transaction_timeout` must be longer than a turn;
    Postgres's own is switched off for the transaction.

    The tables are created at the first use, or by `setup`, in the first schema of the search
    path. A row per thread remains.

    Args:
        connections: A connection string, or a `psycopg_pool.ConnectionPool`.

    Raises:
        MissingExtraError: psycopg is not installed.
        CompressionError: The pool is an asynchronous one.
    """

    def __init__(self, connections: "str | ConnectionPool[Any]") -> None:
        super().__init__()
        try:
            import psycopg  # noqa: F401
        except ImportError as error:
            raise MissingExtraError("psycopg", "postgres") from error
        if isinstance(connections, str):
            self.link: DialledLink | PoolLink = DialledLink(connections)
        elif iscoroutinefunction(connections.getconn):
            raise CompressionError(
                f"connections is a {type(connections).__name__}, which belongs to one event "
                "loop: give a psycopg_pool.ConnectionPool, event loops can use it, too"
            )
        else:
            self.link = PoolLink(connections)
        self._is_set_up = False
        self.holders: set[_PostgresPlace] = set()
        """Kept from the garbage collector, which would break their transactions off anyhow."""

    def setup(self) -> None:
        """Create the tables, or bring them to the newest version.

        Done at the first use by itself; call it with a role that may create tables if the
        program's own role may not. That one needs SELECT, INSERT, UPDATE and DELETE.
        """
        if not self._is_set_up:
            self.link.short(migrate)
            self._is_set_up = True

    def place(self, thread_id: str, *, maintenance: bool) -> "_PostgresPlace":
        """A place in the queue of a thread."""
        return _PostgresPlace(self, thread_id, maintenance)


class _PostgresPlace(Place):
    def __init__(self, gate: PostgresGate, thread_id: str, maintenance: bool) -> None:
        self.gate, self.link = gate, gate.link
        self.thread_id, self.key, self.maintenance = thread_id, thread_key(thread_id), maintenance
        self.ticket: int | None = None
        self.arrived = 0.0
        self.held = ExitStack()

    def enter(self) -> bool:
        self.gate.setup()
        return self.enter_maintenance() if self.maintenance else self.enter_turn()

    def enter_maintenance(self) -> bool:
        self.link.short(self.create_row)
        # First the lock, then the queue: a turn that comes in between waits.
        locked = self.lock_row()
        if self.link.short(self.waiting):
            raise ThreadBusy(self.thread_id, "queued")
        if not locked:
            raise ThreadBusy(self.thread_id, "running")
        return True

    def enter_turn(self) -> bool:
        if self.ticket is None:
            self.arrived = time.monotonic()
            self.ticket = self.link.short(self.take_ticket)
        ahead = self.link.short(self.ahead)
        if ahead or not self.lock_row():
            self.pause = next_pause(ahead or 1, time.monotonic() - self.arrived)
            return False
        self.link.short(self.drop_ticket)
        return True

    def create_row(self, cursor: "Cursor[Any]") -> None:
        cursor.execute(
            "INSERT INTO compression_conversations (thread) VALUES (%s) ON CONFLICT DO NOTHING",
            (self.key,),
        )

    def take_ticket(self, cursor: "Cursor[Any]") -> int:
        cursor.execute(
            "DELETE FROM compression_queue WHERE ticket IN (SELECT ticket FROM compression_queue "
            "WHERE seen < now() - make_interval(secs => %s) FOR UPDATE SKIP LOCKED)",
            (FORGET_SECONDS,),
        )
        cursor.execute(
            "INSERT INTO compression_queue (thread) VALUES (%s) RETURNING ticket",
            (self.key,),
        )
        return _number(cursor)

    def ahead(self, cursor: "Cursor[Any]") -> int:
        """Requests before this one, the holder counted as one; says that this one is alive."""
        self.create_row(cursor)
        cursor.execute(
            "INSERT INTO compression_queue (ticket, thread) OVERRIDING SYSTEM VALUE "
            "VALUES (%s, %s) ON CONFLICT (ticket) DO UPDATE SET seen = now() "
            "WHERE compression_queue.seen < now() - interval '0.5 seconds'",
            (self.ticket, self.key),
        )
        before = self.waiting(cursor)
        # Asked here, with the connection that everybody shares, so that the first of the
        # queue does not dial one each time. The lock ends with this short transaction.
        return before if before else int(not self.row_is_free(cursor))

    def waiting(self, cursor: "Cursor[Any]") -> int:
        """Requests in the queue, before this one if it is in the queue itself."""
        cursor.execute(
            "SELECT count(*) FROM compression_queue WHERE thread = %s "
            "AND seen > now() - make_interval(secs => %s) "
            "AND (%s::bigint IS NULL OR ticket < %s)",
            (self.key, SEEN_SECONDS, self.ticket, self.ticket),
        )
        return _number(cursor)

    def row_is_free(self, cursor: "Cursor[Any]") -> bool:
        cursor.execute(
            "SELECT 1 FROM compression_conversations WHERE thread = %s FOR UPDATE SKIP LOCKED",
            (self.key,),
        )
        return cursor.fetchone() is not None

    def lock_row(self) -> bool:
        """Lock the row, if it is free, until `held` is closed."""
        with ExitStack() as stack:
            cursor = stack.enter_context(self.link.held())
            cursor.execute(
                "SELECT set_config(name, value, true) FROM (VALUES "
                # A turn may think longer than idle transactions are allowed to.
                "('idle_in_transaction_session_timeout', '0'), ('transaction_timeout', '0'), "
                # Notice a machine that vanished.
                "('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), "
                "('tcp_keepalives_count', '4')) AS wanted (name, value) "
                "WHERE name IN (SELECT name FROM pg_settings)",
            )
            if not self.row_is_free(cursor):
                return False
            self.held = stack.pop_all()
            self.gate.holders.add(self)
            return True

    def drop_ticket(self, cursor: "Cursor[Any]") -> None:
        cursor.execute("DELETE FROM compression_queue WHERE ticket = %s", (self.ticket,))
        self.ticket = None

    def leave(self) -> None:
        self.gate.holders.discard(self)
        try:
            self.held.close()
        finally:
            if self.ticket is not None:
                self.link.short(self.drop_ticket)


def _number(cursor: "Cursor[Any]") -> int:
    row = cursor.fetchone()
    assert row is not None
    return int(row[0])
