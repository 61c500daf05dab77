"""Context compression for LangGraph, as explicit graph nodes."""

from langgraph_compression.errors import CompressionError
from langgraph_compression.graphs.chatbot import create_chatbot_graph
from langgraph_compression.graphs.compression import create_compression_graph
from langgraph_compression.graphs.node import compression_node
from langgraph_compression.graphs.wiring import add_compression
from langgraph_compression.nodes.options import CompressionOptions
from langgraph_compression.policy.overflow import is_context_overflow
from langgraph_compression.state.schema import CompressionState, SummarizationEvent
from langgraph_compression.state.settings import CompressionContext, CompressionSettings
from langgraph_compression.threads.compress import (
    CompressionResult,
    acompress_thread,
    compress_thread,
)
from langgraph_compression.threads.gate import ThreadBusy
from langgraph_compression.threads.gate_memory import MemoryGate
from langgraph_compression.threads.gate_postgres import PostgresGate
from langgraph_compression.threads.gate_sqlite import SqliteGate
from langgraph_compression.threads.status import ContextStatus, context_status
from langgraph_compression.tokens.estimate import estimate_tokens
from langgraph_compression.workdir.file_tools import file_tools
from langgraph_compression.workdir.workdir import Workdir

__all__ = [
    "CompressionContext",
    "CompressionError",
    "CompressionOptions",
    "CompressionResult",
    "CompressionSettings",
    "CompressionState",
    "ContextStatus",
    "MemoryGate",
    "PostgresGate",
    "SqliteGate",
    "SummarizationEvent",
    "ThreadBusy",
    "Workdir",
    "acompress_thread",
    "add_compression",
    "compress_thread",
    "compression_node",
    "context_status",
    "create_chatbot_graph",
    "create_compression_graph",
    "estimate_tokens",
    "file_tools",
    "is_context_overflow",
]
