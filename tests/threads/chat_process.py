"""Chats of other processes: the compression graph on a Postgres checkpointer."""

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.postgres import PostgresSaver

from langgraph_compression import (
    CompressionSettings,
    PostgresGate,
    ThreadBusy,
    Workdir,
    compress_thread,
    create_compression_graph,
)
from tests.support.fakes import FakeModel
from tests.threads.chat_turns import given_next, is_over, reply_to
from tests.threads.gate_witness import Witness

SETTINGS = CompressionSettings(summary_threshold=2, summary_keep_messages=2)
"""A threshold of 2,048 tokens."""
CONFIG: Any = {"configurable": {"thread_id": "t"}}


@dataclass(frozen=True)
class Chats:
    """Where chats are kept, in a form that can be sent to other processes."""

    postgres: str
    folder: Path

    @property
    def workdir(self) -> Workdir:
        """Where the files of compression are."""
        return Workdir(str(self.folder / "files"))

    @contextmanager
    def graph(self, model: FakeModel, summarizer: FakeModel) -> Iterator[Any]:
        """The compression graph with these models."""
        with PostgresSaver.from_conn_string(self.postgres) as saver:
            yield create_compression_graph(
                model,
                settings=SETTINGS,
                summary_model=summarizer,
                workdir=self.workdir,
                checkpointer=saver,
            )


class Operation(NamedTuple):
    """What a process did with the thread, and when, by the clock of all processes."""

    kind: Literal["turn", "compress"]
    asked: float
    left: float
    outcome: str
    """The text of the answer, the status of the result, or the reason of a refusal."""


def use_one_thread(
    connection: "Connection[Any, Any]", chats: Chats, name: str, operations: int
) -> None:
    """Turns and, for three of ten, compress now; says its operations and numbers of requests."""
    chance, witness, gate = random.Random(name), Witness(chats.folder), PostgresGate(chats.postgres)

    def answer(messages: list[BaseMessage]) -> AIMessage:
        witness.visit(0.002)
        return AIMessage(f"Answer to {messages[-1].id}")

    def summary(messages: list[BaseMessage]) -> str:
        witness.visit(0.01)
        return f"Summary by {name}"

    model, summarizer = FakeModel(answer=answer), FakeModel(answer=summary)
    done = []
    with chats.graph(model, summarizer) as graph:
        connection.send("ready")
        connection.recv()
        for number in range(operations):
            kind: Literal["turn", "compress"] = "compress" if number % 10 in (3, 6, 9) else "turn"
            asked = time.monotonic()
            outcome: str
            try:
                if kind == "compress":
                    outcome = compress_thread(graph, CONFIG, gate).status
                else:
                    text = f"{name} says {number}: " + "The ferry reaches berth 9 on time. " * 20
                    given = [HumanMessage(text, id=f"{name}-{number}")]
                    with gate.turn("t"):
                        outcome = graph.invoke({"messages": given}, CONFIG)["messages"][-1].content
            except ThreadBusy as busy:
                outcome = busy.reason
            done.append(Operation(kind, asked, time.monotonic(), outcome))
            time.sleep(chance.uniform(0, 0.2))
    connection.send((done, len(model.requests), len(summarizer.requests)))


def chat(connection: "Connection[Any, Any]", chats: Chats) -> None:
    """Go on with the chat as it is told, from where it stands; says the cutoff of the event.

    "turn" takes a turn, "resume" finishes one that a crash broke off, "crash" takes turns until
    one makes a summary, and ends the process within it.
    """
    word = ""

    def summary(messages: list[BaseMessage]) -> str:
        if word == "crash":
            os._exit(1)
        return "Summary"

    with chats.graph(FakeModel(answer=reply_to), FakeModel(answer=summary)) as graph:

        def messages() -> list[BaseMessage]:
            return list(graph.get_state(CONFIG).values.get("messages", ()))

        connection.send("ready")
        while True:
            word = connection.recv()
            if word == "resume":
                graph.invoke(None, CONFIG)
            elif word == "turn":
                graph.invoke({"messages": given_next(messages())}, CONFIG)
            while word == "crash" or not is_over(messages()):
                # A crash may lose what is not saved yet, unless each step waits for it.
                graph.invoke({"messages": given_next(messages())}, CONFIG, durability="sync")
            event = graph.get_state(CONFIG).values.get("_summarization_event") or {}
            connection.send(event.get("cutoff_index", 0))
