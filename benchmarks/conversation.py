"""Made conversations: turns of request, tool call, 1 KB result and answer."""

from collections.abc import Sequence
from typing import Literal

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

Language = Literal["english", "chinese"]

WORDS = {
    "english": (
        "The order of {n} pallets left the depot at {n}:15, and the driver reported that gate "
        "{n} was closed. The planner moved the slot to the next morning and told the customer. "
    ),
    "chinese": (
        "第{n}批货物已于上午离开仓库，司机报告{n}号门关闭，调度员把时间改到次日并通知了客户。"
    ),
}
RESULT_BYTES = 1024
SERIALIZER = JsonPlusSerializer()


def text(language: Language, number: int, size: int) -> str:
    """Prose of about `size` bytes that differs by `number`."""
    sentence = WORDS[language]
    length, at, parts = 0, 0, []
    while length < size:
        parts.append(sentence.format(n=number * 7 + at))
        length += len(parts[-1].encode())
        at += 1
    return "".join(parts).encode()[:size].decode("utf-8", "ignore")


def turn(language: Language, number: int) -> list[AnyMessage]:
    """Request, call, result, answer; ids as LangGraph would have given them."""
    call = {"name": "read_page", "args": {"page": number, "mode": "full"}, "id": f"call-{number}"}
    return [
        HumanMessage(content=text(language, number, 120), id=f"{number}-human"),
        AIMessage(content="", tool_calls=[call], id=f"{number}-call"),
        ToolMessage(
            content=text(language, number, RESULT_BYTES),
            tool_call_id=f"call-{number}",
            name="read_page",
            id=f"{number}-result",
        ),
        AIMessage(content=text(language, number, 240), id=f"{number}-answer"),
    ]


def conversation(messages: int, language: Language = "english", first: int = 0) -> list[AnyMessage]:
    """A conversation of this many messages (a multiple of 4) that ends with a request.

    Its turns are numbered from `first` on; other numbers are other texts.
    """
    made = [m for n in range(first, first + messages // 4) for m in turn(language, n)]
    made[-1] = HumanMessage(content="And now?", id="last")
    return made


def reread(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The same messages as new objects with new texts, as they come out of a checkpoint."""
    read: list[BaseMessage] = SERIALIZER.loads_typed(SERIALIZER.dumps_typed(list(messages)))
    return read
