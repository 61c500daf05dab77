"""Graphs for tests of the served system: the text of the conversation steers the models.

In the newest message of a conversation:

- `[wait NAME]`: the chat model answers when the file NAME is in the folder `STEER_FOLDER`
- `[fails once]`: the chat model raises, the first time
- `[ask]`: after the answer the graph waits for a person

Anywhere in the range to summarize:

- `[summary waits NAME]`: as above, for the summarizer
- `[summary fails]`: the summarizer raises
"""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.constants import END, START
from langgraph.graph import MessagesState, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel

from langgraph_compression import CompressionContext, CompressionSettings, add_compression
from langgraph_compression.server.guard import guarded

FOLDER = "STEER_FOLDER"
SUMMARY = "Berth 7 is done, berth 9 is open."
SETTINGS = CompressionSettings(summary_threshold=4, summary_keep_messages=2)
"""A threshold of 4,096 tokens."""


_failed: set[str] = set()


class Chat(BaseChatModel):
    """Answers "Answer to: …"."""

    @property
    def _llm_type(self) -> str:
        return "steered"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> Any:
        raise NotImplementedError("the server calls it asynchronously")

    async def _agenerate(
        self, messages: Sequence[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        return _said(await self._answer(str(messages[-1].content)))

    async def _answer(self, text: str) -> str:
        await _wait_for(re.search(r"\[wait (\w+)\]", text))
        if "[fails once]" in text and text not in _failed:
            _failed.add(text)
            raise ConnectionError("the model is away")
        return f"Answer to: {text[:60]}"


class Summarizer(Chat):
    """Answers `SUMMARY`."""

    async def _answer(self, text: str) -> str:
        await _wait_for(re.search(r"\[summary waits (\w+)\]", text))
        if "[summary fails]" in text:
            raise ConnectionError("the summarizer is away")
        return SUMMARY


def _said(text: str) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


async def _wait_for(found: re.Match[str] | None) -> None:
    if found:
        file = Path(os.environ[FOLDER]) / found[1]
        while not await asyncio.to_thread(file.exists):
            await asyncio.sleep(0.02)


class Input(MessagesState):
    """What a client may set."""


class State(MessagesState):
    """The host's state."""


def after_model(state: Mapping[str, Any]) -> Literal["ask", "__end__"]:
    """Wait for a person if the user's message says so."""
    return "ask" if "[ask]" in str(state["messages"][-2].content) else "__end__"


def ask(state: State) -> dict[str, Any]:
    """Wait for a person and say what the answer was."""
    return {"messages": [("ai", f"You said {interrupt('Really?')}.")]}


class HostContext(BaseModel):
    """A host's own context, which carries that of compression."""

    customer: str = "nobody"
    compression: CompressionContext | None = None


def _steered(name: str, context: type[BaseModel]) -> Any:
    builder = StateGraph(State, context_schema=context, input_schema=Input)
    add_compression(
        builder,
        Chat(),
        system_prompt="You know the harbour.",
        settings=SETTINGS,
        summary_model=Summarizer(),
        after_model=after_model,
    )
    builder.add_edge(START, "measure")
    builder.add_node("ask", ask)
    return builder.compile(name=name)


def _plain() -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("echo", lambda state: {"messages": [("ai", "Yes.")]})
    builder.add_edge(START, "echo")
    builder.add_edge("echo", END)
    return builder.compile(name="plain")


steered = guarded(_steered("steered", CompressionContext))
hosted = guarded(_steered("hosted", HostContext))
"""The same with a context of its own."""
plain = _plain()
"""A graph without compression."""
