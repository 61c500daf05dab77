"""The options: everything that takes them takes the same ones, and each has its effect."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import RetryPolicy

from langgraph_compression import (
    CompressionError,
    CompressionOptions,
    CompressionSettings,
    add_compression,
    create_chatbot_graph,
    create_compression_graph,
)
from langgraph_compression.graphs.wiring import HostOptions
from langgraph_compression.nodes.config import Compression
from tests.support.fakes import FakeModel, Outcome, RecordingWorkdir, drive
from tests.support.openai_stub import OpenAIStub

OPTIONS = get_type_hints(CompressionOptions)
README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
EXAMPLES = [
    block
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    if re.search(r"add_compression\(|create_\w+_graph\(", block)
]


@tool
def look(place: str) -> str:
    """Look at a place."""
    return place


def added(model: Any, **options: Any) -> Any:
    builder = StateGraph(MessagesState)
    add_compression(builder, model, **options)
    builder.add_edge(START, "measure")
    return builder.compile()


@dataclass
class Everything:
    """A graph with every option, and what each leaves behind of one request that overflows."""

    make: Callable[..., Any]
    model: FakeModel = field(default_factory=lambda: FakeModel(ValueError("too much")))
    summarizer: FakeModel = field(default_factory=lambda: FakeModel(answer="SUMMARY"))
    workdir: RecordingWorkdir = field(default_factory=RecordingWorkdir)
    counted: list[str] = field(default_factory=list)

    def count(self, text: str) -> int:
        self.counted.append(text)
        return len(text) // 4

    def run(self) -> Outcome:
        options: CompressionOptions = {
            "tools": [look],
            "system_prompt": "PROMPT",
            "settings": CompressionSettings(summary_threshold=2, summary_keep_messages=4),
            "summary_model": self.summarizer,
            "workdir": self.workdir,
            "counter": self.count,
            "is_overflow": lambda error: str(error) == "too much",
            "redact": lambda text: text.replace("SECRET", "-"),
        }
        assert options.keys() == OPTIONS.keys()
        history = [
            message
            for n in range(14)
            for message in (HumanMessage("SECRET " * 90, id=f"h{n}"), AIMessage("A " * 200))
        ]
        graph = self.make(self.model, **options)
        return drive(graph, {"messages": [*history, HumanMessage("Now?")]}, asynchronous=False)

    def left(self, outcome: Outcome) -> dict[str, bool]:
        kept = "".join(self.workdir.files.values())
        return {
            "tools": look in self.model.requests[0].tools,
            "system_prompt": "PROMPT" in str(self.model.views[0][0].content),
            "settings": outcome.events[0]["trigger"] == "threshold",
            "summary_model": bool(self.summarizer.requests),
            "workdir": bool(self.workdir.history),
            "counter": any("SECRET" in text for text in self.counted),
            "is_overflow": outcome.error is None and len(self.model.requests) == 2,
            "redact": "SECRET" not in kept + self.summarizer.requests[0].text,
        }


@pytest.mark.parametrize("make", [added, create_compression_graph, create_chatbot_graph])
def test_every_option_has_its_effect_everywhere(make: Any) -> None:
    everything = Everything(make)
    assert everything.left(everything.run()) == dict.fromkeys(OPTIONS, True)


@pytest.mark.parametrize("make", [added, create_compression_graph, create_chatbot_graph])
def test_none_is_as_if_it_were_not_given(make: Any, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("LANGGRAPH_COMPRESSION_HOME", str(tmp_path))
    for options in ({}, dict.fromkeys(OPTIONS)):
        model = FakeModel()
        graph = make(model, **options)
        assert drive(graph, {"messages": [("user", "Hi")]}, asynchronous=False).error is None
        assert [message.content for message in model.views[0]] == ["Hi"]


PLACES: dict[Any, tuple[Any, ...]] = {
    add_compression: (StateGraph(MessagesState), "offline"),
    create_compression_graph: ("offline",),
    create_chatbot_graph: ("offline",),
    Compression: ("offline",),
}


@pytest.mark.parametrize("place", PLACES)
def test_signatures_show_every_option_by_name(place: Any) -> None:
    shown = inspect.signature(place).parameters
    assert {
        name: each.annotation
        for name, each in shown.items()
        if name in OPTIONS and each.kind is each.KEYWORD_ONLY and each.default is None
    } == OPTIONS
    assert not [each for each in shown.values() if each.kind is each.VAR_KEYWORD]


def test_the_model_node_takes_what_every_node_takes() -> None:
    of_a_node = inspect.signature(StateGraph.add_node).parameters.values()
    named = {each.name for each in of_a_node if each.kind is each.KEYWORD_ONLY}
    assert get_type_hints(HostOptions).keys() - OPTIONS.keys() == named - {"input_schema"}
    added("offline", **dict.fromkeys(get_type_hints(HostOptions)))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("unknown", "meant"), [("sytem_prompt", "system_prompt"), ("input_schema", "are .*redact")]
)
def test_an_unknown_option_is_refused(place: Any, unknown: str, meant: str) -> None:
    with pytest.raises(CompressionError, match=f"^{place.__name__} .* {unknown}: .*{meant}"):
        place(*PLACES[place], **{unknown: MessagesState})


def test_options_of_a_node_belong_to_a_graph_of_the_host() -> None:
    with pytest.raises(CompressionError, match=r"no argument retry_polcy.*retry_policy"):
        add_compression(StateGraph(MessagesState), "offline", retry_polcy=RetryPolicy())  # type: ignore[call-arg]
    for make in (create_compression_graph, create_chatbot_graph):
        for name in ("retry_policy", "after_model", "path_map"):
            with pytest.raises(CompressionError, match=f"{make.__name__} has no argument {name}"):
                make("offline", **{name: None})  # type: ignore[arg-type]


def test_the_readme_has_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("block", EXAMPLES)
def test_the_examples_of_the_readme_run(
    block: str, openai_service: OpenAIStub, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LANGGRAPH_COMPRESSION_HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_BASE_URL", openai_service.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    names = {
        "tools": [look],
        "search": look,
        "tool_node": ToolNode([look]),
        "route": lambda state: END,
        "checkpointer": InMemorySaver(),
    }
    known = len(openai_service.requests)
    # A process keeps the models that it named: one with this key must not meet other tests.
    exec(re.sub(r"openai:[\w.-]+", "openai:of-the-readme", block), names)
    if len(openai_service.requests) == known:
        graph: Any = names["graph"]
        graph.invoke({"messages": [("user", "Hi")]}, {"configurable": {"thread_id": "1"}})
    (request,) = openai_service.requests[known:]
    assert "look" in {each["function"]["name"] for each in request["tools"]}
