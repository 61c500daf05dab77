"""Parts that record: chat models that answer by script, a workdir that can fail, a driver.

What a model was sent, what was written and which events came are the oracles of the tests.
"""

import asyncio
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable

from langgraph_compression import Workdir

Answer = AIMessage | str | BaseException
Reply = Answer | Callable[[list[BaseMessage]], Answer]


@dataclass
class Request:
    """One request as the model got it: the very message objects."""

    messages: list[BaseMessage]
    tools: list[Any]
    tags: list[str]
    metadata: Mapping[str, Any]

    @property
    def text(self) -> str:
        """All text of the request."""
        return "\n".join(str(message.content) for message in self.messages)


class FakeModel(BaseChatModel):
    """Answers by script, in order; when the script is over, always with `answer`."""

    answer: Any = "Understood."
    script: Any = ()
    requests: Any = None

    def __init__(self, *script: Reply, **fields: Any) -> None:
        super().__init__(**{"script": list(script), "requests": [], **fields})

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=list(tools), **kwargs)

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> AIMessage:
        self._record(input, config, kwargs)
        return super().invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> AIMessage:
        self._record(input, config, kwargs)
        return await super().ainvoke(input, config, **kwargs)

    def _record(self, messages: Any, config: Any, kwargs: Mapping[str, Any]) -> None:
        config = config or {}
        self.requests.append(
            Request(
                list(messages),
                kwargs.get("tools") or [],
                config.get("tags") or [],
                config.get("metadata") or {},
            )
        )

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        reply = self.script.pop(0) if self.script else self.answer
        if callable(reply):
            reply = reply(messages)
        if isinstance(reply, BaseException):
            raise reply
        if isinstance(reply, str):
            reply = AIMessage(reply, id=f"answer-{uuid.uuid4().hex}")
        return ChatResult(generations=[ChatGeneration(message=reply)])

    @property
    def views(self) -> list[list[BaseMessage]]:
        """The messages of each request."""
        return [request.messages for request in self.requests]


class RecordingWorkdir(Workdir):
    """A workdir in memory that knows what was written, in order, and fails on request."""

    def __init__(self) -> None:
        super().__init__(f"memory://test-{uuid.uuid4().hex}")
        self.files: dict[str, str] = {}
        self.written: list[str] = []
        self.fails: Callable[[str], BaseException | None] = lambda path: None

    def write_text(self, path: str, text: str) -> None:
        error = self.fails(path)
        if error is not None:
            raise error
        super().write_text(path, text)
        self.files[path] = super().read_text(path)
        self.written.append(path)

    def under(self, folder: str) -> dict[str, str]:
        """Files of a folder under outputs/."""
        prefix = f"outputs/{folder}/"
        return {path: text for path, text in self.files.items() if path.startswith(prefix)}

    @property
    def history(self) -> dict[str, str]:
        """Files of the history, in order of writing."""
        files = self.under("conversation_history")
        return {path: text for path, text in files.items() if path.endswith(".jsonl")}

    @property
    def summaries(self) -> dict[str, str]:
        """Summaries that are kept beside them."""
        files = self.under("conversation_history")
        return {path: text for path, text in files.items() if path.endswith(".summary.json")}

    @property
    def results(self) -> dict[str, str]:
        """Saved tool results and texts."""
        return self.under("large_tool_results")


@dataclass
class Outcome:
    """What a run gave: events, and the error that it ended with."""

    events: list[Any] = field(default_factory=list)
    error: BaseException | None = None

    def statuses(self) -> list[str]:
        """Statuses of the compression events."""
        return [event["status"] for event in self.events]

    def last(self, status: str) -> dict[str, Any]:
        """The last event with a status."""
        return [event for event in self.events if event["status"] == status][-1]


def drive(
    graph: Any, given: Any, config: Any = None, *, context: Any = None, asynchronous: bool
) -> Outcome:
    """Run a graph to its end, sync or async, and keep its custom stream and its error."""
    outcome = Outcome()
    options = {"context": context, "stream_mode": "custom"}

    async def run() -> None:
        async for payload in graph.astream(given, config, **options):
            outcome.events.append(payload)

    try:
        if asynchronous:
            asyncio.run(run())
        else:
            for payload in graph.stream(given, config, **options):
                outcome.events.append(payload)
    except Exception as error:
        outcome.error = error
    return outcome


def contents(messages: Iterable[BaseMessage]) -> list[Any]:
    """The content of each message."""
    return [message.content for message in messages]
