"""Two graphs for the real server: the chatbot, and one node that only asks the model."""

from typing import Any

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from benchmarks.model import InstantModel
from langgraph_compression import create_chatbot_graph
from langgraph_compression.graphs.schema import Messages


class State(TypedDict):
    """Messages as the chatbot stores them."""

    messages: Messages


async def ask(state: State) -> dict[str, Any]:
    """Ask the model."""
    return {"messages": [await model.ainvoke(state["messages"])]}


model = InstantModel()
chatbot = create_chatbot_graph(model)
one_node = StateGraph(State).add_node("model", ask).add_edge(START, "model").compile()
