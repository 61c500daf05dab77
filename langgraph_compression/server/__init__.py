"""What LangGraph Server mounts."""
