"""Context compression for LangGraph, as explicit graph nodes."""
