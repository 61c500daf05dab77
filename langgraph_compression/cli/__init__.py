"""The `langgraph-compression` command."""
