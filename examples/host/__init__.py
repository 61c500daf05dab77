"""A chat service of one's own, without LangGraph Server."""
