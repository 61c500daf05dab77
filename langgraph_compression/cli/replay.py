"""Running a transcript through the real graph, as one request or turn by turn."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, BaseMessage

from langgraph_compression.cli.course import Outcome, Parts, Request, SavedText, Summarized
from langgraph_compression.cli.recorded import RecordedModel, Requests, thread_in_memory
from langgraph_compression.cli.turns import Planned
from langgraph_compression.cli.wellformed import flaws_of
from langgraph_compression.graphs.compression import create_compression_graph
from langgraph_compression.nodes.config import profile_counter
from langgraph_compression.nodes.models import EXTRACTIVE, Model, model_name
from langgraph_compression.state.event import applied_event
from langgraph_compression.state.settings import CompressionSettings
from langgraph_compression.tokens.counter import MessageCounter
from langgraph_compression.tokens.messages import countable_texts
from langgraph_compression.tokens.profiles import profile_for_model
from langgraph_compression.workdir.workdir import Workdir

SAVED = re.compile(
    r"\[Saved (?:result of tool (?P<tool>[^\n]+)|message text): about (?P<tokens>[\d,]+) tokens]\n"
    r"sha256: [0-9a-f]{64}\nfile: (?P<path>outputs/\S+)\n"
)
"""The frame of a preview."""


def run_transcript(
    plan: Sequence[Planned],
    *,
    settings: CompressionSettings,
    workdir: Workdir,
    tools: Sequence[Mapping[str, Any]] = (),
    system_prompt: str | None = None,
    model: BaseChatModel | None = None,
    summary_model: Model = EXTRACTIVE,
    on_request: Callable[[int], None] = lambda messages: None,
) -> Outcome:
    """Send a transcript through the compression graph, in one thread.

    Args:
        plan: The requests, at least one.
        settings: How to compress.
        workdir: Where files go.
        tools: Tool schemas that are sent with each request.
        system_prompt: As for `create_compression_graph`.
        model: Who is asked where no answer is recorded; None: nobody.
        summary_model: Who summarizes.
        on_request: Called after each request with the number of messages done.

    Raises:
        Exception: What the model raises, unchanged.
    """
    recorded = RecordedModel()
    asked = Requests()
    graph = create_compression_graph(
        model or recorded,
        tools=tools,
        system_prompt=system_prompt,
        settings=settings,
        summary_model=summary_model,
        workdir=workdir,
        checkpointer=thread_in_memory(),
    )
    config: Any = {"configurable": {"thread_id": "transcript"}, "callbacks": [asked]}
    profile = settings.token_profile
    if profile == "auto":
        profile = profile_for_model(model_name(model or recorded))
    counter = profile_counter(profile)
    thread = _Thread(counter)
    requests: list[Request] = []
    readings: list[dict[str, Any]] = []
    for planned in plan:
        recorded.answer = planned.answer
        thread.add(planned.given)
        readings, events, answers = [], [], []
        parts: Iterator[Any] = graph.stream(
            {"messages": planned.given},
            config,
            stream_mode=["updates", "custom"],
            durability="exit",
        )
        for mode, part in parts:
            if mode == "custom":
                events.append(part)
                continue
            for node, update in part.items():
                if "context_pressure" in update:
                    readings.append(update["context_pressure"])
                if update.get("_summarization_event"):
                    thread.event = update["_summarization_event"]
                if node == "model":
                    answers += update.get("messages", ())
        done = events[-1] if events else {}
        requests.append(thread.request(planned, asked.last, readings, done))
        thread.add(answers)
        on_request(len(thread.messages))
    applied = applied_event(thread.event, thread.messages)
    return Outcome(
        requests=requests,
        view=asked.last,
        after=_parts(counter, asked.last, readings[-1]),
        threshold=settings.threshold,
        summarizer_calls=asked.of_summarizer,
        summary=str(applied.summary.text) if applied else None,
        covered=applied.cutoff if applied else 0,
        answer=str(thread.messages[-1].text) if model else None,
    )


class _Thread:
    """The thread as it grows, to compare requests with it."""

    def __init__(self, counter: MessageCounter) -> None:
        self.counter = counter
        self.messages: list[AnyMessage] = []
        self.event: Any = None
        self._numbers: dict[str | None, int] = {}
        self._tokens = self._head = 0
        self._in_head = True

    def add(self, messages: Sequence[AnyMessage]) -> None:
        """Messages that the thread got."""
        for message in messages:
            tokens = self.counter.message(message)
            self._tokens += tokens
            self._in_head = self._in_head and message.type == "system"
            self._head += tokens if self._in_head else 0
            self.messages.append(message)
            self._numbers[message.id] = len(self.messages)

    def request(
        self,
        planned: Planned,
        sent: Sequence[BaseMessage],
        readings: Sequence[Mapping[str, Any]],
        done: Mapping[str, Any],
    ) -> Request:
        """What happened in a request."""
        fixed = readings[0]["system"], readings[0]["tools"]
        uncompressed: Parts = {
            "messages": self._tokens - self._head,
            "system": self._head + fixed[0],
            "tools": fixed[1],
            "total": self._tokens + sum(fixed),
        }
        request = Request(
            turn=planned.turn,
            messages=len(self.messages),
            uncompressed=uncompressed,
            before=readings[0]["total"],
            after=readings[-1]["total"],
            failures=list(done.get("failures", ())),
        )
        for action in done.get("actions", ()):
            if action["action"] == "compacted":
                request.compacted = True
            elif action["action"] == "nothing":
                request.reason = action["reason"]
            elif action["action"] == "summarized":
                last = action["cutoff_index"]
                request.summarized = Summarized(
                    first=last - action["messages"] + 1,
                    last=last,
                    path=action["file_path"],
                    tokens=self.counter.message(self.event["summary_message"]),
                )
        self._compare(request, sent)
        open_end = planned.answer is None
        flaws = flaws_of(sent, may_end_open=open_end)
        if done or self.event:
            request.flaws = flaws
        else:  # sent as it stands in the thread
            request.flaws_of_transcript = flaws
        return request

    def _compare(self, request: Request, sent: Sequence[BaseMessage]) -> None:
        """Find what the request shows otherwise than the thread."""
        for message in sent:
            number = self._numbers.get(message.id) if message.id else None
            if number is None:
                continue
            original = self.messages[number - 1]
            if original is message or original == message:
                continue
            found = list(SAVED.finditer("\n".join(countable_texts(message))))
            request.saved += [
                SavedText(
                    number, frame["tool"], int(frame["tokens"].replace(",", "")), frame["path"]
                )
                for frame in found
            ]
            if not found and message.type == "ai":
                request.clipped += 1


def _parts(
    counter: MessageCounter, sent: Sequence[BaseMessage], reading: Mapping[str, Any]
) -> Parts:
    """The tokens of a request by part, its system messages counted as system."""
    head = sum(counter.message(message) for message in sent if message.type == "system")
    system = max(reading["system"], head)
    rest = reading["total"] - reading["tools"] - system
    return {
        "messages": rest,
        "system": system,
        "tools": reading["tools"],
        "total": reading["total"],
    }
