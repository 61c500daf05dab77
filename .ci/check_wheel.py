"""Is the installed wheel whole, and does it run without any extra?

Runs in a clean environment with warnings as errors; read from standard input, so that no
folder of the repository is on the path.
"""

import importlib.metadata
import importlib.util
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import langgraph_compression as package
from langgraph_compression import CompressionSettings, Workdir, create_compression_graph
from langgraph_compression.cli import main
from langgraph_compression.errors import MissingExtraError

folder = Path(package.__file__).parent
assert folder.parent.name == "site-packages", folder
for part in ("py.typed", "server/panel.html"):
    assert (folder / part).is_file(), part
for absent in ("langchain", "langchain_openai", "psycopg", "typer", "langgraph_api", "deepagents"):
    assert importlib.util.find_spec(absent) is None, f"{absent} came with the runtime dependencies"
for name in package.__all__:
    getattr(package, name)
assert package.__all__, "the public API is empty"

with tempfile.TemporaryDirectory() as home:
    graph = create_compression_graph(
        "offline",
        settings=CompressionSettings(summary_threshold=0.1, summary_keep_messages=1),
        workdir=Workdir(home),
    )
    history = [(role, f"{turn} " + "words " * 200) for turn in range(4) for role in ("user", "ai")]
    question = {"messages": [*history, ("user", "and now?")]}
    events = list(graph.stream(question, stream_mode="custom"))
    assert [event["status"] for event in events] == ["started", "completed"], events
    written = events[-1]["file_path"]
    assert (Path(home) / written).is_file(), written


def must_name_the_extra(what: Callable[[], object], extra: str) -> None:
    """Do what needs the extra, which is not there."""
    message = ""
    try:
        what()
    except (MissingExtraError, SystemExit) as error:
        message = str(error)
    assert f"langgraph-compression[{extra}]" in message, f"extra {extra}: {message!r}"


hello = {"messages": [("user", "hello")]}
must_name_the_extra(lambda: create_compression_graph("openai:gpt-5").invoke(hello), "models")
must_name_the_extra(lambda: package.PostgresGate("postgresql://127.0.0.1/none"), "postgres")
sys.argv = ["langgraph-compression", "--help"]
must_name_the_extra(main, "cli")
print("wheel of", importlib.metadata.version("langgraph-compression"), "runs without extras")
