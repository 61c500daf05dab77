"""The `model` node: ask the model, and say what to do when the request was too large."""

from langgraph.errors import GraphBubbleUp

from langgraph_compression.nodes.config import Run
from langgraph_compression.nodes.effects import Do, Steps
from langgraph_compression.nodes.model_checks import check_answer
from langgraph_compression.nodes.pressure import total
from langgraph_compression.nodes.report import Update, completed
from langgraph_compression.nodes.request import fill_in, presses, show_compacted
from langgraph_compression.nodes.tools import with_tools
from langgraph_compression.nodes.usage import usage_of
from langgraph_compression.policy.stored_responses import without_stored
from langgraph_compression.state.schema import CompressionState, RequestView
from langgraph_compression.state.view import request_messages

RETRIES = 2
"""Times a refused request is made smaller and sent again."""


class Refusal(str):
    """The class name of a provider's error, which carries the error itself.

    A string, so that a stream of the channel that holds it stays serialisable.
    """

    error: BaseException

    def __new__(cls, error: BaseException) -> "Refusal":
        """Keep the error beside its class name."""
        self = super().__new__(cls, type(error).__name__)
        self.error = error
        return self


def model(run: Run, state: CompressionState, request: RequestView) -> Steps[Update]:
    """Send system prompt, tools and view to the model.

    Returns:
        The answer in `messages`, its usage, and an empty `_request`; after a context
        overflow `_request` with the refusal, from which the graph goes back to `compact`.

    Raises:
        Exception: The provider's error, unchanged, when it is no overflow, or when a
            smaller request could not be built or was refused too often.
    """
    if "messages" not in request:
        yield from _rebuild(run, state, request)
    size = total(request["reading"])
    refusal = request.get("refusal")
    if isinstance(refusal, Refusal) and size >= request["refused_tokens"]:
        raise refusal.error
    try:
        reply = yield _call(run, request)
    except GraphBubbleUp:
        raise
    except Exception as error:
        refused = request.get("overflows", 0)
        if refused >= RETRIES or not run.overflowed(error, size):
            raise
        request.update(
            {
                "overflows": refused + 1,
                "refused_tokens": size,
                "refusal": Refusal(error),
                "forced": True,
            }
        )
        return {"_request": request}
    answer = check_answer(reply)
    if "trigger" in request:
        completed(request, size, state.get("_summarization_event"))
    update: Update = {"messages": [answer], "_request": {}}
    usage = usage_of(answer, run.model, run.model_spec, skip=run.settings.uncounted_usage_providers)
    if usage:
        update["token_usage"] = usage
    return update


def _rebuild(run: Run, state: CompressionState, request: RequestView) -> Steps[None]:
    """The view again, after a crash between the nodes: as measure and compact would make it."""
    yield from fill_in(run, state, request)
    if presses(run, request):
        yield from show_compacted(run, state, request)


def _call(run: Run, request: RequestView) -> Do:
    shaped = request.get("shaped", False)
    messages = request_messages(run.system_prompt, request["messages"], shaped=shaped)
    if shaped:
        messages = without_stored(messages)
    model = with_tools(run.model, run.graph.tools)
    return Do(lambda: model.invoke(messages), lambda: model.ainvoke(messages))
