"""A message is counted once over all turns of its thread, though each turn reads it anew."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_compression import CompressionSettings, Workdir, create_compression_graph
from tests.support.fakes import FakeModel


@pytest.mark.parametrize("system_prompt", [None, "Answer in one sentence."])
def test_texts_counted_grow_with_the_thread_and_not_with_its_square(
    system_prompt: str | None,
) -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    graph = create_compression_graph(
        FakeModel(*(f"Answer {turn}" for turn in range(12))),
        system_prompt=system_prompt,
        settings=CompressionSettings(summary_threshold=1000),
        counter=count,
        workdir=Workdir("memory://counted-once"),
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "one"}}
    for turn in range(12):
        call = {"name": "look", "args": {"at": turn}, "id": f"call-{turn}"}
        graph.invoke(
            {
                "messages": [
                    HumanMessage(f"Question {turn}"),
                    AIMessage("", tool_calls=[call]),
                    ToolMessage(f"Result {turn}", tool_call_id=f"call-{turn}"),
                ]
            },
            config,
        )
    assert len(counted) == len(set(counted))
    said = "\n".join(counted)
    assert all(f"Question {turn}" in said and f"Result {turn}" in said for turn in range(12))
