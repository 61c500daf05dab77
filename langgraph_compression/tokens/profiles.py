"""Which profile fits a model, by its name."""

import re
from functools import lru_cache

from langgraph_compression.state.settings import Profile

_FAMILIES: tuple[tuple[Profile, re.Pattern[str]], ...] = (
    ("qwen3", re.compile(r"qwen|qwq|qvq")),
    ("gemma3", re.compile(r"gemma|gemini")),
    ("llama3", re.compile(r"llama|nemotron|hermes")),
    ("o200k", re.compile(r"gpt|(^|[/:])o[134](-|$)|chatgpt|codex")),
)
"""First family whose pattern is found. Gemini shares Gemma's vocabulary; Llama 3's descendants
keep its own."""


@lru_cache(maxsize=256)
def profile_for_model(name: str | None) -> Profile:
    """The profile for a model's name, with or without provider; `default` for unknown ones.

    >>> [profile_for_model(n) for n in ("openai:gpt-5", "qwen/qwen3-8b", "deepseek-chat", None)]
    ['o200k', 'qwen3', 'default', 'default']
    """
    lowered = (name or "").lower()
    return next((profile for profile, family in _FAMILIES if family.search(lowered)), "default")
