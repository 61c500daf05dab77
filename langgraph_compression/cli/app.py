"""The commands."""

from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from langchain_core.language_models import BaseChatModel
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from langgraph_compression.cli.course import Outcome
from langgraph_compression.cli.folder import (
    as_json,
    files_of,
    prepare,
    write_report,
    write_text,
    write_view,
)
from langgraph_compression.cli.plot import draw
from langgraph_compression.cli.replay import run_transcript
from langgraph_compression.cli.report import KIND, report_of
from langgraph_compression.cli.text import show
from langgraph_compression.cli.transcript import Transcript, TranscriptError, read_transcript
from langgraph_compression.cli.turns import Planned, turn_by_turn, whole
from langgraph_compression.errors import CompressionError
from langgraph_compression.graphs.compression import graph as canonical_graph
from langgraph_compression.nodes.models import EXTRACTIVE, named_model
from langgraph_compression.state.settings import CompressionSettings, Profile
from langgraph_compression.workdir.workdir import Workdir

FAILED, MISUSED = 1, 2
"""Exit codes."""

OPTIONS = {
    "summary_threshold": "--threshold",
    "summary_keep_messages": "--keep",
    "summary_tool_result_token_limit": "--tool-result-limit",
    "token_profile": "--profile",
}
"""Setting and its option."""

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Compress the context of long conversations.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"langgraph-compression {version('langgraph-compression')}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Compress the context of long conversations."""


@app.command()
def graph() -> None:
    """Print the canonical graph as Mermaid text."""
    typer.echo(canonical_graph.get_graph().draw_mermaid())


@app.command()
def compress(
    file: Annotated[
        Path, typer.Argument(help="OpenAI chat JSON or JSON lines, or LangChain message dicts.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the view, the report and the files.  [default: out/NAME]"),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="K tokens (x 1024) from which a request is compressed.  [default: 100]"),
    ] = None,
    keep: Annotated[
        int | None, typer.Option(help="Recent messages to keep beside a summary.  [default: 10]")
    ] = None,
    tool_result_limit: Annotated[
        int | None,
        typer.Option(help="Tokens a tool result may have when compacted.  [default: 300]"),
    ] = None,
    profile: Annotated[
        Profile | None, typer.Option(help="Whose tokens are estimated.  [default: by the model]")
    ] = None,
    summary_model: Annotated[
        str | None,
        typer.Option(
            help='Who summarizes: "provider:name", or "extractive": a digest without a model.  '
            "[default: the --model, else extractive]"
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help='Send the request to this model, "provider:name", and show its answer.'),
    ] = None,
    system_prompt: Annotated[
        Path | None, typer.Option(help="File with a system prompt to send first.")
    ] = None,
    replay: Annotated[
        bool,
        typer.Option("--replay", help="Turn by turn: a request for each recorded answer."),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the course of the pressure into this SVG.", dir_okay=False),
    ] = None,
    json_wanted: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Run a transcript through the compression graph and say what happened.

    Without --replay it is one request of the whole transcript.

    Exit codes: 0 done; 1 compression failed, wholly or in part, or made a malformed request;
    2 wrong arguments, or no transcript.
    """
    if replay and model:
        raise typer.BadParameter("with --replay the recorded answers stand for a model")
    settings = _settings(
        summary_threshold=threshold,
        summary_keep_messages=keep,
        summary_tool_result_token_limit=tool_result_limit,
        token_profile=profile,
    )
    summarizer = summary_model or model or EXTRACTIVE
    folder = out or Path("out") / file.stem
    try:
        transcript = read_transcript(file)
        prompt = _prompt(system_prompt)
        answering = _named(model) if model else None
        if summarizer != EXTRACTIVE:
            _named(summarizer)
        prepare(folder)
    except CompressionError as error:
        _end(error, MISUSED, json_wanted)
    plan = turn_by_turn(transcript.messages) if replay else whole(transcript.messages)
    try:
        outcome = _run(
            plan,
            transcript,
            settings=settings,
            workdir=Workdir(folder),
            tools=transcript.tools,
            system_prompt=prompt,
            model=answering,
            summary_model=summarizer,
        )
        report = report_of(
            outcome,
            transcript=str(file),
            notes=transcript.notes,
            settings=settings,
            summary_model=summarizer,
            replayed=replay,
            out=str(folder),
            files=files_of(folder),
            plot=str(plot) if plot else None,
        )
        write_view(folder, outcome.view)
        write_report(folder, report)
        if plot:
            write_text(plot, draw(report))
    except (CompressionError, OSError) as error:
        _end(error, FAILED, json_wanted)
    except Exception as error:
        if not model:
            raise
        _end(error, FAILED, json_wanted)  # whatever a provider raises
    if json_wanted:
        typer.echo(as_json(report))
    else:
        show(Console(), report)
    if report["status"] == "failed":
        raise typer.Exit(FAILED)


def _run(plan: list[Planned], transcript: Transcript, **given: Any) -> Outcome:
    """Run the transcript with progress on a terminal."""
    console = Console(stderr=True)
    columns = TextColumn("compressing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("messages", total=len(transcript.messages))
        return run_transcript(
            plan, on_request=lambda messages: bar.update(task, completed=messages), **given
        )


def _settings(**given: Any) -> CompressionSettings:
    try:
        return CompressionSettings(**{key: v for key, v in given.items() if v is not None})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        option = OPTIONS[str(first["loc"][0])]
        raise typer.BadParameter(
            f"{first['msg']}, not {first['input']}", param_hint=option
        ) from None


def _named(name: str) -> BaseChatModel:
    try:
        return named_model(name)
    except CompressionError:
        raise
    except Exception as error:  # each provider has its own, for a missing key for example
        raise CompressionError(f"model {name!r} cannot be used: {error}") from error


def _prompt(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise TranscriptError(f"{path}: the system prompt cannot be read: {why}") from error
    except UnicodeDecodeError as error:
        raise TranscriptError(f"{path}: the system prompt is not UTF-8 text") from error


def _end(error: Exception, code: int, json_wanted: bool) -> NoReturn:
    """Say what is wrong, to people and, where wanted, to machines, and exit."""
    text = str(error) or type(error).__name__
    if not isinstance(error, CompressionError):
        text = f"{type(error).__name__}: {text.splitlines()[0]:.300}"
    text = text.encode("utf-8", "replace").decode()
    typer.echo(f"error: {text}", err=True)
    if json_wanted:
        typer.echo(as_json({"type": KIND, "status": "error", "error": text, "exit_code": code}))
    raise typer.Exit(code)
