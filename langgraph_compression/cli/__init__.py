"""The `langgraph-compression` command."""

import sys

from langgraph_compression.errors import MissingExtraError


def main() -> None:
    """Run the command line; says which extra is missing, if one is."""
    try:
        from langgraph_compression.cli.main import app
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in ("typer", "rich"):
            raise
        sys.exit(str(MissingExtraError(missing, "cli")))
    app()
