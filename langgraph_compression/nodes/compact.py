"""The `compact` node: make the request smaller without losing anything and without a model."""

from langgraph_compression.nodes.config import Run
from langgraph_compression.nodes.effects import Steps
from langgraph_compression.nodes.report import Update
from langgraph_compression.nodes.request import begin, fill_in, presses, show_compacted
from langgraph_compression.state.schema import CompressionState, RequestView


def compact(run: Run, state: CompressionState, request: RequestView) -> Steps[Update]:
    """Clip long arguments and replace large tool results by previews of saved files.

    Returns:
        The smaller view in `_request`. The messages of the state stay as they are.
    """
    yield from fill_in(run, state, request)
    if not presses(run, request):  # a kept summary was taken up, after a crash
        return {"_request": request}
    if run.mode == "compress":  # the range is compacted where it is chosen, in summarize
        begin(run, request)
    else:
        yield from show_compacted(run, state, request)
    return {"_request": request}
