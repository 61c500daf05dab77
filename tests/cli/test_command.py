"""The command itself: version, help, drawn graph, and what it says without its extra."""

import subprocess
import sys
import textwrap
from importlib.metadata import version

import pytest

from tests.cli.conftest import Run


def test_version(run: Run) -> None:
    ran = run("--version")
    assert (ran.code, ran.stdout.split()[-1]) == (0, version("langgraph-compression"))


def test_graph_prints_the_five_nodes_and_their_edges(run: Run) -> None:
    ran = run("graph")
    assert ran.code == 0
    for node in ("measure", "compact", "recount", "summarize", "model"):
        assert f"\t{node}(" in ran.stdout
    assert "model -. &nbsp;context overflow&nbsp; .-> compact;" in ran.stdout


def test_help_names_every_command(run: Run) -> None:
    ran = run("--help")
    assert ran.code == 0
    assert "compress" in ran.stdout
    assert "graph" in ran.stdout


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_missing_extra_is_named(missing: str) -> None:
    code = f"""
        import sys
        sys.modules[{missing!r}] = None
        from langgraph_compression.cli import main
        main()
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert ran.stderr.strip() == (
        f"{missing} is not installed: pip install 'langgraph-compression[cli]'"
    )
