"""What a route may refuse, beside a busy thread and a failed compression."""

from langgraph_compression.errors import CompressionError


class NoSuchThread(CompressionError):
    """The caller has no thread of this id."""

    def __init__(self, thread_id: str) -> None:
        super().__init__(f"there is no thread {thread_id!r}")


class Incapable(CompressionError):
    """The thread's graph cannot compress."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name!r} cannot be compressed: {why}")
