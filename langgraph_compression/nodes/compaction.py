"""Compaction of messages, with the files it needs: used by several nodes."""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast
from weakref import WeakKeyDictionary, ref

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage

from langgraph_compression.nodes.config import Run
from langgraph_compression.nodes.effects import Steps, in_thread
from langgraph_compression.policy.arguments import clip_arguments
from langgraph_compression.policy.read_back import names_saved_file
from langgraph_compression.policy.saved_result import (
    Saved,
    result_blocks,
    save_result,
    save_result_block,
)
from langgraph_compression.policy.stored_text import RedactionError, sha256
from langgraph_compression.state.pairing import Call, Pairing, pair, results_of
from langgraph_compression.tokens.counter import MessageCounter
from langgraph_compression.workdir.workdir import Workdir

logger = logging.getLogger("langgraph_compression")


@dataclass
class Compacted:
    """A tail of messages after compaction, by index in the tail."""

    pairing: Pairing
    """Calls and results of the tail."""
    messages: list[AnyMessage]
    saved: dict[int, Saved]
    """Results that were replaced, and are in files."""
    blocks: dict[int, dict[int, Saved]]
    """The same for results that are blocks of a human message, by index of the block."""
    clipped: set[int]
    """Assistant messages whose arguments were clipped."""
    failures: list[dict[str, str]]
    """Results that could not be redacted, files that could not be written."""

    @property
    def results(self) -> int:
        """How many results were replaced."""
        return len(self.saved) + sum(map(len, self.blocks.values()))


def compact_tail(
    run: Run,
    workdir: Workdir,
    tail: Sequence[AnyMessage],
    *,
    unseen: bool,
    unsaved: set[str],
) -> Steps[Compacted]:
    """Clip long arguments, save large results and put previews in their place.

    Args:
        run: The run.
        workdir: Where results are saved.
        tail: Messages of the state.
        unseen: Also compact results that the model has not seen yet.
        unsaved: Paths that could not be written in this request, and results that could not
            be redacted; they are not tried again, and those that fail now are added.
    """
    pairing = pair(tail)
    seen_upto = pairing.size if unseen else pairing.last_assistant
    done = Compacted(pairing, list(tail), {}, {}, set(), [])

    def to_save(index: int, call_id: str, block: int = -1) -> Saved | None:
        name = unredacted(tail[index], block)
        if name in unsaved:
            return None
        try:
            saved = _saved(run, tail[index], _call(pairing, index, call_id), block)
        except RedactionError as error:
            unsaved.add(name)
            done.failures.append(not_redacted(error))
            return None
        return saved if saved and saved.path not in unsaved else None

    for index, message in enumerate(tail):
        if isinstance(message, AIMessage):
            clipped = _clipped(run, message)
            if clipped is not message:
                done.messages[index] = clipped
                done.clipped.add(index)
        elif message.type in ("tool", "function") and index < seen_upto:
            saved = to_save(index, results_of(message)[0])
            if saved:
                done.saved[index] = saved
        elif message.type == "human" and index < seen_upto:
            for at, call_id in result_blocks(message):
                saved = to_save(index, call_id, at)
                if saved:
                    done.blocks.setdefault(index, {})[at] = saved
    wanted = {
        saved.path: saved.text
        for replaced in (done.saved, *done.blocks.values())
        for saved in replaced.values()
    }
    failed: dict[str, str] = yield in_thread(write_missing, workdir, wanted)
    for path, error in failed.items():
        logger.warning("tool result stays in the request: %s was not written: %s", path, error)
        unsaved.add(path)
        done.failures.append({"kind": "result", "error": error})
    done.saved = _written_only(done.saved, failed)
    for index, saved in done.saved.items():
        done.messages[index] = cast("AnyMessage", saved.message)
    for index, blocks in list(done.blocks.items()):
        done.blocks[index] = _written_only(blocks, failed)
        if done.blocks[index]:
            done.messages[index] = _with_blocks(tail[index], done.blocks[index])
    return done


def unredacted(message: BaseMessage, block: int = -1) -> str:
    """How a result that could not be redacted is known during a request: it has no path."""
    return f"not redacted: {message.id or id(message)} {block}"


def not_redacted(error: RedactionError) -> dict[str, str]:
    """The failure that an event carries."""
    logger.warning("a text stays in the request, unsaved: redact raised %s", error.kind)
    return {"kind": "result", "error": error.kind}


def _written_only(replaced: dict[int, Saved], failed: Collection[str]) -> dict[int, Saved]:
    return {at: saved for at, saved in replaced.items() if saved.path not in failed}


def _with_blocks(message: AnyMessage, replaced: dict[int, Saved]) -> AnyMessage:
    content = list(message.content)
    for at, saved in replaced.items():
        content[at] = saved.message.content[at]
    return message.model_copy(update={"content": content})


