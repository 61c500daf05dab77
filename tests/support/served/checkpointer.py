"""An SQLite checkpointer for LangGraph Server."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from tests.support.served.graphs import FOLDER


@asynccontextmanager
async def opened() -> AsyncIterator[AsyncSqliteSaver]:
    """The checkpointer that langgraph.json names."""
    path = Path(os.environ[FOLDER]) / "threads.sqlite"
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        yield saver
