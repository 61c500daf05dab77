"""Compress now, cancelled in the middle: all is let go, and the thread is as before."""

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_compression import acompress_thread, create_compression_graph
from langgraph_compression.threads.gate import Gate
from tests.support.fakes import FakeModel
from tests.support.slow_sandbox import WAYS, SlowSandbox

CONFIG: Any = {"configurable": {"thread_id": "t"}}
LONG: list[AnyMessage] = [
    message
    for n in range(10)
    for message in (
        HumanMessage(f"Question {n}. " + "word " * 100, id=f"h{n}"),
        AIMessage(f"Answer {n}. " + "term " * 100, id=f"a{n}"),
    )
]


class Hanging(FakeModel):
    """Does not answer the first time."""

    began: Any = None

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> AIMessage:
        if not self.began.is_set():
            self.began.set()
            await asyncio.Event().wait()
        return await super().ainvoke(input, config, **kwargs)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("when", ["entering", "writing", "summarizing", "leaving"])
def test_cancelled(gate: Gate, way: str, when: Any) -> None:
    sandbox, asked = SlowSandbox(when), threading.Event()
    if when != "summarizing":
        asked.set()
    graph = create_compression_graph(
        FakeModel(),
        summary_model=Hanging(answer="SUMMARY", began=asked),
        workdir=getattr(sandbox, way),
        checkpointer=InMemorySaver(),
    )
    graph.update_state(CONFIG, {"messages": LONG}, as_node="model")
    before = graph.get_state(CONFIG).values

    async def main() -> None:
        began = asked if when == "summarizing" else None
        await sandbox.cancelled(acompress_thread(graph, CONFIG, gate), began)
        assert sandbox.balanced
        assert (await graph.aget_state(CONFIG)).values == before
        async with gate.turn("t", timeout=0):
            said = await graph.ainvoke({"messages": [HumanMessage("On", id="on")]}, CONFIG)
        assert [m.id for m in said["messages"]][:-1] == [*(m.id for m in LONG), "on"]
        assert (await acompress_thread(graph, CONFIG, gate)).status == "completed"

    asyncio.run(main())
    assert sandbox.balanced
    values = graph.get_state(CONFIG).values
    assert values["_summarization_event"]["file_path"] in sandbox.files.history


@pytest.mark.parametrize("way", WAYS)
def test_cancelled_and_then_compressed_at_once(way: str) -> None:
    """What broke off is no request that somebody could want to resume."""
    sandbox, asked = SlowSandbox("never"), threading.Event()
    graph = create_compression_graph(
        FakeModel(),
        summary_model=Hanging(answer="SUMMARY", began=asked),
        workdir=getattr(sandbox, way),
        checkpointer=InMemorySaver(),
    )
    graph.update_state(CONFIG, {"messages": LONG}, as_node="model")

    async def main() -> None:
        await sandbox.cancelled(acompress_thread(graph, CONFIG), asked)
        assert (await acompress_thread(graph, CONFIG)).compressed_messages == 10

    asyncio.run(main())
    assert sandbox.balanced
