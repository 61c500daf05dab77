"""Our graph with clocks in its nodes."""

import tempfile
from collections.abc import Callable
from time import perf_counter
from typing import Any

from langgraph.constants import START
from langgraph.graph import StateGraph

from benchmarks.model import InstantModel
from langgraph_compression import CompressionSettings, Workdir, add_compression
from langgraph_compression.graphs.schema import ChatInput, ChatState
from langgraph_compression.state.settings import CompressionContext

NODES = ("measure", "compact", "recount", "summarize", "model")


class Clocked:
    """The compression graph, and the time of its nodes without the time of the model.

    `alone` is what compression adds: everything inside of the five nodes, less the calls
    of models. LangGraph's own steps, channels and checkpoints are not in it.
    """

    def __init__(
        self,
        settings: CompressionSettings,
        counter: Callable[[str], int] | None = None,
        **compiled: Any,
    ) -> None:
        self.model = InstantModel()
        self.by_node = dict.fromkeys(NODES, 0.0)
        self.workdir = Workdir(tempfile.mkdtemp(prefix="bench-"))
        builder = StateGraph(ChatState, context_schema=CompressionContext, input_schema=ChatInput)
        add_compression(
            builder,
            self.model,
            settings=settings,
            workdir=lambda _config: self.workdir,
            counter=counter,
        )
        builder.add_edge(START, "measure")
        for name in NODES:
            node: Any = builder.nodes[name].runnable
            node.func = self._clock(name, node.func)
        self.graph = builder.compile(**compiled)

    def new_workdir(self) -> None:
        """Nothing is saved yet."""
        self.workdir = Workdir(tempfile.mkdtemp(prefix="bench-"))

    def _clock(self, name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def clocked(state: Any) -> Any:
            start, inside = perf_counter(), self.model.spent
            try:
                return function(state)
            finally:
                self.by_node[name] += perf_counter() - start - (self.model.spent - inside)

        return clocked

    def alone(self, messages: list[Any]) -> float:
        """Seconds of the nodes for one model call."""
        before = sum(self.by_node.values())
        self.graph.invoke({"messages": messages})
        return sum(self.by_node.values()) - before

    def whole(self, messages: list[Any], config: Any = None) -> float:
        """Seconds of the whole graph for one model call."""
        start = perf_counter()
        self.graph.invoke({"messages": messages}, config)
        return perf_counter() - start
