"""Running the command in this process, in an empty folder."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from langgraph_compression.cli.app import app


@dataclass
class Ran:
    """What a run of the command left."""

    code: int
    stdout: str
    stderr: str
    error: BaseException | None

    @property
    def report(self) -> dict[str, Any]:
        """The report of `--json`."""
        return json.loads(self.stdout)


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line; relative paths, `out` among them, are below tmp_path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run_command(*arguments: object) -> Ran:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        error = None if isinstance(result.exception, SystemExit) else result.exception
        return Ran(result.exit_code, result.stdout, result.stderr, error)

    return run_command
