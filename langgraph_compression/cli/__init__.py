"""The `langgraph-compression` command."""

import sys

from langgraph_compression.errors import MissingExtraError


def main() -> None:
    """Run the command line; says which extra is missing, if one is."""
    try:
        from langgraph_compression.cli.app import app
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in ("typer", "rich"):
            raise
        sys.exit(str(MissingExtraError(package, "cli")))
    app()
