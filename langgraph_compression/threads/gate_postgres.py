"""Not there yet."""


class PostgresGate:
    """Not there yet."""
