"""A witness of interleaving that knows nothing about gates."""

import time
from pathlib import Path


class Witness:
    """A counter in a file that two visitors at once break, and a marker that only one can set.

    Args:
        folder: Where its files are.
    """

    def __init__(self, folder: Path) -> None:
        self.counter = folder / "counter"
        self.marker = folder / "inside"

    def visit(self, seconds: float = 0.0) -> None:
        """Count one visit, with time for others to interfere.

        Raises:
            FileExistsError: Somebody else is inside.
        """
        self.marker.touch(exist_ok=False)
        before = self.visits()
        time.sleep(seconds)
        self.counter.write_text(str(before + 1))
        self.marker.unlink()

    def visits(self) -> int:
        """How many visits were counted."""
        return int(self.counter.read_text()) if self.counter.exists() else 0
