"""What only the Postgres gate promises."""

import logging
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from langgraph_compression import CompressionError, PostgresGate, ThreadBusy
from langgraph_compression.errors import MissingExtraError
from tests.threads.gate_stores import busy_reason

pytestmark = pytest.mark.postgres


@pytest.fixture
def admin(postgres_schema: str) -> Iterator["psycopg.Connection[tuple[Any, ...]]"]:
    """A look into the schema from outside."""
    with psycopg.connect(postgres_schema, autocommit=True) as connection:
        yield connection


def with_options(conninfo: str, more: str) -> str:
    return make_conninfo(conninfo, options=f"{conninfo_to_dict(conninfo)['options']} {more}")


def versions(admin: "psycopg.Connection[tuple[Any, ...]]") -> list[int]:
    rows = admin.execute("SELECT version FROM compression_migrations ORDER BY version")
    return [int(version) for (version,) in rows]


# Tables.


def test_many_may_set_up_at_once(
    postgres_schema: str, admin: "psycopg.Connection[tuple[Any, ...]]"
) -> None:
    with ThreadPoolExecutor(12) as pool:
        for task in [pool.submit(PostgresGate(postgres_schema).setup) for _ in range(12)]:
            task.result()
    assert versions(admin) == [1]
    PostgresGate(postgres_schema).setup()
    assert versions(admin) == [1]


def test_tables_of_a_newer_version_are_left_alone(
    postgres_schema: str, admin: "psycopg.Connection[tuple[Any, ...]]"
) -> None:
    PostgresGate(postgres_schema).setup()
    admin.execute("INSERT INTO compression_migrations (version) VALUES (99)")
    with PostgresGate(postgres_schema).turn("t"):
        pass
    assert versions(admin) == [1, 99]


def test_a_role_without_the_right_to_create_can_use_the_tables(
    postgres_schema: str, admin: "psycopg.Connection[tuple[Any, ...]]"
) -> None:
    PostgresGate(postgres_schema).setup()
    role = str(conninfo_to_dict(postgres_schema)["options"]).split("=")[-1]
    for statement in (
        f"CREATE ROLE {role}_user",
        f"GRANT USAGE ON SCHEMA {role} TO {role}_user",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {role} TO {role}_user",
    ):
        admin.execute(statement.encode())
    gate = PostgresGate(with_options(postgres_schema, f"-c role={role}_user"))
    with gate.turn("t"):
        assert busy_reason(gate) == "running"


def test_one_row_is_kept_for_a_thread_and_none_of_the_queue(
    postgres_schema: str, admin: "psycopg.Connection[tuple[Any, ...]]"
) -> None:
    gate = PostgresGate(postgres_schema)
    other = PostgresGate(postgres_schema)
    for thread_id in ("a", "b", "a"):
        with gate.turn(thread_id):
            assert busy_reason(gate, thread_id) == "running"
            with pytest.raises(ThreadBusy), other.turn(thread_id, timeout=0):
                pytest.fail("entered")
    count = "SELECT (SELECT count(*) FROM compression_conversations), count(*)"
    assert admin.execute(f"{count} FROM compression_queue".encode()).fetchone() == (2, 0)


# Connections.


def test_the_holder_holds_the_lock_of_a_row(
    postgres_schema: str, admin: "psycopg.Connection[tuple[Any, ...]]"
) -> None:
    gate = PostgresGate(postgres_schema)
    free = "SELECT count(*) FROM (SELECT 1 FROM compression_conversations FOR UPDATE SKIP LOCKED) a"
    with gate.turn("t"):
        assert admin.execute(free).fetchone() == (0,)
    assert admin.execute(free).fetchone() == (1,)


def test_a_lost_connection_frees_the_thread_and_is_logged(
    postgres_schema: str,
    admin: "psycopg.Connection[tuple[Any, ...]]",
    caplog: pytest.LogCaptureFixture,
) -> None:
    gate = PostgresGate(postgres_schema)
    with pytest.raises(ZeroDivisionError), gate.turn("t"):  # noqa: PT012
        end_all_connections(admin)
        assert busy_reason(PostgresGate(postgres_schema)) is None
        raise ZeroDivisionError
    [record] = caplog.records
    assert (record.levelno, "'t'" in record.getMessage()) == (logging.WARNING, True)
    assert busy_reason(gate) is None


