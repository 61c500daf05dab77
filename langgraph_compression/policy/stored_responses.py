"""Answers that the provider keeps, and what a compressed request may say of them."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage

STORED = "resp_"
"""How ids of responses begin that OpenAI keeps."""


def without_stored(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The messages, with no answer that stands for what was said before it.

    `ChatOpenAI(use_previous_response_id=True)` sends only what follows the last answer with
    the id of a stored response; the provider adds all that this answer was given to. In a
    compressed request that is another history than the view, and a longer one: the ids are
    left out, so that the view itself is sent. That of an answer to a compressed request too:
    the state does not say which those are.

    Returns:
        Copies of the answers with such an id; all other messages are the same objects.

    >>> stored = AIMessage("Hi", response_metadata={"id": "resp_1", "model_name": "gpt-5"})
    >>> without_stored([stored])[0].response_metadata
    {'model_name': 'gpt-5'}
    """
    return [
        _detached(message) if isinstance(message, AIMessage) else message for message in messages
    ]


def _detached(message: AIMessage) -> AIMessage:
    if not str(message.response_metadata.get("id")).startswith(STORED):
        return message
    metadata = {key: value for key, value in message.response_metadata.items() if key != "id"}
    return message.model_copy(update={"response_metadata": metadata})
