"""The commands."""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from langchain_core.messages import convert_to_openai_messages
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from langgraph_compression.cli.plot import draw
from langgraph_compression.cli.replay import Outcome, run_transcript
from langgraph_compression.cli.report import as_json, show
from langgraph_compression.cli.transcript import read_transcript
from langgraph_compression.errors import CompressionError
from langgraph_compression.graphs.compression import graph as canonical_graph
from langgraph_compression.nodes.models import EXTRACTIVE, Model, named_model
from langgraph_compression.state.settings import CompressionSettings, Profile
from langgraph_compression.workdir.workdir import Workdir

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Compress the context of long conversations.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("langgraph-compression"))
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Compress the context of long conversations."""


@app.command()
def graph() -> None:
    """Print the canonical graph as Mermaid text."""
    typer.echo(canonical_graph.get_graph().draw_mermaid())


@app.command()
def compress(
    file: Annotated[Path, typer.Argument(help="OpenAI chat JSON or JSONL, or LangChain dicts.")],
    out: Annotated[
        Path, typer.Option(help="Folder for the view and the files.", file_okay=False)
    ] = Path("out"),
    summary_model: Annotated[
        str, typer.Option(help='Who summarizes: "provider:name", or "extractive": no model.')
    ] = "extractive",
    threshold: Annotated[
        float | None, typer.Option(help="K tokens from which a request is compressed.")
    ] = None,
    keep: Annotated[int | None, typer.Option(help="Recent messages to keep.")] = None,
    tool_result_limit: Annotated[
        int | None, typer.Option(help="Tokens a tool result may have.")
    ] = None,
    profile: Annotated[Profile | None, typer.Option(help="Whose tokens are estimated.")] = None,
    system_prompt: Annotated[
        Path | None, typer.Option(help="File with a system prompt to send first.", dir_okay=False)
    ] = None,
    replay: Annotated[
        bool, typer.Option(help="Each recorded answer is a request, turn by turn.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the pressure into this SVG.", dir_okay=False)
    ] = None,
    as_json_text: Annotated[bool, typer.Option("--json", help="Report as JSON.")] = False,
) -> None:
    """Run a transcript through the compression graph and report what happened.

    Exit codes: 0 done, 1 compression failed or a request was malformed, 2 bad arguments or no
    transcript.
    """
    errors = Console(stderr=True)
    try:
        messages = read_transcript(file)
        settings = _settings(
            summary_threshold=threshold,
            summary_keep_messages=keep,
            summary_tool_result_token_limit=tool_result_limit,
            token_profile=profile,
        )
        prompt = system_prompt.read_text("utf-8") if system_prompt else None
        summarizer = _summarizer(summary_model)
    except (CompressionError, ValidationError, OSError, UnicodeDecodeError) as error:
        _print_error(errors, _said(error))
        raise typer.Exit(2) from None
    try:
        with Progress(console=errors, transient=True, disable=not sys.stderr.isatty()) as progress:
            task = progress.add_task("messages", total=len(messages))
            workdir = Workdir(out)
            outcome = run_transcript(
                messages,
                settings=settings,
                workdir=workdir,
                system_prompt=prompt,
                summary_model=summarizer,
                turn_by_turn=replay,
                on_step=lambda done: progress.update(task, completed=done),
            )
        _write(out, outcome, plot)
        paths = workdir.list("outputs")
    except (CompressionError, OSError) as error:
        _print_error(errors, str(error))
        raise typer.Exit(1) from None
    if as_json_text:
        typer.echo(json.dumps(as_json(outcome, paths, str(out)), ensure_ascii=False, indent=2))
    else:
        show(Console(), outcome, paths, str(out))
        if plot:
            typer.echo(f"The picture is in {plot}.")
    if any(step.flaws or step.failures for step in outcome.steps):
        raise typer.Exit(1)


def _settings(**given: Any) -> CompressionSettings:
    return CompressionSettings(**{name: v for name, v in given.items() if v is not None})


def _summarizer(name: str) -> Model:
    if name == EXTRACTIVE:
        return name
    try:
        return named_model(name)
    except CompressionError:
        raise
    except Exception as error:  # each provider has its own errors, for a missing key for example
        raise CompressionError(f"model {name!r} cannot be used: {error}") from error


def _print_error(console: Console, text: str) -> None:
    """Print a text that may hold anything, also brackets and what no terminal can encode."""
    text = text.encode("utf-8", "backslashreplace").decode()
    console.print(f"[red]error:[/red] {escape(text)}", highlight=False, soft_wrap=True)


def _said(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(
            f"{'.'.join(map(str, e['loc']))}: {e['msg']}, not {e['input']!r}"
            for e in error.errors()
        )
    return str(error)


def _write(out: Path, outcome: Outcome, plot: Path | None) -> None:
    """The view, and the picture if one is wanted."""
    view = convert_to_openai_messages(outcome.view)
    out.mkdir(parents=True, exist_ok=True)
    (out / "view.json").write_text(
        json.dumps(view, ensure_ascii=False, indent=1, default=str) + "\n",
        "utf-8",
        errors="backslashreplace",
    )
    if plot:
        plot.parent.mkdir(parents=True, exist_ok=True)
        plot.write_text(draw(outcome.steps), "utf-8")
