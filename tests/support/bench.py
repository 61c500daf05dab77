"""A compression graph of recording parts, for tests of its behaviour."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AnyMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_compression import CompressionSettings, create_compression_graph
from tests.support.fakes import FakeModel, RecordingWorkdir

CONFIG: Any = {"configurable": {"thread_id": "t"}}
SMALL = CompressionSettings(summary_threshold=2, summary_keep_messages=4)


class Bench:
    """A graph with recording parts."""

    def __init__(self, settings: CompressionSettings = SMALL, **options: Any) -> None:
        self.model = options.pop("model", None) or FakeModel()
        self.summarizer = options.pop("summary_model", None) or FakeModel(answer="SUMMARY")
        self.workdir = RecordingWorkdir()
        self.graph = create_compression_graph(
            self.model,
            settings=settings,
            summary_model=self.summarizer,
            workdir=self.workdir,
            checkpointer=InMemorySaver(),
            counter=lambda text: (len(text) + 3) // 4,
            **options,
        )

    def put(self, messages: Sequence[AnyMessage | RemoveMessage], **values: Any) -> None:
        self.graph.update_state(CONFIG, {"messages": messages, **values}, as_node="model")

    @property
    def values(self) -> dict[str, Any]:
        return dict(self.graph.get_state(CONFIG).values)

    @property
    def view(self) -> list[Any]:
        return list(self.model.views[-1])
