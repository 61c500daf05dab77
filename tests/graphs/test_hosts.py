"""Compression in graphs of other people: any state, any edges behind the model, one node."""

import asyncio
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import NodeTimeoutError
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import CachePolicy, RetryPolicy, StreamWriter
from pydantic import BaseModel

from langgraph_compression import (
    CompressionContext,
    CompressionError,
    CompressionSettings,
    add_compression,
    compression_node,
    create_chatbot_graph,
    create_compression_graph,
)
from tests.support.fakes import FakeModel, RecordingWorkdir, drive

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
SMALL = CompressionSettings(summary_threshold=2, summary_keep_messages=4)
CONFIG: Any = {"configurable": {"thread_id": "t"}}
CALL = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "c"}])


def long_history() -> list[AnyMessage]:
    return [
        message
        for n in range(14)
        for message in (
            HumanMessage(f"Question {n}. " + "word " * 120, id=f"h{n}"),
            AIMessage(f"Answer {n}. " + "term " * 120, id=f"a{n}"),
        )
    ]


class PydanticState(BaseModel):
    messages: Annotated[list[AnyMessage], add_messages] = []
    mood: str = "calm"


@dataclass
class DataState:
    messages: Annotated[list[AnyMessage], add_messages] = field(default_factory=list)
    mood: str = "calm"


class DictState(MessagesState):
    mood: str


def of(state: Any, name: str) -> Any:
    return state[name] if isinstance(state, dict) else getattr(state, name)


@BOTH
@pytest.mark.parametrize("schema", [DictState, PydanticState, DataState, MessagesState])
def test_host_with_a_tool_loop(schema: Any, asynchronous: bool) -> None:
    seen = []

    def route(state: Any) -> Literal["tools", "__end__"]:
        seen.append(type(state))
        return "tools" if of(state, "messages")[-1].tool_calls else "__end__"

    def tools(state: Any) -> Any:
        return {"messages": [ToolMessage("found", tool_call_id="c")]}

    model, summarizer, workdir = FakeModel(CALL), FakeModel(answer="SUMMARY"), RecordingWorkdir()
    builder = StateGraph(schema)
    add_compression(
        builder,
        model,
        settings=SMALL,
        summary_model=summarizer,
        workdir=workdir,
        after_model=route,
    )
    builder.add_node("tools", tools)
    builder.add_edge(START, "measure")
    builder.add_edge("tools", "measure")
    graph = builder.compile(checkpointer=InMemorySaver())

    outcome = drive(graph, {"messages": long_history()}, CONFIG, asynchronous=asynchronous)

    assert outcome.error is None
    assert outcome.statuses() == ["started", "completed"]
    assert len(model.requests) == 2
    assert "SUMMARY" in model.views[0][0].content
    assert [m.type for m in model.views[1][-2:]] == ["ai", "tool"]
    values = graph.get_state(CONFIG).values
    assert values["_summarization_event"]["cutoff_index"] > 0
    assert len(values["messages"]) == 28 + 3
    assert set(seen) == {dict if schema in (DictState, MessagesState) else schema}


def test_after_model_may_be_a_node_or_a_map() -> None:
    said: list[str] = []
    for after, path_map in (
        ("audit", None),
        (lambda state: "yes", {"yes": "audit"}),
        (lambda state: "audit", ["audit"]),
        (lambda state: "audit", None),
    ):
        builder = StateGraph(MessagesState)
        add_compression(
            builder,
            FakeModel(),
            workdir=RecordingWorkdir(),
            after_model=after,
            path_map=path_map,  # type: ignore[arg-type]
        )
        builder.add_node("audit", lambda state: said.append(state["messages"][-1].content))
        builder.add_edge(START, "measure")
        builder.add_edge("audit", END)
        graph: Any = builder.compile()
        graph.invoke({"messages": [("user", "Hi")]})
    assert said == ["Understood."] * 4


