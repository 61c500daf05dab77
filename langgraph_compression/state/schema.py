"""The channels that the compression nodes read and write."""

from typing import Annotated, Any, NotRequired

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.channels import UntrackedValue

# pydantic refuses the one of `typing` before Python 3.12: the server could show no schema.
from typing_extensions import TypedDict

from langgraph_compression.state.reducers import add_usage, latest, latest_event


class SummarizationEvent(TypedDict):
    """One summary and the messages it stands for. Plain values and one message only.

    `cutoff_index`, `summary_message` and `file_path` have the meaning they have in deepagents.
    """

    cutoff_index: int
    """Full state messages that the summary covers, counted from the first, cumulative."""
    summary_message: HumanMessage
    file_path: str | None
    """History file of the newest range, `outputs/conversation_history/…`."""
    last_id: NotRequired[str | None]
    """Id of the last summarized message."""
    last_digest: NotRequired[str]
    """Digest of the last summarized message: the event applies only where it is found."""
    covered: NotRequired[str]
    """Digest of all messages that the summary was made of, whatever became of them since."""
    replaces: NotRequired[int]
    """Cutoff of an event that stood before, did not apply any more and reached further."""


class ContextPressure(TypedDict):
    """Estimated tokens of a request by part; None = not known."""

    messages: int | None
    system: int | None
    tools: int | None
    total: int | None
    threshold: int
    profile: NotRequired[str]
    """Profile of the estimate, where there is no counter of the user's own."""


class SummaryAttempts(TypedDict, total=False):
    """What is remembered of summaries that did not happen."""

    failures: int
    """Failed calls of the summarizer in a row, by request."""
    wait: int
    """Requests for which no summary is tried."""
    cutoff_index: int
    """Messages that the fallback digest stands for while waiting."""
    file_path: str | None
    error: str
    """Class or kind of the failure, never its text."""


class RequestView(TypedDict, total=False):
    """What is known of the request in preparation. It travels as a `PreparedRequest`."""

    messages: list[AnyMessage]
    reading: ContextPressure
    """The size of the request with this view."""
    shaped: bool
    """The view was put into shape: the system prompt joins its leading system message."""
    trigger: str
    """threshold, overflow or manual; absent before compression started."""
    forced: bool
    before_tokens: int
    """Of the whole request; of the messages when a thread is compressed by hand."""
    actions: list[dict[str, Any]]
    failures: list[dict[str, str]]
    unsaved: list[str]
    """Files that could not be written for this request."""
    overflows: int
    """Requests that the provider refused."""
    refused_tokens: int
    """Estimate of the last refused request."""
    refusal: Any
    """The provider's error of the last refusal."""


class RouteState(TypedDict):
    """What the edges read: no messages, which a stream of events would show at each edge."""

    context_pressure: NotRequired[Annotated[ContextPressure | None, latest]]
    _request: NotRequired[Annotated[Any, UntrackedValue]]
    """A `PreparedRequest`, or nothing. `Any`, so that the server can show a schema."""


class CompressionState(RouteState):
    """What the nodes read and write. `messages` keeps the host's reducer."""

    messages: list[AnyMessage]
    _summarization_event: NotRequired[Annotated[SummarizationEvent | None, latest_event]]
    token_usage: NotRequired[Annotated[dict[str, Any], add_usage]]
    summary_token_usage: NotRequired[Annotated[dict[str, Any], add_usage]]
    _summary_attempts: NotRequired[Annotated[SummaryAttempts | None, latest]]
