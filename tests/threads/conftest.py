"""One gate of each kind, each test with a store of its own."""

from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from langgraph_compression.threads.gate import Gate
from tests.threads.gate_stores import Store

POSTGRES = pytest.param("postgres", marks=pytest.mark.postgres)


@pytest.fixture
def postgres_schema(postgres_uri: str) -> str:
    """A connection string to an empty schema."""
    schema = f"gate_{uuid4().hex}"
    with psycopg.connect(postgres_uri, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    return make_conninfo(postgres_uri, options=f"-c search_path={schema}")


def _store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    kind = request.param
    if kind == "postgres":
        return Store(kind, request.getfixturevalue("postgres_schema"))
    return Store(kind, str(tmp_path / "gate.db"))


@pytest.fixture(params=["memory", "sqlite", POSTGRES])
def gate(request: pytest.FixtureRequest, tmp_path: Path) -> Gate:
    """A gate of every kind."""
    return _store(request, tmp_path).open()


@pytest.fixture(params=["sqlite", POSTGRES])
def shared_store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """A store that several processes can use."""
    return _store(request, tmp_path)