@BOTH
def test_after_model_is_given_what_langgraph_gives_to_paths(asynchronous: bool) -> None:
    seen: dict[str, Any] = {}

    def route(
        state: Any,
        config: RunnableConfig,
        runtime: Runtime[Any],
        *,
        store: BaseStore,
        writer: StreamWriter,
        previous: Any = None,
    ) -> str:
        seen.update(thread=config["configurable"]["thread_id"], runtime=runtime, store=store)
        writer({"type": "context_compression", "status": "mine"})
        return END

    builder = StateGraph(MessagesState)
    add_compression(builder, FakeModel(), workdir=RecordingWorkdir(), after_model=route)
    builder.add_edge(START, "measure")
    store = InMemoryStore()
    graph = builder.compile(checkpointer=InMemorySaver(), store=store)

    outcome = drive(graph, {"messages": [("user", "Hi")]}, CONFIG, asynchronous=asynchronous)

    assert outcome.error is None
    assert outcome.statuses() == ["mine"]
    assert seen["thread"] == "t"
    assert seen["store"] is seen["runtime"].store is not None


def test_a_lambda_around_an_async_path() -> None:
    async def route(state: Any) -> str:
        return END

    builder = StateGraph(MessagesState)
    add_compression(
        builder, FakeModel(), workdir=RecordingWorkdir(), after_model=lambda state: route(state)
    )
    builder.add_edge(START, "measure")
    given = {"messages": [("user", "Hi")]}

    assert drive(builder.compile(), given, asynchronous=True).error is None
    with pytest.raises(CompressionError, match="after_model is async"):
        builder.compile().invoke(given)  # type: ignore[call-overload]


@pytest.mark.parametrize("make", [BaseModel, object], ids=["pydantic", "dataclass"])
def test_a_state_with_a_constant_of_its_class(make: Any) -> None:
    class Constant(make):  # type: ignore[misc]
        messages: Annotated[list[AnyMessage], add_messages]
        limit: ClassVar[int] = 3

    def route(state: Any) -> str:
        return END if state.limit == 3 else "measure"

    builder = StateGraph(Constant if make is BaseModel else dataclass(Constant))
    model = FakeModel()
    add_compression(builder, model, workdir=RecordingWorkdir(), after_model=route)
    builder.add_edge(START, "measure")
    graph: Any = builder.compile()
    graph.invoke({"messages": [("user", "Hi")]})
    assert len(model.requests) == 1


def test_a_host_carries_the_context_in_a_field() -> None:
    class HostContext(BaseModel):
        tenant: str
        compression: CompressionContext | None = None

    model = FakeModel()
    builder = StateGraph(MessagesState, context_schema=HostContext)
    add_compression(builder, model, workdir=RecordingWorkdir())
    builder.add_edge(START, "measure")
    graph: Any = builder.compile()
    context = HostContext(tenant="a", compression=CompressionContext(system_prompt="From context"))
    graph.invoke({"messages": [("user", "Hi")]}, context=context)
    assert model.views[-1][0].content == "From context"
    graph.invoke({"messages": [("user", "Hi")]}, context=HostContext(tenant="a"))
    assert model.views[-1][0].type == "human"


def test_an_input_schema_with_the_event_is_refused() -> None:
    class Open(TypedDict):
        messages: Annotated[list[AnyMessage], add_messages]
        _summarization_event: Any

    with pytest.raises(CompressionError, match="input schema Open"):
        add_compression(StateGraph(Open), FakeModel())


@BOTH
def test_compression_as_one_node(asynchronous: bool) -> None:
    model, summarizer = FakeModel(), FakeModel(answer="SUMMARY")
    inner = create_compression_graph(
        model, settings=SMALL, summary_model=summarizer, workdir=RecordingWorkdir()
    )
    builder = StateGraph(MessagesState)
    builder.add_node("chat", compression_node(inner))
    builder.add_edge(START, "chat")
    graph = builder.compile(checkpointer=InMemorySaver())

    for question in (*[long_history()], [HumanMessage("Next", id="next")]):
        drive(graph, {"messages": question}, CONFIG, asynchronous=asynchronous)

    values = graph.get_state(CONFIG).values
    assert len(values["messages"]) == 28 + 1 + 2
    assert values["_summarization_event"]["cutoff_index"] > 0
    assert len(summarizer.requests) == 1
    assert "SUMMARY" in model.views[1][0].content


