"""A chat model that records what a provider would be sent, however it is wrapped."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool


@dataclass
class Asked:
    """One request at the end of all wrappers."""

    messages: list[BaseMessage]
    arguments: dict[str, Any]
    """What was bound: temperature, stop, tools, …"""
    tags: list[str]

    @property
    def tools(self) -> list[str]:
        """Names of the tools offered, in order."""
        return [tool["function"]["name"] for tool in self.arguments.get("tools", ())]


class Provider(BaseChatModel):
    """Answers `answer`, raises it, or what it makes of the messages."""

    answer: Any = "Understood."
    model_name: str = "recorded"
    asked: Any = None

    def __init__(self, **fields: Any) -> None:
        super().__init__(**{"asked": [], **fields})

    @property
    def _llm_type(self) -> str:
        return "provider"

    def bind_tools(
        self,
        tools: Sequence[Any],
        *,
        tool_choice: str | None = None,
        parallel_tool_calls: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[Any, AIMessage]:
        """Bind schemas, as provider packages do."""
        given = {"tool_choice": tool_choice, "parallel_tool_calls": parallel_tool_calls}
        kwargs |= {key: value for key, value in given.items() if value is not None}
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        if stop is not None:
            kwargs["stop"] = stop
        self.asked.append(Asked(list(messages), kwargs, list(run_manager.tags)))
        answer: Any = self.answer(messages) if callable(self.answer) else self.answer
        if isinstance(answer, BaseException):
            raise answer
        message = answer if isinstance(answer, AIMessage) else AIMessage(str(answer))
        return ChatResult(generations=[ChatGeneration(message=message)])

    @property
    def last(self) -> Asked:
        """The last request."""
        last: Asked = self.asked[-1]
        return last
