"""A Postgres checkpointer for LangGraph Server."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

ADDRESS = "TEST_CHECKPOINTS_POSTGRES"
"""Environment variable with the connection string."""


@asynccontextmanager
async def opened() -> AsyncIterator[AsyncPostgresSaver]:
    """The checkpointer that langgraph.json names."""
    async with AsyncPostgresSaver.from_conn_string(os.environ[ADDRESS]) as saver:
        await saver.setup()
        yield saver