MERMAID = """\
compact --> recount;
measure -. &nbsp;below threshold&nbsp; .-> model;
measure -. &nbsp;threshold reached or forced&nbsp; .-> compact;
model -. &nbsp;context overflow&nbsp; .-> compact;
recount -. &nbsp;below threshold&nbsp; .-> model;
recount -. &nbsp;threshold reached or forced&nbsp; .-> summarize;
summarize -. &nbsp;chat&nbsp; .-> model;
summarize -. &nbsp;compress now&nbsp; .-> __end__;
__start__ --> measure;"""
OWN_EDGES = {
    "compression": "model -.-> __end__;",
    "chatbot": "model -.-> __end__;\nmodel -.-> tools;\ntools --> measure;",
}


@pytest.mark.parametrize("make", [create_compression_graph, create_chatbot_graph])
def test_the_drawn_graph(make: Any) -> None:
    graph = make("offline")
    drawn = graph.get_graph().draw_mermaid()
    edges = {line.strip() for line in drawn.splitlines() if "->" in line}
    assert edges == set(f"{MERMAID}\n{OWN_EDGES[graph.name]}".splitlines())
    for node in ("measure", "compact", "recount", "summarize", "model"):
        assert (
            f"\t{node}({node}<hr/><small><em>capability = context_compression</em></small>)"
            in drawn
        )


@BOTH
def test_the_model_node_takes_the_policies_of_its_host(asynchronous: bool) -> None:
    model = FakeModel(ConnectionError("gone"), "Hello.")
    builder = StateGraph(MessagesState)
    add_compression(
        builder,
        model,
        workdir=RecordingWorkdir(),
        retry_policy=RetryPolicy(initial_interval=0, jitter=False, retry_on=ConnectionError),
        metadata={"team": "search"},
    )
    builder.add_edge(START, "measure")
    graph = builder.compile(checkpointer=InMemorySaver())

    outcome = drive(graph, {"messages": [("user", "Hi")]}, CONFIG, asynchronous=asynchronous)

    assert outcome.error is None
    assert [m.content for m in graph.get_state(CONFIG).values["messages"]] == ["Hi", "Hello."]
    assert graph.nodes["model"].metadata == {"team": "search", "capability": "context_compression"}


@BOTH
def test_a_retried_request_is_compressed_once(asynchronous: bool) -> None:
    model, summarizer = FakeModel(ConnectionError("gone"), "Hello."), FakeModel(answer="SUMMARY")
    builder = StateGraph(MessagesState)
    add_compression(
        builder,
        model,
        settings=SMALL,
        summary_model=summarizer,
        workdir=RecordingWorkdir(),
        retry_policy=RetryPolicy(initial_interval=0, jitter=False, retry_on=ConnectionError),
    )
    builder.add_edge(START, "measure")

    outcome = drive(builder.compile(), {"messages": long_history()}, asynchronous=asynchronous)

    assert outcome.error is None
    assert len(summarizer.requests) == 1
    assert model.views[0] == model.views[1]
    assert outcome.statuses() == ["started", "failed", "completed"]  # an attempt failed


@BOTH
def test_a_cached_answer_belongs_to_its_messages(asynchronous: bool) -> None:
    model = FakeModel("One.", "Two.")
    builder = StateGraph(MessagesState)
    add_compression(builder, model, workdir=RecordingWorkdir(), cache_policy=CachePolicy())
    builder.add_edge(START, "measure")
    graph: Any = builder.compile(cache=InMemoryCache())
    first, second = HumanMessage("Hi", id="1"), HumanMessage("Ho", id="2")

    for message in (first, first, second):
        drive(graph, {"messages": [message]}, asynchronous=asynchronous)

    assert [view[0].content for view in model.views] == ["Hi", "Ho"]


def test_the_model_node_may_have_a_timeout() -> None:
    class Slow(FakeModel):
        async def ainvoke(self, *args: Any, **kwargs: Any) -> AIMessage:
            await asyncio.sleep(60)
            raise AssertionError

    builder = StateGraph(MessagesState)
    add_compression(builder, Slow(), workdir=RecordingWorkdir(), timeout=0.05)
    builder.add_edge(START, "measure")

    outcome = drive(builder.compile(), {"messages": [("user", "Hi")]}, asynchronous=True)

    assert isinstance(outcome.error, NodeTimeoutError)
