"""Where a gate keeps its queue, in a form that can be sent to other processes."""

from dataclasses import dataclass
from typing import Literal

from langgraph_compression.threads.gate import Gate
from langgraph_compression.threads.gate_memory import MemoryGate
from langgraph_compression.threads.gate_postgres import PostgresGate
from langgraph_compression.threads.gate_sqlite import SqliteGate


@dataclass(frozen=True)
class Store:
    """A place for gates."""

    kind: Literal["memory", "sqlite", "postgres"]
    where: str

    def open(self) -> Gate:
        """A gate as each process opens it."""
        if self.kind == "sqlite":
            return SqliteGate(self.where)
        if self.kind == "postgres":
            return PostgresGate(self.where)
        return MemoryGate()
