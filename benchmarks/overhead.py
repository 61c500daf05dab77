"""What one model call costs more: compression alone, and the whole graph."""

import itertools
from functools import partial
from typing import Any

from langchain_core.messages import AnyMessage
from langchain_core.messages.utils import count_tokens_approximately

from benchmarks import peers
from benchmarks.conversation import Language, conversation, reread
from benchmarks.model import InstantModel
from benchmarks.ours import Clocked
from benchmarks.timing import Contender, interleaved, timed
from langgraph_compression import CompressionSettings
from langgraph_compression.tokens.counter import MessageCounter
from langgraph_compression.tokens.estimate import estimate_tokens

SIZES = (100, 1_000, 10_000)
NEVER = CompressionSettings(summary_threshold=1_000_000)
Table = dict[str, dict[str, float]]


def below() -> tuple[dict[str, Contender], dict[str, Contender]]:
    """Nobody compresses: all that is to do is to know it."""
    model, own = InstantModel(), Clocked(NEVER)
    never = peers.NEVER
    alone = {
        "ours": own.alone,
        "langchain summarization": peers.before_model(peers.summarization(model, never)),
        "langchain context editing": peers.around_model(peers.editing(never), model),
        "deepagents summarization": peers.around_model(peers.deep(model, never), model),
        "langmem": peers.langmem(model, never),
        "trim_messages": timed(lambda messages: peers.trimmed(messages, never)),
        "count_tokens_approximately": timed(count_tokens_approximately),
        "bare model call": timed(model.invoke),
    }
    whole = {
        "ours": own.whole,
        "langchain agent, no middleware": peers.agent(model),
        "langchain summarization": peers.agent(model, peers.summarization(model, never)),
        "langchain context editing": peers.agent(model, peers.editing(never)),
        "deepagents summarization": peers.agent(model, peers.deep(model, never)),
        "langmem": peers.langmem_graph(model, never),
        "trim_messages": peers.one_node(lambda m: model.invoke(peers.trimmed(m, never))),
        "one-node graph": peers.one_node(model.invoke),
        "bare model call": timed(model.invoke),
    }
    return alone, whole


def compacting(tokens: int) -> tuple[dict[str, Contender], dict[str, Contender]]:
    """Old tool results are made smaller, nobody summarizes.

    Ours saves every result to a file and shows a preview; the others drop the content
    (context editing) or whole messages (trimming).
    """
    settings = CompressionSettings(
        summary_threshold=tokens * 0.9 / 1024, summary_tool_result_token_limit=60
    )
    model, own = InstantModel(), Clocked(settings)
    alone = {
        "ours": own.alone,
        "langchain context editing": peers.around_model(peers.editing(tokens // 2), model),
        "trim_messages": timed(lambda messages: peers.trimmed(messages, tokens // 2)),
        "bare model call": timed(model.invoke),
    }
    whole = {
        "ours": own.whole,
        "langchain context editing": peers.agent(model, peers.editing(tokens // 2)),
        "trim_messages": peers.one_node(lambda m: model.invoke(peers.trimmed(m, tokens // 2))),
        "bare model call": timed(model.invoke),
    }
    return alone, whole


def summarizing(tokens: int) -> tuple[dict[str, Contender], dict[str, Contender]]:
    """A summary is made at this call.

    The window of the summarizers is unknown; ours assumes the threshold, so that a range
    close to it takes several calls.
    """
    threshold = max(tokens // 5, 2_000)
    settings = CompressionSettings(summary_threshold=threshold / 1024)
    model, own = InstantModel(), Clocked(settings)

    def ours_alone(messages: list[Any]) -> float:
        own.new_workdir()
        return own.alone(messages)

    def ours_whole(messages: list[Any]) -> float:
        own.new_workdir()
        return own.whole(messages)

    alone = {
        "ours": ours_alone,
        "langchain summarization": peers.before_model(peers.summarization(model, threshold)),
        "deepagents summarization": peers.around_model(peers.deep(model, threshold), model),
        "langmem": peers.langmem(model, threshold),
        "bare model call": timed(model.invoke),
    }
    whole = {
        "ours": ours_whole,
        "langchain summarization": peers.agent(model, peers.summarization(model, threshold)),
        "deepagents summarization": peers.agent(model, peers.deep(model, threshold)),
        "langmem": peers.langmem_graph(model, threshold),
        "bare model call": timed(model.invoke),
    }
    return alone, whole


_first = itertools.count(1_000_000, 1_000_000)


def _unseen(size: int, language: Language) -> list[AnyMessage]:
    return conversation(size, language, next(_first))


def run(seconds: float = 4.0) -> dict[str, Any]:
    """Milliseconds by situation, number of messages and contender.

    "next call" gives the same message objects again, as in a loop of tool calls within one
    run; "first call" gives new objects, as they come out of a checkpoint at each turn; "new
    texts" gives texts that this process has never seen, as when a long thread is imported.
    """
    results: dict[str, Any] = {}
    count = MessageCounter(estimate_tokens)
    languages: tuple[Language, ...] = ("english", "chinese")
    for language in languages:
        for size in SIZES:
            messages = conversation(size, language)
            tokens = count.messages(messages)
            situations = {
                "below the threshold": below(),
                "compacting": compacting(tokens),
                "summarizing": summarizing(tokens),
            }
            if language == "chinese":
                situations = {"below the threshold": situations["below the threshold"]}
            for situation, (alone, whole) in situations.items():
                cell = results.setdefault(f"{situation}, {language}", {}).setdefault(str(size), {})
                if situation != "summarizing":
                    cell["alone, next call"] = interleaved(
                        alone, partial(list, messages), seconds=seconds
                    )
                cell["alone, first call"] = interleaved(
                    alone, partial(reread, messages), seconds=seconds
                )
                cell["alone, new texts"] = interleaved(
                    alone, partial(_unseen, size, language), seconds=seconds / 2
                )
                cell["whole, first call"] = interleaved(
                    whole, partial(reread, messages), seconds=seconds
                )
    return results
