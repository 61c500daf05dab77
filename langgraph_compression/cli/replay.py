"""Running a transcript through the real graph, as one request or turn by turn."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_compression.cli.wellformed import flaws_of
from langgraph_compression.graphs.compression import create_compression_graph
from langgraph_compression.nodes.models import Model
from langgraph_compression.state.pairing import calls_of
from langgraph_compression.state.settings import CompressionSettings
from langgraph_compression.workdir.workdir import Workdir


@dataclass
class Step:
    """One request of the model."""

    turn: int
    """Number of the user message it belongs to, from 1."""
    messages: int
    """Messages of the state."""
    before: dict[str, Any]
    """Reading before compression: tokens by part."""
    after: dict[str, Any]
    """Reading of the request that was sent."""
    actions: list[dict[str, Any]] = field(default_factory=list)
    failures: list[dict[str, str]] = field(default_factory=list)
    flaws: list[str] = field(default_factory=list)
    """What a provider would refuse in the request; empty when it is well-formed."""


@dataclass
class Outcome:
    """What running a transcript gave."""

    messages: int
    """Messages of the transcript."""
    steps: list[Step]
    view: list[BaseMessage]
    """The last request, as the model got it."""
    values: dict[str, Any]
    """State of the thread at the end."""


class RecordedModel(BaseChatModel):
    """Answers with the recorded messages, and keeps the last request."""

    answers: Any
    last: list[BaseMessage] = []  # noqa: RUF012 - a pydantic field

    @property
    def _llm_type(self) -> str:
        return "recorded"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.last = list(messages)
        return ChatResult(generations=[ChatGeneration(message=next(self.answers))])


def run_transcript(
    messages: Sequence[AnyMessage],
    *,
    settings: CompressionSettings,
    workdir: Workdir,
    system_prompt: str | None = None,
    summary_model: Model = "extractive",
    turn_by_turn: bool,
    on_step: Callable[[int], None] = lambda done: None,
) -> Outcome:
    """Send a transcript through the compression graph.

    Args:
        messages: The transcript.
        settings: How to compress.
        workdir: Where files go.
        system_prompt: As for `create_compression_graph`.
        summary_model: Who summarizes.
        turn_by_turn: One request for each recorded answer, instead of one for the whole.
        on_step: Called with the number of messages done.
    """
    pieces = list(_pieces(messages)) if turn_by_turn else [(list(messages), AIMessage("—"))]
    model = RecordedModel(answers=iter([answer for _, answer in pieces]))
    graph = create_compression_graph(
        model,
        system_prompt=system_prompt,
        settings=settings,
        summary_model=summary_model,
        workdir=workdir,
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "transcript"}}
    steps: list[Step] = []
    turn = done = 0
    for given, _ in pieces:
        readings: list[dict[str, Any]] = []
        events: list[dict[str, Any]] = []
        parts: Iterator[Any] = graph.stream(
            {"messages": given}, config, stream_mode=["updates", "custom"]
        )
        for mode, part in parts:
            if mode == "custom":
                events.append(part)
            else:
                readings += [
                    u["context_pressure"] for u in part.values() if "context_pressure" in u
                ]
        turn += sum(message.type == "human" for message in given)
        done += len(given) + 1
        last = events[-1] if events else {}
        steps.append(
            Step(
                turn=turn,
                messages=done - 1,
                before=readings[0],
                after=readings[-1],
                actions=last.get("actions", []),
                failures=last.get("failures", []),
                flaws=flaws_of(model.last),
            )
        )
        on_step(min(done, len(messages)))
    return Outcome(len(messages), steps, model.last, graph.get_state(config).values)


def _pieces(messages: Sequence[AnyMessage]) -> Iterator[tuple[list[AnyMessage], AIMessage]]:
    """What came in before each recorded answer, with the answer.

    Recorded answers in a row belong to one request: only the last of them is asked for.
    """
    given: list[AnyMessage] = []
    for message, following in itertools.zip_longest(messages, messages[1:]):
        last_of_row = not isinstance(following, AIMessage)
        ready = bool(given) and not calls_of(given[-1])
        if isinstance(message, AIMessage) and last_of_row and ready:
            yield given, message
            given = []
        else:
            given.append(message)
    if given:
        yield given, AIMessage("—")
