"""State and input of the graphs that the package owns."""

from typing import Annotated

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel

# Private and the reducer of a beta channel: imported here only, and a stored thread is tested.
from langgraph.graph.message import _messages_delta_reducer

# pydantic refuses the one of `typing` before Python 3.12: the server could show no schema.
from typing_extensions import TypedDict


class GrowingDelta(DeltaChannel[list[AnyMessage]]):
    """A delta channel that stores its whole list the more rarely the longer the list is.

    With a fixed frequency the snapshots of a long thread take nearly all of its bytes, and
    grow with the square of its length. Here they grow with its length; what is read between
    the newest snapshot and now stays a small share of the list that is read anyway.
    """

    __slots__ = ()
    least = 100
    """Updates between two snapshots of a short list, as LangGraph has it."""
    share = 16
    """A longer list is stored again after updates of 1/16 of its length."""

    @property
    def snapshot_frequency(self) -> int:
        """Updates until the next snapshot. LangGraph asks at every step."""
        known = self.value if isinstance(self.value, list) else ()
        return max(self.least, len(known) // self.share)

    @snapshot_frequency.setter
    def snapshot_frequency(self, updates: int) -> None:
        """LangGraph hands the frequency on to copies; here it follows from the list."""


Messages = Annotated[list[AnyMessage], GrowingDelta(_messages_delta_reducer)]
"""Stored as what was added at each step, so that checkpoints grow linearly."""


class ChatState(TypedDict):
    """The state of the package's graphs, beside the channels of compression."""

    messages: Messages


class ChatInput(TypedDict):
    """What a client may set: messages, and nothing that hides them from the model."""

    messages: Messages
