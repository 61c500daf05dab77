"""Every error that the package itself raises."""


class CompressionError(Exception):
    """Something the package was asked to do could not be done.

    The text says what was wrong, with the value, and what to do. It never holds
    text of the conversation.
    """


class MissingExtraError(CompressionError, ImportError):
    """An optional dependency is not installed.

    Args:
        package: The distribution that is missing.
        extra: The extra of langgraph-compression that brings it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed: pip install 'langgraph-compression[{extra}]'"
        )


class WorkdirError(CompressionError, ValueError):
    """A path that the workdir refuses, or a file it cannot serve."""
