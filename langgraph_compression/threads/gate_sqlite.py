"""A gate for the processes of one machine."""

import time
from os import PathLike
from pathlib import Path
from uuid import uuid4

from langgraph_compression.errors import CompressionError
from langgraph_compression.threads.gate import ThreadBusy
from langgraph_compression.threads.gate_place import (
    PerProcess,
    Place,
    PlaceGate,
    next_pause,
    thread_key,
)
from langgraph_compression.threads.gate_sqlite_office import Office

CHECK_SECONDS = 0.1
"""Who waits looks that often whether the process before it is alive."""


class SqliteGate(PlaceGate):
    """Lets one holder at a time to a thread, across the processes of one machine.

    Every request takes a numbered ticket of its thread in one SQLite file, in a statement of
    less than a millisecond: the lowest number holds the thread. No transaction stays open
    while a thread is held, so threads do not block each other. Tickets of a process that
    crashed, inside or in the queue, are removed as soon as somebody waits for them: beside
    the file, in `<path>.alive/`, each process keeps a file locked.

    Who waits asks again after 10 to 250 ms. Not for network file systems, whose locks cannot
    be trusted. The file may be that of a checkpointer; one of its own is better.

    Args:
        path: The file; it and its folder are created at the first use.

    Raises:
        CompressionError: The path is no file, such as ":memory:".
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        super().__init__()
        if str(path) in ("", ":memory:") or str(path).startswith("file:"):
            raise CompressionError(
                f"path is {str(path)!r}: name a file; for one process there is MemoryGate"
            )
        # Resolved: through a link, the signs of life would be looked for in another folder.
        file = Path(path).resolve()
        self._office = PerProcess(lambda: Office(file))

    def place(self, thread_id: str, *, maintenance: bool) -> "_SqlitePlace":
        """A place in the queue of a thread."""
        return _SqlitePlace(self._office, thread_id, maintenance)


class _SqlitePlace(Place):
    def __init__(self, office: PerProcess[Office], thread_id: str, maintenance: bool) -> None:
        self.get_office = office.get
        self.thread_id, self.key, self.maintenance = thread_id, thread_key(thread_id), maintenance
        # Chosen here, not by the store: whatever was interrupted, it can be removed.
        self.name = uuid4().hex
        self.arrived: float | None = None
        self.checked = -CHECK_SECONDS

    def enter(self) -> bool:
        office = self.get_office()
        return self.enter_maintenance(office) if self.maintenance else self.enter_turn(office)

    def enter_maintenance(self, office: Office) -> bool:
        while True:
            with office.writing() as db:
                tickets = db.execute(
                    "SELECT owner, inside FROM compression_tickets WHERE thread = ?", (self.key,)
                ).fetchall()
                if not tickets:
                    self.take_ticket(office, inside=True)
                    return True
            dead = [owner for owner in {owner for owner, _ in tickets} if office.remove_dead(owner)]
            if not dead:
                waiting = not all(inside for _, inside in tickets)
                raise ThreadBusy(self.thread_id, "queued" if waiting else "running")

    def enter_turn(self, office: Office) -> bool:
        if self.arrived is None:
            with office.writing():
                self.take_ticket(office, inside=False)
        while ahead := self.ahead(office):
            if not self.removed_dead(office, ahead[0]):
                waited = time.monotonic() - (self.arrived or 0.0)
                self.pause = next_pause(len(ahead), waited)
                return False
        with office.writing() as db:
            found = db.execute(
                "UPDATE compression_tickets SET inside = 1 WHERE place = ?", (self.name,)
            ).rowcount
        if not found:
            raise CompressionError(
                f"the ticket for thread {self.thread_id!r} is gone: does something clean up "
                f"{str(office.signs)!r}?"
            )
        return True

    def take_ticket(self, office: Office, *, inside: bool) -> None:
        self.arrived = time.monotonic()
        office.db.execute(
            "INSERT INTO compression_tickets (thread, place, owner, inside) VALUES (?, ?, ?, ?)",
            (self.key, self.name, office.owner, inside),
        )

    def ahead(self, office: Office) -> list[str]:
        """The owners of the tickets before this one, the holder's first."""
        with office.lock:
            rows = office.db.execute(
                "SELECT owner FROM compression_tickets WHERE thread = ? AND ticket < "
                "(SELECT ticket FROM compression_tickets WHERE place = ?) ORDER BY ticket",
                (self.key, self.name),
            ).fetchall()
        return [owner for (owner,) in rows]

    def removed_dead(self, office: Office, owner: str) -> bool:
        now = time.monotonic()
        if now - self.checked < CHECK_SECONDS:
            return False
        dead = office.remove_dead(owner)
        # After a dead one, the next is looked at without waiting.
        self.checked = -CHECK_SECONDS if dead else now
        return dead

    def leave(self) -> None:
        if self.arrived is not None:
            self.get_office().give_up(self.name)
