"""The events on the custom stream. They carry no text of the conversation and no error text."""

from typing import Any, Literal

from langgraph.config import get_stream_writer
from langgraph.errors import GraphBubbleUp

from langgraph_compression.nodes.effects import Steps
from langgraph_compression.state.schema import RequestView

Status = Literal["started", "completed", "failed"]
Update = dict[str, Any]


def emit(status: Status, request: RequestView, **fields: Any) -> None:
    """Send a `context_compression` event of this request."""
    get_stream_writer()(
        {
            "type": "context_compression",
            "status": status,
            "trigger": request.get("trigger", "threshold"),
            **fields,
        }
    )


def completed(request: RequestView, after_tokens: int, event: Any, **more: Any) -> None:
    """Send `completed`, with what was done."""
    event = event if isinstance(event, dict) else {}
    fields: dict[str, Any] = {
        "before_tokens": request.get("before_tokens"),
        "after_tokens": after_tokens,
        "actions": request.get("actions", []),
        "cutoff_index": event.get("cutoff_index"),
        "file_path": event.get("file_path"),
        **more,
    }
    if request.get("failures"):
        fields["failures"] = request["failures"]
    emit("completed", request, **fields)


def reporting(steps: Steps[Update], request: RequestView) -> Steps[Update]:
    """The steps of a node; what they raise after `started` is reported, then raised."""
    try:
        return (yield from steps)
    except (GraphBubbleUp, GeneratorExit):
        raise
    except BaseException as error:
        if "trigger" in request:
            emit("failed", request, error=type(error).__name__)
        raise
