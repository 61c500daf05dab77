"""Whatever happens to threads of one workdir, in any order: a summary is of what it covers.

Each text carries a mark of its own. The summarizer answers with the marks it was shown, so that
a summary tells which messages it was made of.
"""

import random
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langgraph_compression import (
    CompressionError,
    CompressionSettings,
    compress_thread,
    create_compression_graph,
)
from langgraph_compression.policy.summary import summary_text
from langgraph_compression.state.blank import is_blank
from langgraph_compression.state.event import applied_event
from langgraph_compression.state.view import leading_system
from tests.graphs.test_kept_summaries import Crashing, thread
from tests.support.fakes import FakeModel, RecordingWorkdir, drive

MARK = re.compile(r"§(\d+)§")


def marks(messages: Iterable[BaseMessage]) -> set[str]:
    return {mark for message in messages for mark in MARK.findall(str(message.content))}


class TooLarge(Exception):
    """What the provider answers to a request that is too large."""


class Threads:
    """Threads of one graph and workdir; each method is something that may happen to them."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.count, self.overflows, self.failures = 0, 0, 0
        self.asked: list[str] = []
        self.names, self.name = ["t0"], "t0"
        self.saver = Crashing()
        self.model = FakeModel(answer=self._answer)
        self.graph = create_compression_graph(
            self.model,
            settings=CompressionSettings(
                summary_threshold=1.5,
                summary_keep_messages=chance.choice([1, 3, 4]),
                summary_tool_result_token_limit=60,
            ),
            summary_model=FakeModel(answer=self._summary),
            workdir=RecordingWorkdir(),
            checkpointer=self.saver,
            counter=lambda text: (len(text) + 3) // 4,
            is_overflow=lambda error: isinstance(error, TooLarge),
        )

    def _text(self, *lengths: int) -> str:
        self.count += 1
        return f"§{self.count}§ " + "word " * self.chance.choice(lengths)

    def _answer(self, messages: list[BaseMessage]) -> Any:
        if self.overflows:
            self.overflows -= 1
            return TooLarge()
        return AIMessage(self._text(1, 60))

    def _summary(self, messages: list[BaseMessage]) -> Any:
        if self.failures:
            self.failures -= 1
            return ValueError()
        text = str(messages[-1].content)
        assert text not in self.asked, "summarized twice"
        self.asked.append(text)
        return AIMessage(" ".join(f"§{mark}§" for mark in sorted(marks(messages), key=int)))

    @property
    def values(self) -> dict[str, Any]:
        return dict(self.graph.get_state(thread(self.name)).values)

    @property
    def messages(self) -> list[AnyMessage]:
        return list(self.values.get("messages", []))

    def put(self, messages: Sequence[Any], **values: Any) -> None:
        values = {"messages": messages, **values}
        self.graph.update_state(thread(self.name), values, as_node="model")

    def append(self) -> None:
        new: list[AnyMessage] = []
        for _ in range(self.chance.choice([1, 3, 6])):
            text, mark = self._text(2, 40, 80), f"{self.count}"
            call = {"name": "look", "args": {}, "id": self.chance.choice(["same", mark])}
            new += self.chance.choice(
                [
                    [HumanMessage(text, id=mark)],
                    [AIMessage(text, id=mark)],
                    [SystemMessage(text[:9], id=mark)],
                    [AIMessage("", id=mark)],
                    [AIMessage("", tool_calls=[call], id=mark)],
                    [
                        AIMessage("", tool_calls=[call], id=f"{mark}-call"),
                        ToolMessage(text, tool_call_id=str(call["id"]), id=mark),
                    ],
                ]
            )
        self.put(new)

    def ask(self) -> None:
        before, standing = self.messages, self.values.get("_summarization_event")
        outcome = drive(self.graph, {"messages": []}, thread(self.name), asynchronous=False)
        assert outcome.error is None or isinstance(outcome.error, TooLarge), outcome.error
        if outcome.error is None:
            self.check(before, standing)

    def check(self, before: list[AnyMessage], standing: Any) -> None:
        """The last request and the event are right for the messages that there were."""
        values, view = self.values, self.model.views[-1]
        assert values["messages"][: len(before)] == before
        event = values.get("_summarization_event")
        applied = applied_event(event, before)
        seen, ids = marks(view), {message.id for message in view}
        if not any(str(message.id).startswith("digest-") for message in view):
            for message in before[applied.cutoff if applied else 0 :]:
                # After an overflow a text is shown by a preview, which may have lost its mark.
                assert marks([message]) <= seen or message.id in ids
        shown = [m.id for m in before if m.type != "system" and not is_blank(m)]
        assert not shown or shown[-1] in ids
        if event and event != standing:
            was = applied_event(standing, before)
            start, text = (was.cutoff, summary_text(was.summary)) if was else (0, "")
            told = set(MARK.findall(text))
            leading = marks(before[: leading_system(before)])
            covered = told | marks(before[start : event["cutoff_index"]])
            assert set(MARK.findall(summary_text(event["summary_message"]))) == covered - leading

    def edit(self) -> None:
        if told := [message for message in self.messages if message.content]:
            self.put([self.chance.choice(told).model_copy(update={"content": self._text(10)})])

    def delete(self) -> None:
        if messages := self.messages:
            self.put([RemoveMessage(str(self.chance.choice(messages).id))])

    def delete_the_newest(self) -> None:
        some = self.messages[-self.chance.randint(1, 6) :]
        self.put([RemoveMessage(str(message.id)) for message in some])

    def fork(self) -> None:
        history = self.graph.get_state_history(thread(self.name))
        if older := [state for state in history if state.values.get("messages")]:
            config = self.chance.choice(older).config
            self.graph.update_state(config, {"messages": []}, as_node="model")

    def reset(self) -> None:
        self.put([], _summarization_event=None)

    def copy(self) -> None:
        messages = self.messages
        self.name = f"t{len(self.names)}"
        self.names.append(self.name)
        self.put(messages[: len(messages) - self.chance.choice([0, 0, 1, 5])])

    def switch(self) -> None:
        self.name = self.chance.choice(self.names)

    def crash(self) -> None:
        before, standing = self.messages, self.values.get("_summarization_event")
        self.saver.crashes = 1
        drive(self.graph, {"messages": []}, thread(self.name), asynchronous=False)
        crashed, self.saver.crashes = not self.saver.crashes, 0
        if crashed:
            self.graph.invoke(None, thread(self.name))
            self.check(before, standing)

    def compress(self) -> None:
        before = self.values
        if not before.get("messages"):
            return
        self.failures = self.chance.choice([0, 0, 2])
        try:
            done = compress_thread(self.graph, thread(self.name)).status == "completed"
        except CompressionError:
            done = False
        self.failures = 0
        after = self.values
        assert after["messages"] == before["messages"]
        event, standing = (state.get("_summarization_event") for state in (after, before))
        assert (event != standing) == done

    def overflow(self) -> None:
        self.overflows = self.chance.choice([1, 2])
        self.ask()
        self.overflows = 0

    def fail(self) -> None:
        self.failures = self.chance.choice([1, 2])
        self.ask()
        self.failures = 0


HAPPENS: list[Callable[[Threads], None]] = [
    *[Threads.append] * 4,
    *[Threads.ask] * 3,
    Threads.edit,
    Threads.delete,
    Threads.delete_the_newest,
    Threads.fork,
    Threads.reset,
    Threads.copy,
    Threads.switch,
    Threads.crash,
    Threads.compress,
    Threads.overflow,
    Threads.fail,
]


@given(
    chance=st.randoms(use_true_random=False),
    steps=st.lists(st.sampled_from(HAPPENS), min_size=10, max_size=40),
)
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.reuse, Phase.generate],  # to make an example smaller takes minutes
)
def test_a_summary_is_of_the_messages_it_covers(
    chance: random.Random, steps: list[Callable[[Threads], None]]
) -> None:
    threads = Threads(chance)
    for step in steps:
        step(threads)
