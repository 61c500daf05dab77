"""Which profile fits a model."""

from langgraph_compression.state.settings import Profile


def profile_for_model(name: str | None) -> Profile:
    """The profile for a model's name; a first version knows none."""
    return "default"
