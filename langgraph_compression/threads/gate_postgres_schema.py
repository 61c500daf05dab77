"""The tables of the Postgres gate, created step by step."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Cursor

MIGRATIONS = (
    """
    CREATE TABLE compression_conversations (
        thread text PRIMARY KEY,
        created timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE compression_conversations IS
        'One row per thread; who holds a thread holds the lock of its row.';
    CREATE TABLE compression_queue (
        ticket bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        thread text NOT NULL,
        seen timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX compression_queue_thread ON compression_queue (thread, ticket);
    COMMENT ON TABLE compression_queue IS
        'Who waits for a thread, in order, and when they were last seen waiting.';
    """,
)
"""Number n brings the tables from version n to n + 1. Only append."""

LOCK = 0x6C67_636F_6D70
"""Advisory lock of a migration: "lgcomp" in ASCII."""


def migrate(cursor: "Cursor[Any]") -> None:
    """Bring the tables to the newest version, inside of the caller's transaction.

    Any number of processes may do this at once. When nothing is to be done, the rights to
    create tables are not needed; tables of a newer version are left alone.
    """
    if _version(cursor) >= len(MIGRATIONS):
        return
    cursor.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
    cursor.execute(
        "CREATE TABLE IF NOT EXISTS compression_migrations ("
        "version integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())"
    )
    for version in range(_version(cursor), len(MIGRATIONS)):
        cursor.execute(MIGRATIONS[version])
        cursor.execute("INSERT INTO compression_migrations (version) VALUES (%s)", (version + 1,))


def _version(cursor: "Cursor[Any]") -> int:
    cursor.execute("SELECT to_regclass('compression_migrations') IS NOT NULL")
    row = cursor.fetchone()
    if row is None or not row[0]:
        return 0
    cursor.execute("SELECT coalesce(max(version), 0) FROM compression_migrations")
    row = cursor.fetchone()
    return int(row[0]) if row else 0
