"""Wherever the graph stands in other people's graphs, its requests are those of the flat graph.

The twin: what a model was asked to answer is put into a flat graph, message by message; its
requests and its summaries are the oracle.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import create_react_agent
from langgraph.types import Send
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_swarm

from langgraph_compression import (
    CompressionSettings,
    compression_node,
    create_chatbot_graph,
    create_compression_graph,
)
from tests.support.fakes import FakeModel, RecordingWorkdir

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
CONFIG: Any = {"configurable": {"thread_id": "t"}}
SETTINGS = CompressionSettings(summary_threshold=2, summary_keep_messages=4)
TURNS = 30


def answer_to(messages: Sequence[BaseMessage]) -> AIMessage:
    """The same answer, under the same id, to the same request."""
    last = [m for m in messages if m.type == "human"][-1]
    return AIMessage(f"On {last.content[:20]}: " + "term " * 60, id=f"answer-{last.id}")


def without_hashes(view: Sequence[BaseMessage]) -> list[str]:
    """Texts of a view; names of history files tell ids and names of messages as well."""
    return [re.sub(r"-[0-9a-f]{16}\.", ".", str(message.content)) for message in view]


class Agent:
    """A compression graph that remembers which messages each request was made of."""

    def __init__(self, make: Callable[..., Any] = create_compression_graph, **options: Any) -> None:
        self.model = FakeModel(answer=self._answer)
        self.summarizer = FakeModel(answer="SUMMARY of what was said")
        self.asked: list[list[AnyMessage]] = []
        self._messages: list[AnyMessage] = []
        self.make = make
        self.graph = make(
            self._model,
            settings=SETTINGS,
            summary_model=self.summarizer,
            counter=lambda text: (len(text) + 3) // 4,
            **{"workdir": RecordingWorkdir(), **options},
        )

    def _model(self, state: Any, runtime: Any) -> FakeModel:
        self._messages = list(state["messages"])
        return self.model

    def _answer(self, view: list[BaseMessage]) -> AIMessage:
        self.asked.append(self._messages)
        last = [m for m in self._messages if m.type == "human"][-1]
        return AIMessage(f"On {last.content[:20]}: " + "term " * 60, id=f"answer-{last.id}")

    @property
    def requests(self) -> list[list[str]]:
        return [without_hashes(view) for view in self.model.views]

    @property
    def summaries(self) -> int:
        return len(self.summarizer.requests)


def twin_of(agent: Agent) -> Agent:
    """A flat graph that was asked the same, with the same messages."""
    twin = Agent(agent.make, checkpointer=InMemorySaver())
    for messages in agent.asked:
        twin.graph.update_state(CONFIG, {"messages": messages}, as_node="model")
        twin.graph.invoke({"messages": []}, CONFIG)
    return twin


def converse(host: Any, asynchronous: bool, turns: int = TURNS) -> None:
    """Ask the host's graph in turns."""
    for n in range(turns):
        question = HumanMessage(f"Question {n}. " + "word " * 60, id=f"h{n}")
        if asynchronous:
            asyncio.run(host.ainvoke({"messages": [question]}, CONFIG))
        else:
            host.invoke({"messages": [question]}, CONFIG)


def as_only_node(node: Any, **compiled: Any) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("chat", node)
    builder.add_edge(START, "chat")
    return builder.compile(**compiled)


HOSTS: dict[str, Callable[[Agent], Any]] = {
    "a graph as node": lambda agent: agent.graph,
    "compression_node": lambda agent: compression_node(agent.graph),
    "nested twice": lambda agent: as_only_node(as_only_node(agent.graph)),
    "compression_node, nested twice": lambda agent: as_only_node(
        as_only_node(compression_node(agent.graph))
    ),
}


@BOTH
@pytest.mark.parametrize("place", HOSTS)
@pytest.mark.parametrize("checkpointer", [None, True], ids=["inherits", "own memory"])
def test_as_a_node(place: str, checkpointer: Any, asynchronous: bool) -> None:
    agent = Agent(checkpointer=checkpointer)
    converse(as_only_node(HOSTS[place](agent), checkpointer=InMemorySaver()), asynchronous)

    twin = twin_of(agent)

    assert agent.requests == twin.requests
    assert len(agent.requests) == TURNS
    assert agent.summaries == twin.summaries >= 2


