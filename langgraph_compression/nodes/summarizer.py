"""Asking the summarizer: the whole range, in pieces where it must be, bounded in calls."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.constants import TAG_NOSTREAM
from langgraph.errors import GraphBubbleUp

from langgraph_compression.nodes.config import Run
from langgraph_compression.nodes.effects import Do, Steps
from langgraph_compression.nodes.usage import usage_of
from langgraph_compression.policy.pieces import Rest
from langgraph_compression.policy.summary import (
    SUMMARY_MARK,
    answer_text,
    failure_of,
    filled,
    framed,
)
from langgraph_compression.state.reducers import add_usage

logger = logging.getLogger("langgraph_compression")

OVERFLOWS_IN_A_ROW = 3
CALLS_AFTER_OVERFLOW = 8
LEAST_PIECE = 64
"""Tokens of history that a piece must have room for."""


class SummaryFailed(Exception):
    """The summarizer gave no usable summary. `kind` is a class or kind, never a text."""

    def __init__(self, kind: str, usage: dict[str, Any]) -> None:
        super().__init__(kind)
        self.kind, self.usage = kind, usage


class Summary(NamedTuple):
    """A usable summary, and the usage of all calls it took."""

    text: str
    usage: dict[str, Any]


@dataclass
class _Asking:
    """What one attempt has used up."""

    retries: int = 1
    """Left after an exception or an empty answer."""
    overflows: int = 0
    """In a row."""
    further: int | None = None
    """Calls left for the range, retries too; None while nothing overflowed."""
    usage: dict[str, Any] = field(default_factory=dict)

    def spend(self) -> None:
        """Take one call, if there is one."""
        if self.further == 0:
            raise SummaryFailed("overflow", self.usage)
        if self.further is not None:
            self.further -= 1


def ask_for_summary(run: Run, texts: Iterable[str], so_far: str | None) -> Steps[Summary]:
    """Summarize the texts, which continue the summary so far; a text is made when it is sent.

    A range that is too long for half of the summarizer's window goes in pieces, each with the
    summary so far. After an overflow the pieces are at most half as large, and at most eight
    further calls are made for the range.

    Raises:
        SummaryFailed: No usable answer.
    """
    asking = _Asking()
    limit = run.summary_window() // 2
    frame = run.count(filled(run.settings.summary_prompt, framed([], "-"))) + 16
    markers = 1 + (run.count(framed(["-"] * 8, None)) - run.count(framed([], None))) // 8

    def count(texts: Sequence[str]) -> int:
        return run.count("\n".join(texts)) + markers * len(texts)

    rest = Rest(texts)
    while rest:
        room = limit - frame - (run.count(so_far) if so_far else 0)
        # A long answer must not leave so little that the range takes hundreds of calls.
        least = max(LEAST_PIECE + markers, (limit - frame) // 8)
        piece = rest.take(room, count) if room >= least else []
        if not piece:
            raise SummaryFailed("overflow" if asking.overflows else "too_long", asking.usage)
        prompt = filled(run.settings.summary_prompt, framed(piece, so_far))
        answer = yield from _ask(run, prompt, asking)
        if answer is None:
            rest.put_back(piece)
            limit = min(limit, run.count(prompt)) // 2
            if asking.further is None:
                asking.further = CALLS_AFTER_OVERFLOW
            continue
        so_far = answer
    return Summary(so_far or "", asking.usage)


def _ask(run: Run, prompt: str, asking: _Asking) -> Steps[str | None]:
    """One piece: its summary, or None after an overflow."""
    while True:
        asking.spend()
        try:
            answer = yield _call(run, prompt)
        except GraphBubbleUp:
            raise
        except Exception as error:
            if run.overflowed(error, run.count(prompt), summarizing=True):
                asking.overflows += 1
                if asking.overflows >= OVERFLOWS_IN_A_ROW:
                    raise SummaryFailed("overflow", asking.usage) from error
                return None
            kind = type(error).__name__
            logger.warning("summarizer raised %s", kind)
            if not asking.retries:
                raise SummaryFailed(kind, asking.usage) from error
        else:
            asking.overflows = 0
            if not isinstance(answer, AIMessage):
                logger.warning(
                    "summarizer answered with a %s, no AIMessage: give the chat model itself",
                    type(answer).__name__,
                )
                raise SummaryFailed("no_message", asking.usage)
            asking.usage = add_usage(
                asking.usage, usage_of(answer, run.summarizer, run.summarizer_spec)
            )
            text = answer_text(answer)
            failure = failure_of(answer, text)
            if failure is None:
                return text
            logger.warning("summarizer's answer does not count: %s", failure)
            if failure != "empty" or not asking.retries:
                raise SummaryFailed(failure, asking.usage)
        asking.retries -= 1


def _call(run: Run, prompt: str) -> Do:
    model = run.summarizer
    assert model is not None
    request = [HumanMessage(content=prompt)]
    config: Any = {"tags": [TAG_NOSTREAM], "metadata": dict(SUMMARY_MARK)}
    return Do(lambda: model.invoke(request, config), lambda: model.ainvoke(request, config))