_written: WeakKeyDictionary[Workdir, set[str]] = WeakKeyDictionary()
"""Files known to be there, so that a store far away is not asked at every request."""


def write_missing(workdir: Workdir, files: dict[str, str]) -> dict[str, str]:
    """Write what is not there yet.

    Returns:
        Path → class of the error, for files that could not be written.
    """
    known = _written.setdefault(workdir, set())
    missing = {path: text for path, text in files.items() if path not in known}
    failed = workdir.write_missing(missing)
    known.update(missing.keys() - failed.keys())
    return {path: type(error).__name__ for path, error in failed.items()}


def _call(pairing: Pairing, index: int, call_id: str) -> Call | None:
    owner = pairing.owner.get((index, call_id))
    for call in pairing.calls.get(owner, ()) if owner is not None else ():
        if call.id == call_id:
            return call
    return None


_Key = tuple[int, Any]
_memo: dict[_Key, tuple[ref[BaseMessage], Any, Any]] = {}
"""(id of a message, what else decides) → (the message, its content, what became of it).

Compaction depends on the message and the settings alone, so each message is compacted once
over all the requests of a run."""


def _remembered(message: BaseMessage, decides: Any, make: Any) -> Any:
    key = (id(message), decides)
    known = _memo.get(key)
    if known is not None and known[1] is message.content:
        return known[2]
    made, forget = make(), _memo.pop  # no global is left when messages outlive the module
    _memo[key] = (ref(message, lambda _: forget(key, None)), message.content, made)
    return made


_PREVIEWS_REMEMBERED = 5_000
"""Some 10 MB with the default limit."""
_Previews = dict[tuple[str, Any], tuple[str, str]]
_previews: WeakKeyDictionary[MessageCounter, _Previews] = WeakKeyDictionary()
"""(SHA-256 of a result, what else decides) → (its frame, its path), both empty if it stays.

For messages that come out of a checkpoint anew at each turn. The texts are not held."""


def _previewed(
    run: Run, message: BaseMessage, decides: Any, make: Callable[[], Saved | None]
) -> Saved | None:
    """As `make`, once for each text.

    A result that is no single text is not remembered, nor is what `redact` made: it may
    depend on more than the text.
    """
    text = message.content
    if run.graph.redact or not isinstance(text, str):
        return make()
    previews = _previews.setdefault(run.counter, {})
    key = (sha256(text), decides)
    known = previews.get(key)
    if known is not None:
        frame, path = known
        return Saved(message.model_copy(update={"content": frame}), path, text) if path else None
    saved = make()
    if saved is None or saved.text is text:  # else it was escaped
        if len(previews) >= _PREVIEWS_REMEMBERED:
            previews.clear()
        previews[key] = (str(saved.message.content), saved.path) if saved else ("", "")
    return saved


def _clipped(run: Run, message: AIMessage) -> AIMessage:
    tools, limit = run.settings.clipped_argument_tools, run.settings.tool_argument_char_limit
    if not (message.additional_kwargs or isinstance(message.content, list)) and not any(
        call["name"] in tools for call in message.tool_calls
    ):
        return message  # at a glance: nothing to remember
    # None stands for "unchanged": the memo must not keep the message itself alive.
    clipped = _remembered(
        message,
        (tools, limit),
        lambda: _none_if_same(clip_arguments(message, tools, limit), message),
    )
    return clipped or message


def _none_if_same(new: AIMessage, old: AIMessage) -> AIMessage | None:
    return None if new is old else new


def _saved(run: Run, message: BaseMessage, call: Call | None, block: int = -1) -> Saved | None:
    """What a result is replaced by: a tool message, or one block of a human message."""
    if call is not None and names_saved_file(call.args):
        return None
    settings = run.settings
    limit = settings.summary_tool_result_token_limit
    if (
        isinstance(message.content, str)
        and run.graph.own_counter is None  # which may count a whole less than its part
        and run.counter.message(message) <= limit
    ):
        return None  # at a glance, as the whole message is counted already: nothing to remember
    tool = (message.name if block < 0 else None) or (call.name if call else "tool")
    query = call.args.get("query") if call is not None and isinstance(call.args, dict) else None
    query = query if isinstance(query, str) else None
    kinds = settings.structured_result_tools
    save: Callable[..., Saved | None] = (
        save_result if block < 0 else partial(save_result_block, index=block)
    )
    decides = (block, tool, query, limit, tuple(kinds.items()), run.graph.redact)

    def make() -> Saved | None:
        return save(
            message,
            tool=tool,
            limit=limit,
            kinds=kinds,
            count=run.count,
            query=query,
            redact=run.graph.redact,
        )

    result: Saved | None = _remembered(
        message, (run.counter, decides), lambda: _previewed(run, message, decides, make)
    )
    return result
