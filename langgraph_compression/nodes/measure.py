"""The `measure` node: how large is the request?"""

from typing import Any, cast

from langgraph_compression.nodes.config import Run
from langgraph_compression.nodes.effects import Steps
from langgraph_compression.nodes.report import Update
from langgraph_compression.nodes.request import fill_in
from langgraph_compression.state.schema import CompressionState, RequestView


def measure(run: Run, state: CompressionState, request: RequestView) -> Steps[Update]:
    """Build the view of the state and count the request.

    Returns:
        The view in `_request`, the reading in `context_pressure`. In mode `compress` no
        reading: the state changes only if the thread is compressed.
    """
    cast("dict[str, Any]", request).clear()  # what an earlier run may have left behind
    yield from fill_in(run, state, request)
    update: Update = {"_request": request}
    if run.mode == "chat":
        update["context_pressure"] = request["reading"]
    return update
