"""Which messages say nothing: providers refuse them, so no view in shape shows them."""

from typing import Any

from langchain_core.messages import BaseMessage

from langgraph_compression.state.pairing import calls_of, results_of

REASONING_BLOCKS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content"})
"""Block types that hold what a model thought."""


def is_blank(message: BaseMessage) -> bool:
    """Whether a human or assistant message has no text, no call, no result and no media."""
    if message.type not in ("human", "ai"):
        return False
    content = message.content
    blank = _is_space(content) if isinstance(content, str) else all(map(_says_nothing, content))
    return blank and not calls_of(message) and not results_of(message)


def _is_space(text: str) -> bool:
    return not text or text.isspace()


def _says_nothing(block: Any) -> bool:
    if isinstance(block, str):
        return _is_space(block)
    kind = block.get("type")
    return kind in REASONING_BLOCKS or (kind == "text" and _is_space(str(block.get("text", ""))))