@BOTH
@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
def test_beside_a_react_agent(asynchronous: bool) -> None:
    agent = Agent()
    sibling = FakeModel(
        answer=lambda messages: AIMessage("I was asked, too.", id=f"s-{messages[-1].id}")
    )
    builder = StateGraph(MessagesState)
    builder.add_node("chat", agent.graph)
    builder.add_node("react", create_react_agent(sibling, tools=[]))
    builder.add_conditional_edges(
        START, lambda state: ["chat", "react"][len(state["messages"]) % 4 // 2], ["chat", "react"]
    )
    converse(builder.compile(checkpointer=InMemorySaver()), asynchronous, turns=60)

    twin = twin_of(agent)

    assert agent.requests == twin.requests
    assert len(agent.requests) == len(sibling.requests) == 30
    assert agent.summaries == twin.summaries >= 2


@BOTH
def test_beside_a_node_that_fans_out(asynchronous: bool) -> None:
    """Two compression nodes of one thread at the same time, each with messages of its own."""
    workdir = RecordingWorkdir()
    agents = {name: Agent(workdir=workdir) for name in ("optimist", "pessimist")}
    builder = StateGraph(MessagesState)
    for name, agent in agents.items():
        builder.add_node(name, compression_node(agent.graph))
    builder.add_conditional_edges(
        START,
        lambda state: [
            Send(name, {"messages": [*state["messages"], HumanMessage(f"As {name}!", id=name)]})
            for name in agents
        ],
        [*agents],
    )
    converse(builder.compile(checkpointer=InMemorySaver()), asynchronous)

    for agent in agents.values():
        assert len(agent.requests) == TURNS
        assert max(sum(map(len, request)) for request in agent.requests) < 4 * 2048
    asked = [request.text for agent in agents.values() for request in agent.summarizer.requests]
    # Both may summarize a range at the same time; later a summary of the one serves both.
    told = [sum(f"Question {n}. " in text for text in asked) for n in range(TURNS)]
    assert max(told) <= len(agents), told
    assert min(told[: TURNS - 10]) >= 1, told


@BOTH
def test_agent_of_a_swarm(asynchronous: bool) -> None:
    agent = Agent(create_chatbot_graph, name="alice")
    swarm = create_swarm([agent.graph], default_active_agent="alice")
    converse(swarm.compile(checkpointer=InMemorySaver()), asynchronous)

    twin = twin_of(agent)

    assert agent.requests == twin.requests
    assert len(agent.requests) == TURNS
    assert agent.summaries == twin.summaries >= 2


class Supervisor(FakeModel):
    """Binds tools as schemas, as the supervisor looks for."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return super().bind_tools(map(convert_to_openai_tool, tools), **kwargs)


@BOTH
@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")  # by the supervisor
@pytest.mark.parametrize("mode", ["full_history", "last_message"])
def test_agent_of_a_supervisor(mode: Any, asynchronous: bool) -> None:
    agent = Agent(name="alice")

    def supervise(messages: list[BaseMessage]) -> AIMessage:
        asked = [m for m in messages if m.type == "human"]
        if messages[-1].type == "human":
            call = {"name": "transfer_to_alice", "args": {}, "id": f"to-{asked[-1].id}"}
            return AIMessage("", tool_calls=[call], id=f"call-{asked[-1].id}")
        return AIMessage("Done.", id=f"done-{asked[-1].id}")

    supervisor = create_supervisor(
        [agent.graph], model=Supervisor(answer=supervise), output_mode=mode
    )
    converse(supervisor.compile(checkpointer=InMemorySaver()), asynchronous)

    twin = twin_of(agent)

    assert agent.requests == twin.requests
    assert len(agent.requests) == TURNS
    assert agent.summaries == twin.summaries >= 2


@BOTH
def test_a_window_below_the_threshold_pays_no_summary_at_each_turn(asynchronous: bool) -> None:
    """The provider refuses what the estimate finds small, in a host that carries no event."""
    agent = Agent(is_overflow=lambda error: isinstance(error, ContextOverflowError))
    answer = agent.model.answer

    def within_its_window(view: list[BaseMessage]) -> Any:
        if sum(len(str(message.content)) for message in view) > 5000:
            return ContextOverflowError("too large")
        return answer(view)

    agent.model.answer = within_its_window
    converse(as_only_node(agent.graph, checkpointer=InMemorySaver()), asynchronous)

    assert len(agent.asked) == TURNS
    asked = [request.text for request in agent.summarizer.requests]
    told = [sum(f"Question {n}. word word " in text for text in asked) for n in range(TURNS)]
    assert max(told) == 1, told
    assert agent.summaries < TURNS / 2


@BOTH
def test_a_summary_of_other_messages_hides_none_of_the_host(asynchronous: bool) -> None:
    """A branch that was sent one message less and another in front; then the host itself."""
    agent, host = Agent(), StateGraph(MessagesState)
    host.add_node("chat", compression_node(agent.graph))

    def ways(state: Any) -> Any:
        messages = state["messages"]
        if messages[-1].content.startswith("Question 9"):
            return [Send("chat", {"messages": [HumanMessage("Be brief.", id="p"), *messages[1:]]})]
        return "chat"

    host.add_conditional_edges(START, ways, ["chat"])
    graph: Any = host.compile(checkpointer=InMemorySaver())
    question = HumanMessage("Question 0. " + "word " * 60, id="h0")
    filled = [HumanMessage(f"Fill {n}. " + "word " * 120, id=f"f{n}") for n in range(1, 16)]
    graph.update_state(CONFIG, {"messages": [question, *filled]}, as_node="chat")
    for number in (9, 10):
        given = {"messages": [HumanMessage(f"Question {number}.", id=f"h{number}")]}
        if asynchronous:
            asyncio.run(graph.ainvoke(given, CONFIG))
        else:
            graph.invoke(given, CONFIG)

    assert agent.summaries >= 1
    said = "\n".join(agent.requests[-1])
    told = "\n".join(request.text for request in agent.summarizer.requests[1:])
    assert "Question 0." in said + told
