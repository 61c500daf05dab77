"""The token estimate."""

from langgraph_compression.state.settings import Profile


def estimate_tokens(text: str, profile: Profile = "default") -> int:
    """Tokens of a text: a first version, four ASCII characters or one other to a token."""
    if not text:
        return 0
    if text.isascii():
        return (len(text) + 3) // 4
    other = len(text.encode("ascii", "ignore"))
    return (other + 3) // 4 + len(text) - other
