"""A chat model without a model, so that the graphs run before any key is set."""

from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable


class OfflineChatModel(BaseChatModel):
    """Says plainly that it is no language model, and what it received.

    >>> print(OfflineChatModel().invoke("Hello").text.splitlines()[0])
    This is the embedded offline model: no language model is configured.
    """

    @property
    def _llm_type(self) -> str:
        return "offline"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Take the tools; it never calls one."""
        return self.bind(tools=list(tools), **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        answer = AIMessage(content=_report(messages, len(kwargs.get("tools") or ())))
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for line in _report(messages, len(kwargs.get("tools") or ())).splitlines(keepends=True):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=line))
            if run_manager:
                run_manager.on_llm_new_token(line, chunk=chunk)
            yield chunk


def _report(messages: Sequence[BaseMessage], tools: int) -> str:
    kinds: dict[str, int] = {}
    for message in messages:
        kinds[message.type] = kinds.get(message.type, 0) + 1
    characters = sum(len(str(message.text)) for message in messages)
    last = next((str(m.text) for m in reversed(messages) if m.type == "human"), "")
    shown = last if len(last) <= 200 else last[:200] + " …"
    return "\n".join(
        [
            "This is the embedded offline model: no language model is configured.",
            f"I received {len(messages)} messages ("
            + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
            + f"), {characters:,} characters of text, and {tools} tools.",
            f"Your last message: {shown}",
            "Set a model to get answers: LANGGRAPH_COMPRESSION_MODEL=provider:name, or `model` in "
            "the assistant's context.",
        ]
    )
