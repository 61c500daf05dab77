"""The size of a request by part: the one function that every count of the graph uses."""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage

from langgraph_compression.nodes.config import Run
from langgraph_compression.state.schema import ContextPressure


def pressure_of(run: Run, view: Sequence[AnyMessage]) -> ContextPressure:
    """Estimated tokens of the view, the system prompt and the tool schemas."""
    messages, system, tools = run.counter.messages(view), run.system_tokens(), run.tools_tokens()
    reading: ContextPressure = {
        "messages": messages,
        "system": system,
        "tools": tools,
        "total": messages + system + tools,
        "threshold": run.settings.threshold,
    }
    if run.profile:
        reading["profile"] = run.profile
    return reading


def total(pressure: ContextPressure) -> int:
    """The total of a reading whose parts are known."""
    return pressure["total"] or 0
