"""The `compact` node: make the request smaller without losing anything and without a model."""

from langgraph_compression.nodes.config import Run
from langgraph_compression.nodes.effects import Steps
from langgraph_compression.nodes.report import Update
from langgraph_compression.nodes.request import applied_now, begin, compacted_view, fill_in, show
from langgraph_compression.state.schema import CompressionState, RequestView


def compact(run: Run, state: CompressionState, request: RequestView) -> Steps[Update]:
    """Clip long arguments and replace large tool results by previews of saved files.

    Returns:
        The smaller view in `_request`. The messages of the state stay as they are.
    """
    fill_in(run, state, request)
    begin(run, request)
    if run.mode == "compress":  # the range is compacted where it is chosen, in summarize
        return {"_request": request}
    workdir = yield from run.open_workdir()
    view = yield from compacted_view(run, workdir, state, request, applied_now(state))
    show(run, request, view)
    return {"_request": request}
