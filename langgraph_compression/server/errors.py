"""What the server may refuse, beside a busy thread and a failed compression."""

from collections.abc import Mapping

from langgraph_compression.errors import CompressionError


class NoSuchThread(CompressionError):
    """The caller has no thread of this id."""

    def __init__(self, thread_id: str) -> None:
        super().__init__(f"there is no thread {thread_id!r}")


class Incapable(CompressionError):
    """The thread's graph cannot compress."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name!r} cannot be compressed: {why}")


class UnknownField(CompressionError, ValueError):
    """A run's context has fields that nobody knows.

    A `ValueError`: of most others the server tells the client the class only.

    Args:
        hints: Name of the field → what to do.
    """

    def __init__(self, hints: Mapping[str, str]) -> None:
        told = "; ".join(f"unknown field {name!r}: {hint}" for name, hint in hints.items())
        super().__init__(f"the run's context has an {told}")
