"""Not there yet."""


class SqliteGate:
    """Not there yet."""
