"""Is the process that a ticket belongs to alive? A file that it keeps locked tells.

The lock is that of an SQLite transaction which is never finished: the operating system frees
it when the process dies, however it dies, on every system that SQLite runs on.
"""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from uuid import uuid4

LOCK_SECONDS = 10.0
"""The most a new sign waits for somebody who tests whether it is dead."""


class SignOfLife:
    """A locked file in a folder, for as long as this process lives or until `close`.

    Args:
        folder: Where the processes of one gate have their signs; is created.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            self.name = uuid4().hex
            self._file = folder / self.name
            self._connection = _locked(self._file, "rwc", LOCK_SECONDS)
            # Somebody may have found the new file unlocked and removed it.
            if self._file.exists():
                return
            self._connection.close()

    def close(self) -> None:
        """Take the sign away. From now on the tickets of its name are of no account."""
        with suppress(OSError):
            self._file.unlink()
        self._connection.close()


def is_dead(folder: Path, name: str) -> bool:
    """Whether the owner of a sign is gone; its file then is, too."""
    file = folder / name
    if not file.exists():
        return True
    try:
        # Removed while it is locked: else a process that is just starting could lock it.
        with closing(_locked(file, "rw", 0.0)), suppress(OSError):
            file.unlink()
    except sqlite3.OperationalError:
        return not file.exists()
    return True


def _locked(file: Path, mode: str, seconds: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{file.as_uri()}?mode={mode}",
        uri=True,
        timeout=seconds,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("BEGIN EXCLUSIVE")
    except BaseException:
        connection.close()
        raise
    return connection
