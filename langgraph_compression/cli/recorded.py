"""What stands around the graph when a transcript runs through it."""

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langgraph.checkpoint.memory import InMemorySaver

NOT_RECORDED = "(The recording ends here.)"
"""Stands for the answer to the last request."""


class RecordedModel(BaseChatModel):
    """Gives the recorded answer instead of asking a model."""

    answer: AIMessage | None = None

    @property
    def _llm_type(self) -> str:
        return "recorded"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Take the tools; the answer is recorded already."""
        return self.bind(tools=list(tools), **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        answer = self.answer.model_copy() if self.answer else AIMessage(NOT_RECORDED)
        return ChatResult(generations=[ChatGeneration(message=answer)])


class Requests(BaseCallbackHandler):
    """Keeps the last request of the chat model, and counts those of the summarizer."""

    raise_error = True

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self.last: list[BaseMessage] = []
        self.of_summarizer = 0

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Called before each request, with its messages."""
        if (metadata or {}).get("lc_source") == "summarization":
            self.of_summarizer += 1
        else:
            self.last = list(messages[0])


class _SameObjects:
    """Serializes nothing: a thread that lives as long as the command keeps its objects.

    So a conversation of a thousand turns is neither parsed nor counted anew at each turn.
    """

    def dumps_typed(self, obj: Any) -> tuple[str, Any]:
        return "object", obj

    def loads_typed(self, data: tuple[str, Any]) -> Any:
        return data[1]


def thread_in_memory() -> InMemorySaver:
    """A checkpointer for one thread of this process."""
    return InMemorySaver(serde=_SameObjects())
