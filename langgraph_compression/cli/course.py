"""What happened to a transcript in the graph: values that the reports are made of."""

from dataclasses import dataclass, field
from typing import TypedDict

from langchain_core.messages import BaseMessage


class Parts(TypedDict):
    """Estimated tokens of a request."""

    messages: int
    system: int
    """System prompt, and the system messages at the head of the transcript."""
    tools: int
    total: int


@dataclass(frozen=True)
class SavedText:
    """A large text that a request shows as a preview."""

    message: int
    """Its number in the transcript, from 1."""
    tool: str | None
    """None for the text of a message that is no result."""
    tokens: int
    path: str


@dataclass(frozen=True)
class Summarized:
    """A range of messages that a summary stands for since this request."""

    first: int
    last: int
    path: str | None
    tokens: int
    """Of the summary message."""


@dataclass
class Request:
    """One request of the model."""

    turn: int
    messages: int
    """Messages of the thread."""
    uncompressed: Parts
    """The whole thread."""
    before: int
    """Tokens when it was measured, with the summaries of earlier requests."""
    after: int
    """Tokens as it was sent."""
    saved: list[SavedText] = field(default_factory=list)
    """In this request."""
    clipped: int = 0
    """Messages with clipped arguments in this request."""
    compacted: bool = False
    summarized: Summarized | None = None
    reason: str | None = None
    """Why nothing could be summarized."""
    failures: list[dict[str, str]] = field(default_factory=list)
    flaws: list[str] = field(default_factory=list)
    """What a provider would refuse in it, and is not so in the transcript."""
    flaws_of_transcript: list[str] = field(default_factory=list)


@dataclass
class Outcome:
    """What running a transcript gave."""

    requests: list[Request]
    view: list[BaseMessage]
    """The last request, as the model got it."""
    after: Parts
    """The last request by part."""
    threshold: int
    summarizer_calls: int
    summary: str | None
    """Text of the summary message that stands at the end."""
    covered: int
    """Messages that it stands for."""
    answer: str | None
    """What a model that was really asked said."""
