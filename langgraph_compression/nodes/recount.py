"""The `recount` node: how large is the request after compaction? Counted as in `measure`."""

from langgraph_compression.nodes.config import Run
from langgraph_compression.nodes.effects import Steps
from langgraph_compression.nodes.pressure import pressure_of
from langgraph_compression.nodes.report import Update
from langgraph_compression.nodes.request import fill_in
from langgraph_compression.state.schema import CompressionState, RequestView


def recount(run: Run, state: CompressionState, request: RequestView) -> Steps[Update]:
    """Count the request again.

    Returns:
        The reading in `context_pressure`; in mode `compress` nothing new.
    """
    yield from fill_in(run, state, request)
    request["reading"] = pressure_of(run, request["messages"])
    update: Update = {"_request": request}
    if run.mode == "chat":
        update["context_pressure"] = request["reading"]
    return update
