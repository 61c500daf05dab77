"""What a prompt in front of a model is given: the request's messages, by the name it has for them.

LangChain gives a list to a prompt only if it wants exactly one value. A prompt with a
`("placeholder", "{messages}")` counts as one that wants none, and takes a mapping only.
"""

from typing import Any

from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnableSequence

from langgraph_compression.errors import CompressionError
from langgraph_compression.nodes.wrappers import around, inner

MESSAGES = "messages"


def check_prompt(model: object) -> None:
    """Refuse a sequence whose prompt wants more than the messages.

    Raises:
        CompressionError: What it wants, and how to give it.
    """
    prompt = _prompt(model)
    if prompt is None or _takes_a_list(prompt):
        return
    wanted = sorted(set(prompt.input_variables) - {MESSAGES})
    if wanted or not _names_messages(prompt):
        raise CompressionError(
            f"the prompt before the model wants {', '.join(map(repr, wanted)) or 'nothing'}, and "
            "gets the messages only: give it a MessagesPlaceholder('messages') and fill in the "
            "rest with prompt.partial(…), or let a function of (state, runtime) do so"
        )


def with_prompts_fed(model: Any) -> Any:
    """The model, with each prompt in front of one given the messages as it takes them.

    Args:
        model: A model of which nothing is configurable, checked.
    """
    held = inner(model)
    models = [with_prompts_fed(one) for one in held]
    if any(new is not old for new, old in zip(models, held, strict=True)):
        model = around(model, models)
    prompt = _prompt(model)
    if prompt is None or _takes_a_list(prompt):
        return model
    return RunnableSequence(_NAMED, *model.steps, name=model.name)


def _named(messages: list[Any]) -> dict[str, list[Any]]:
    return {MESSAGES: messages}


_NAMED: Runnable[Any, Any] = RunnableLambda(_named)


def _prompt(model: object) -> BasePromptTemplate[Any] | None:
    first = model.first if isinstance(model, RunnableSequence) else None
    return first if isinstance(first, BasePromptTemplate) else None


def _takes_a_list(prompt: BasePromptTemplate[Any]) -> bool:
    wanted = prompt.input_variables
    return len(wanted) == 1 and (wanted == [MESSAGES] or not _names_messages(prompt))


def _names_messages(prompt: BasePromptTemplate[Any]) -> bool:
    return MESSAGES in (*prompt.input_variables, *prompt.optional_variables)
