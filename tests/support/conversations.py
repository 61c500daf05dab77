"""Random conversations: parallel calls, repeated ids, gaps, orphans, odd messages."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

CALL_IDS = ("c0", "c1", "c2")
ODD_TEXTS = ["", " \n", "Go on.", "好的，继续。", "👍🏽", "{messages} {0} %s", "\ud800 \0 end"]
WORDS = st.sampled_from(["ferry", "码头"])
TEXTS = st.one_of(
    st.sampled_from(ODD_TEXTS),
    st.builds(lambda word, times: f"{word} " * times, WORDS, st.integers(1, 120)),
)
LONG_TEXTS = st.builds(lambda word, times: f"{word} " * times, WORDS, st.integers(150, 500))
IDS = st.sampled_from(CALL_IDS)
ARGS = st.dictionaries(st.sampled_from(["q", "path", "n"]), TEXTS, max_size=2)


def _tool_calls(ids: Sequence[str], args: dict[str, Any]) -> list[Any]:
    return [{"name": f"tool_{one}", "args": args, "id": one, "type": "tool_call"} for one in ids]


def _openai(ids: Sequence[str]) -> dict[str, Any]:
    calls = [
        {"id": one, "type": "function", "function": {"name": one, "arguments": "{}"}} for one in ids
    ]
    return {"tool_calls": calls}


def _blocks(ids: Sequence[str], text: str) -> list[Any]:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    calls = [{"type": "tool_use", "id": one, "name": one, "input": {}} for one in ids]
    return [thought, {"type": "text", "text": text}, *calls]


def _result_blocks(ids: Sequence[str], text: str) -> list[Any]:
    return [{"type": "tool_result", "tool_use_id": one, "content": text} for one in ids]


CALLERS: st.SearchStrategy[AnyMessage] = st.one_of(
    st.builds(
        lambda text, ids, args: AIMessage(text, tool_calls=_tool_calls(ids, args)),
        TEXTS, st.lists(IDS, min_size=1, max_size=3), ARGS,
    ),
    st.builds(
        lambda one: AIMessage(
            "", invalid_tool_calls=[{"name": "t", "args": "{", "id": one, "error": "bad"}]
        ),
        IDS,
    ),
    st.builds(
        lambda ids: AIMessage("", tool_calls=_tool_calls(ids, {}), additional_kwargs=_openai(ids)),
        st.lists(IDS, min_size=1, max_size=2, unique=True),
    ),
    st.builds(
        lambda ids, text: AIMessage(_blocks(ids, text)),
        st.lists(IDS, min_size=1, max_size=2, unique=True), TEXTS,
    ),
    st.builds(
        lambda name: AIMessage(
            "", additional_kwargs={"function_call": {"name": name, "arguments": "{}"}}
        ),
        st.sampled_from(["f0", "f1"]),
    ),
)  # fmt: skip

ANSWERS: st.SearchStrategy[AnyMessage] = st.one_of(
    st.builds(lambda text, one: ToolMessage(text, tool_call_id=one), TEXTS, IDS),
    st.builds(
        lambda text, ids: HumanMessage(_result_blocks(ids, text)),
        TEXTS, st.lists(IDS, min_size=1, max_size=2, unique=True),
    ),
    st.builds(
        lambda text, name: FunctionMessage(content=text, name=name),
        TEXTS, st.sampled_from(["f0", "f1"]),
    ),
)  # fmt: skip

SAYINGS: st.SearchStrategy[AnyMessage] = st.one_of(
    TEXTS.map(HumanMessage),
    TEXTS.map(AIMessage),
    TEXTS.map(SystemMessage),
    TEXTS.map(lambda text: ChatMessage(content=text, role="critic")),
    TEXTS.map(lambda text: HumanMessage([{"type": "text", "text": text}])),
)

PIECES = st.one_of(
    SAYINGS.map(lambda message: [message]),
    CALLERS.map(lambda message: [message]),
    ANSWERS.map(lambda message: [message]),
    # An ordinary group, so that not everything is odd.
    st.builds(
        lambda ids, text: [
            AIMessage("", tool_calls=_tool_calls(ids, {})),
            *(ToolMessage(text, tool_call_id=one) for one in ids),
        ],
        st.lists(IDS, min_size=1, max_size=3, unique=True), TEXTS | LONG_TEXTS,
    ),
)  # fmt: skip


def conversations(max_size: int = 14) -> st.SearchStrategy[list[AnyMessage]]:
    """Messages with ids m0, m1 …, of all kinds, in any order."""
    return st.lists(PIECES, max_size=max_size).map(_numbered)


def _numbered(pieces: Sequence[Sequence[Any]]) -> list[AnyMessage]:
    messages = [message for piece in pieces for message in piece]
    return [m.model_copy(update={"id": f"m{n}"}) for n, m in enumerate(messages)]


def calls_in(message: BaseMessage) -> list[str]:
    """Ids that a generated message calls, in order, repeated ones repeated."""
    if not isinstance(message, AIMessage):
        return []
    found = [str(c["id"]) for c in [*message.tool_calls, *message.invalid_tool_calls]]
    if not found:
        found = [block["id"] for block in _typed(message, "tool_use")]
    old = message.additional_kwargs.get("function_call")
    return [*found, "function " + old["name"]] if old else found


def answers_in(message: BaseMessage) -> list[str]:
    """Ids that a generated message answers."""
    if isinstance(message, ToolMessage):
        return [message.tool_call_id]
    if isinstance(message, FunctionMessage):
        return ["function " + str(message.name)]
    return [block["tool_use_id"] for block in _typed(message, "tool_result")]


def _typed(message: BaseMessage, kind: str) -> list[dict[Any, Any]]:
    """The blocks of a type."""
    blocks = message.content if isinstance(message.content, list) else []
    return [block for block in blocks if isinstance(block, dict) and block.get("type") == kind]


def assigned(messages: Sequence[BaseMessage]) -> dict[tuple[int, str], int | None]:
    """(index of a result, id) → its assistant message, by the sentence of the specification.

    A result belongs to the nearest earlier assistant message that has an open call of its id,
    else to the nearest one with that id.
    """
    owner: dict[tuple[int, str], int | None] = {}
    open_calls = [list(calls_in(message)) for message in messages]
    for index, message in enumerate(messages):
        for one in answers_in(message):
            earlier = range(index - 1, -1, -1)
            waiting = next((at for at in earlier if one in open_calls[at]), None)
            if waiting is not None:
                open_calls[waiting].remove(one)
            caller = next((at for at in earlier if one in calls_in(messages[at])), None)
            owner[index, one] = waiting if waiting is not None else caller
    return owner


def open_calls(messages: Sequence[BaseMessage]) -> dict[int, list[str]]:
    """Assistant index → its calls without a result."""
    left = {at: list(calls_in(message)) for at, message in enumerate(messages)}
    for (_, one), caller in assigned(messages).items():
        if caller is not None and one in left[caller]:
            left[caller].remove(one)
    return {at: calls for at, calls in left.items() if calls}


def last_speech(messages: Sequence[BaseMessage]) -> int:
    """Index of the last human or assistant message, -1 for none."""
    return max((n for n, m in enumerate(messages) if m.type in ("human", "ai")), default=-1)


def is_empty(message: BaseMessage) -> bool:
    """Whether a human or assistant message says nothing, calls nothing and answers nothing."""
    if message.type not in ("human", "ai") or calls_in(message) or answers_in(message):
        return False
    return not str(message.text).strip()


def faults_of(view: Sequence[BaseMessage], pending: Collection[str | None] = ()) -> list[str]:
    """Why a provider would refuse a request: nothing for a well-formed one.

    Args:
        view: The request.
        pending: Ids of assistant messages whose calls may still be answered.
    """
    faults = []
    if "system" in [message.type for message in view[1:]]:
        faults.append("a system message behind the head")
    faults += [f"{message.id} is empty" for message in view if is_empty(message)]
    orphans = [(at, one) for (at, one), caller in assigned(view).items() if caller is None]
    faults += [f"{at} answers {one}: no call" for at, one in orphans]
    faults += [
        f"{at} calls {ids}: no result"
        for at, ids in open_calls(view).items()
        if at < last_speech(view) and view[at].id not in pending
    ]
    owned = {key: caller for key, caller in assigned(view).items() if caller is not None}
    for (at, one), caller in owned.items():
        between = [
            (number, answer)
            for number in range(caller + 1, at)
            for answer in answers_in(view[number]) or [""]
        ]
        if any(owned.get(place) != caller for place in between):
            faults.append(f"{at} answers {one} of {caller}: something stands between")
    answered = Counter(f"{one} of {caller}" for (_, one), caller in owned.items())
    called = Counter(f"{one} of {at}" for at, m in enumerate(view) for one in calls_in(m))
    faults += [f"{one} is answered again" for one in answered - called]
    ids = [message.id for message in view if message.id is not None]
    faults += [f"{one} stands there twice" for one in set(ids) if ids.count(one) > 1]
    return faults
