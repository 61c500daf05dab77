"""State and input of the graphs that the package owns."""

from typing import Annotated

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel

# Private and the reducer of a beta channel: imported here only, and a stored thread is tested.
from langgraph.graph.message import _messages_delta_reducer

# pydantic refuses the one of `typing` before Python 3.12: the server could show no schema.
from typing_extensions import TypedDict

Messages = Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]
"""Stored as what was added at each step, so that checkpoints grow linearly."""


class ChatState(TypedDict):
    """The state of the package's graphs, beside the channels of compression."""

    messages: Messages


class ChatInput(TypedDict):
    """What a client may set: messages, and nothing that hides them from the model."""

    messages: Messages
