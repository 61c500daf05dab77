"""Sentences of spec.md that a review found not to hold; what each test shows."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from tests.support.bench import CONFIG, Bench
from tests.support.fakes import drive

LONG = "line of a long result\n" * 600


class Asked(Bench):
    """A bench whose last events are at hand."""

    def ask(self, messages: Sequence[AnyMessage]) -> list[Any]:
        """The view that the model gets of these messages."""
        self.put(messages)
        self.events = drive(self.graph, {"messages": []}, CONFIG, asynchronous=False).events
        return self.view


def called(args: Any, result: str, *, name: str = "lookup") -> list[AnyMessage]:
    call = {"name": name, "args": args, "id": "c1", "type": "tool_call"}
    return [
        HumanMessage("Look", id="h"),
        AIMessage("", tool_calls=[call], id="ca"),
        ToolMessage(result, tool_call_id="c1", name=name, id="r"),
        AIMessage("Seen", id="a"),
        HumanMessage("And now?", id="i"),
    ]


@pytest.mark.parametrize(
    "args",
    [
        {"files": [{"path": "outputs/large_tool_results/x.txt"}]},
        {"request": json.dumps({"file": "/outputs/large_tool_results/x.txt"})},
    ],
    ids=["nested", "as JSON"],
)
def test_result_that_reads_a_saved_file_is_not_saved_again(args: Any) -> None:
    bench = Asked()

    view = bench.ask(called(args, LONG, name="cat"))

    assert bench.workdir.results == {}
    assert [m.content for m in view if m.id == "r"] in ([LONG], [])


def test_results_in_blocks_of_a_human_message_are_saved() -> None:
    bench = Asked()
    blocks = [
        {"type": "tool_result", "tool_use_id": "c1", "content": LONG},
        {"type": "tool_result", "tool_use_id": "c2", "content": "short"},
        {"type": "text", "text": "Both came."},
    ]
    uses = [
        {"type": "tool_use", "id": call_id, "name": "lookup", "input": {}}
        for call_id in ("c1", "c2")
    ]
    messages: list[AnyMessage] = [
        HumanMessage("Look", id="h"),
        AIMessage(uses, id="ca"),
        HumanMessage(blocks, id="r"),
        AIMessage("Seen", id="a"),
        HumanMessage("And now?", id="i"),
    ]

    view = bench.ask(messages)

    ((path, stored),) = bench.workdir.results.items()
    assert stored == LONG
    shown = next(m for m in view if m.id == "r").content
    assert path in shown[0]["content"]
    assert "lookup" in shown[0]["content"]
    assert shown[0]["tool_use_id"] == "c1"
    assert shown[1:] == blocks[1:]
    assert bench.events[-1]["actions"] == [{"action": "compacted", "results": 1, "arguments": 0}]


def test_result_block_that_cannot_be_written_stays() -> None:
    bench = Asked()
    bench.workdir.fails = lambda path: OSError() if "large_tool_results" in path else None
    blocks = [{"type": "tool_result", "tool_use_id": "c1", "content": LONG}]
    use = {"type": "tool_use", "id": "c1", "name": "lookup", "input": {}}

    bench.ask(
        [
            HumanMessage("Look", id="h"),
            AIMessage([use], id="ca"),
            HumanMessage(blocks, id="r"),
            AIMessage("Seen", id="a"),
            HumanMessage("And now?", id="i"),
        ]
    )

    assert bench.workdir.results == {}
    assert bench.events[-1]["failures"][0]["kind"] == "result"
    assert not any("outputs/large_tool_results" in str(m.content) for m in bench.model.views[-1])
