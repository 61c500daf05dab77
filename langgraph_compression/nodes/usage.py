"""Usage that providers report, per model."""

from collections.abc import Collection
from typing import Any

from langchain_core.messages import AIMessage

from langgraph_compression.nodes.models import model_name
from langgraph_compression.nodes.wrappers import core_model, cores


def usage_of(
    answer: AIMessage, model: object, spec: str | None, skip: Collection[str] = ()
) -> dict[str, Any]:
    """The usage of an answer as a write to a usage channel: `{model: usage}`, or empty.

    Args:
        answer: What the model said.
        model: Who said it, for its name and metadata.
        spec: "provider:name" where the model was given so.
        skip: Providers whose usage is left out.
    """
    if not answer.usage_metadata or provider_of(answer, model, spec) in skip:
        return {}
    reported = answer.response_metadata.get("model_name")
    name = reported if isinstance(reported, str) and reported else model_name(model)
    return {name: dict(answer.usage_metadata)}


def provider_of(answer: AIMessage, model: object, spec: str | None) -> str | None:
    """Model metadata `provider`, else the prefix of `provider:name`, else what the answer says."""
    named = answer.response_metadata.get("model_name")
    answered = next((core for core in cores(model) if model_name(core) == named), core_model(model))
    metadata = getattr(answered, "metadata", None) or {}
    if isinstance(metadata, dict) and isinstance(metadata.get("provider"), str):
        return str(metadata["provider"])
    if spec and ":" in spec:
        return spec.split(":", 1)[0]
    reported = answer.response_metadata.get("model_provider")
    return reported if isinstance(reported, str) else None
