"""A chat model that answers at once, and knows how long it was inside of `invoke`."""

from time import perf_counter
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class InstantModel(BaseChatModel):
    """Answers one sentence to everything."""

    model_name: str = "instant"
    """Models have a name, by which ours chooses the estimate."""
    answer: str = "Understood: the slot moved, the customer knows, gate 7 stays closed."
    spent: float = 0.0
    """Seconds inside of `invoke`, which a bare call costs as well."""
    requests: list[list[BaseMessage]] = []  # noqa: RUF012  pydantic copies defaults
    keep_requests: bool = False

    @property
    def _llm_type(self) -> str:
        return "instant"

    def invoke(self, *args: Any, **kwargs: Any) -> AIMessage:
        """As every chat model, with the time taken."""
        start = perf_counter()
        try:
            return super().invoke(*args, **kwargs)
        finally:
            self.spent += perf_counter() - start

    def bind_tools(self, tools: Any, **kwargs: Any) -> "InstantModel":
        """Tools change nothing."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        if self.keep_requests:
            self.requests.append(messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=self.answer))])
