"""The model of the served graphs, when a run's context names none."""

import os
from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.runtime import Runtime

from langgraph_compression.nodes.models import named_model

MODEL_VARIABLE = "LANGGRAPH_COMPRESSION_MODEL"


def served_model(state: Any, runtime: Runtime[Any]) -> BaseChatModel:
    """The model that the environment names, else the embedded offline one."""
    return named_model(os.environ.get(MODEL_VARIABLE) or "offline")
