"""Where a gate keeps its queue, in a form that can be sent to other processes."""

import time
from dataclasses import dataclass
from typing import Literal

from langgraph_compression.threads.gate import Gate, Reason, ThreadBusy
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


def busy_reason(gate: Gate, thread_id: str = "t") -> Reason | None:
    """What compress now is told; None = it may."""
    try:
        with gate.maintenance(thread_id):
            return None
    except ThreadBusy as busy:
        return busy.reason if busy.thread_id == thread_id else None


def wait_until_queued(gate: Gate) -> None:
    """Until somebody waits for the thread "t"."""
    deadline = time.monotonic() + 10
    while busy_reason(gate) != "queued":
        assert time.monotonic() < deadline, "nobody waits"
        time.sleep(0.005)
