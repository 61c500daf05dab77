"""The graphs that langgraph.json serves."""

from langgraph_compression.graphs.chatbot import graph as chatbot_graph
from langgraph_compression.graphs.compression import graph as compression_graph
from langgraph_compression.server.guard import guarded

compression = guarded(compression_graph)
chatbot = guarded(chatbot_graph)
