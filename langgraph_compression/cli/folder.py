"""The folder with the results of a command."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage

from langgraph_compression.cli.chat_form import chat_form
from langgraph_compression.cli.report import KIND
from langgraph_compression.errors import CompressionError

VIEW, REPORT, FILES = "view.json", "report.json", "outputs"


class FolderError(CompressionError):
    """The results cannot be put there."""


def prepare(folder: Path) -> None:
    """Make the folder; what this command wrote into it earlier is removed.

    Raises:
        FolderError: It holds something else, or cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            if not _is_ours(folder):
                raise FolderError(
                    f"the folder {folder} is not empty and holds no report of this command: "
                    "give another --out"
                )
            shutil.rmtree(folder / FILES, ignore_errors=True)
            (folder / VIEW).unlink(missing_ok=True)
        write_report(folder, {"type": KIND, "status": "unfinished"})
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise FolderError(f"the folder {folder} cannot be written: {why}") from error


def _is_ours(folder: Path) -> bool:
    try:
        report = json.loads((folder / REPORT).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(report, dict) and report.get("type") == KIND


def write_view(folder: Path, messages: Sequence[BaseMessage]) -> None:
    """Write a request as a JSON list of chat messages."""
    write_text(folder / VIEW, as_json(chat_form(messages)) + "\n")


def write_report(folder: Path, report: Mapping[str, Any]) -> None:
    """Write the report for machines."""
    write_text(folder / REPORT, as_json(report) + "\n")


def files_of(folder: Path) -> list[str]:
    """The files that compression wrote, as the view names them."""
    found = (folder / FILES).rglob("*")
    return sorted(path.relative_to(folder).as_posix() for path in found if path.is_file())


def as_json(value: Any) -> str:
    """JSON that can be encoded: a lone surrogate becomes its escape."""
    text = json.dumps(value, ensure_ascii=False, indent=1, default=str)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 with line feeds as they are, also into a folder that is not there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8", newline="")