def end_all_connections(admin: "psycopg.Connection[tuple[Any, ...]]") -> None:
    others = (
        "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    admin.execute(f"SELECT pg_terminate_backend(pid) {others}".encode())
    deadline = time.monotonic() + 10
    while admin.execute(f"SELECT 1 {others}".encode()).fetchone():
        assert time.monotonic() < deadline


def test_a_restarted_server_is_not_noticed_between_turns(
    postgres_schema: str, admin: "psycopg.Connection[tuple[Any, ...]]"
) -> None:
    gate = PostgresGate(postgres_schema)
    for _ in range(2):
        with gate.turn("t"):
            pass
        end_all_connections(admin)


def test_a_turn_may_last_longer_than_idle_transactions_may(postgres_schema: str) -> None:
    strict = with_options(postgres_schema, "-c idle_in_transaction_session_timeout=100ms")
    gate = PostgresGate(strict)
    with gate.turn("t"):
        time.sleep(0.4)
        assert busy_reason(gate) == "running"


def test_a_strict_isolation_level_of_the_database_does_no_harm(postgres_schema: str) -> None:
    gate = PostgresGate(
        with_options(postgres_schema, "-c default_transaction_isolation=serializable")
    )

    def work() -> None:
        for number in range(10):
            with gate.turn(f"t-{number}"):
                pass

    with ThreadPoolExecutor(4) as pool:
        for task in [pool.submit(work) for _ in range(4)]:
            task.result()


def test_who_waits_has_no_connection_of_its_own(
    postgres_schema: str, admin: "psycopg.Connection[tuple[Any, ...]]"
) -> None:
    gate = PostgresGate(make_conninfo(postgres_schema, application_name="the gate"))

    def turn() -> None:
        with gate.turn("t"):
            pass

    with ThreadPoolExecutor(10) as pool:
        with gate.turn("t"):
            waiting = [pool.submit(turn) for _ in range(10)]
            time.sleep(0.3)
            connections = admin.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'the gate'"
            ).fetchone()
            assert connections == (2,), "the holder's, and one for all who wait"
        for task in waiting:
            task.result()


# Pools.


@pytest.mark.parametrize(
    "kwargs",
    [{}, {"autocommit": True, "row_factory": dict_row, "prepare_threshold": 0}],
    ids=["plain", "as the checkpointer's"],
)
def test_a_pool(postgres_schema: str, kwargs: dict[str, Any]) -> None:
    with ConnectionPool(postgres_schema, min_size=1, max_size=4, kwargs=kwargs) as pool:
        gate = PostgresGate(pool)
        with gate.turn("t"), gate.turn("another"):
            assert busy_reason(gate) == "running"
            assert busy_reason(PostgresGate(postgres_schema)) == "running"
        assert busy_reason(gate) is None
        with pool.connection() as connection:
            assert connection.prepare_threshold == kwargs.get("prepare_threshold", 5)
            assert connection.execute("SELECT 1 AS one").fetchone() in [(1,), {"one": 1}]


def test_more_requests_than_a_pool_has_connections(postgres_schema: str) -> None:
    """Those who wait do not use up the pool, so who holds can go on."""
    with ConnectionPool(postgres_schema, min_size=1, max_size=2) as pool, ExitStack() as stack:
        gate, done = PostgresGate(pool), []

        def turn(number: int) -> None:
            with gate.turn("t"), pool.connection() as connection:
                connection.execute("SELECT 1")
                done.append(number)

        threads = stack.enter_context(ThreadPoolExecutor(12))
        for task in [threads.submit(turn, number) for number in range(12)]:
            task.result()
        assert sorted(done) == list(range(12))


def test_an_asynchronous_pool_is_refused(postgres_schema: str) -> None:
    pool = AsyncConnectionPool(postgres_schema, open=False)
    with pytest.raises(CompressionError, match="AsyncConnectionPool"):
        PostgresGate(pool)  # type: ignore[arg-type]


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"langgraph-compression\[postgres\]"):
        PostgresGate("dbname=any")
