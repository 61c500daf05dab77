"""Running a scenario through the public API, and what is seen of each step."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_compression import (
    CompressionSettings,
    context_status,
    create_compression_graph,
    is_context_overflow,
)
from tests.cases.reading import reference_tokens
from tests.cases.scenario import Scenario, Step
from tests.support.fakes import FakeModel, RecordingWorkdir, drive


@dataclass
class Observed:
    """One step: the state around it, the requests, files, events and errors."""

    before: list[BaseMessage]
    after: list[BaseMessage]
    before_event: Any
    after_event: Any
    requests: list[list[BaseMessage]]
    summarizer: list[list[BaseMessage]]
    files: dict[str, str]
    written: list[str]
    events: list[dict[str, Any]]
    status: Any
    raised: BaseException | None
    fault: Mapping[str, Any]
    overflow: bool | None
    """Whether the package calls the model's error an overflow."""
    earlier_summaries: int
    second: tuple[list[BaseMessage], int] | None = None
    """View and summarizer calls of an immediate second run."""

    @property
    def view(self) -> list[BaseMessage]:
        return self.requests[-1]


class Provider(Exception):
    """An error of a provider's client."""

    def __init__(self, text: str, status: int | None) -> None:
        super().__init__(text)
        self.status_code = status


@dataclass
class _Fault:
    """Plays the fault of a step in one of the two models."""

    window: int | None
    answer: str
    fault: Mapping[str, Any] = field(default_factory=dict)
    played: int = 0
    errors: list[BaseException] = field(default_factory=list)

    def __call__(self, messages: list[BaseMessage]) -> Any:
        reply = self._reply(messages)
        if isinstance(reply, BaseException):
            self.errors.append(reply)
        return reply

    def _reply(self, messages: list[BaseMessage]) -> Any:
        kind, size = self.fault.get("kind"), sum(map(reference_tokens, messages))
        too_large = ContextOverflowError("the request is larger than the context window")
        if self.window and size > self.window:
            return too_large
        if kind == "summarizer_overflows_above" and size > self.fault["tokens"]:
            return too_large
        once = kind == "model_overflow_once"
        if once or self.played < self.fault.get("times", 10**9):
            self.played += 1
            if kind == "model_overflow_always" or (once and self.played == 1):
                return too_large
            if kind == "overflow_message_text":
                return Provider(self.fault["text"], self.fault.get("status"))
            if kind == "summarizer_raises":
                return RuntimeError(self.fault["text"])
        if kind in ("summarizer_returns_empty", "summarizer_returns_text"):
            metadata = self.fault.get("response_metadata") or {}
            return AIMessage(self.fault["content"], response_metadata=metadata)
        return AIMessage(self.answer, id=f"answer-{uuid.uuid4().hex}")


def observe(scenario: Scenario, *, asynchronous: bool) -> list[Observed]:
    """Every step of a scenario."""
    own, window = scenario.settings, scenario.settings.get("model_context_tokens")
    main, summary = _Fault(window, "Understood."), _Fault(window, "")
    profile = {"max_input_tokens": window} if window else None
    model = FakeModel(answer=main, profile=profile)
    summarizer = FakeModel(answer=summary, profile=profile)
    workdir = RecordingWorkdir()
    settings = CompressionSettings(
        summary_threshold=own["summary_threshold_tokens"] / 1024,
        summary_keep_messages=own["keep_messages"],
        summary_tool_result_token_limit=own["tool_result_token_limit"],
        tool_argument_char_limit=own["arg_clip_chars"],
    )
    graph = create_compression_graph(
        model,
        tools=scenario.tools,
        system_prompt=scenario.system,
        settings=settings,
        summary_model=summarizer,
        workdir=workdir,
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": scenario.id}}

    def put(messages: list[Any], **values: Any) -> None:
        graph.update_state(config, {"messages": messages, **values}, as_node="model")

    def values() -> dict[str, Any]:
        return dict(graph.get_state(config).values)

    event = {"_summarization_event": scenario.event} if scenario.event else {}
    put(scenario.messages, **event)
    seen: list[Observed] = []
    for step in scenario.steps:
        put(step.append)
        _arm(step, main, summary, workdir)
        model.requests.clear()
        summarizer.requests.clear()
        workdir.written.clear()
        before = values()
        outcome = drive(graph, {"messages": []}, config, asynchronous=asynchronous)
        put([RemoveMessage(m.id) for m in values()["messages"] if str(m.id).startswith("answer-")])
        after = values()
        step_seen = Observed(
            before=list(before["messages"]),
            after=list(after["messages"]),
            before_event=before.get("_summarization_event"),
            after_event=after.get("_summarization_event"),
            requests=list(model.views),
            summarizer=list(summarizer.views),
            files=dict(workdir.files),
            written=list(workdir.written),
            events=outcome.events,
            status=context_status(after, settings),
            raised=outcome.error,
            fault=step.fault,
            overflow=is_context_overflow(main.errors[0]) if main.errors else None,
            earlier_summaries=sum(len(earlier.summarizer) for earlier in seen),
        )
        if any(one.check == "idempotent" for one in step.expect):
            model.requests.clear()
            summarizer.requests.clear()
            drive(graph, {"messages": []}, config, asynchronous=asynchronous)
            step_seen.second = (model.views[-1], len(summarizer.requests))
        put(step.append_after)
        seen.append(step_seen)
    return seen


def _arm(step: Step, main: _Fault, summary: _Fault, workdir: RecordingWorkdir) -> None:
    kind = str(step.fault.get("kind"))
    for part, plays in ((main, not kind.startswith("summ")), (summary, kind.startswith("summ"))):
        part.fault, part.played, part.errors = (step.fault if plays else {}), 0, []
    summary.answer = step.summary_reply
    folder = {"archive_write_fails": "/conversation_history/", "offload_write_fails": "/large_"}
    broken = folder.get(kind)
    workdir.fails = lambda path: (
        OSError(28, "No space left on device") if broken and broken in path else None
    )
