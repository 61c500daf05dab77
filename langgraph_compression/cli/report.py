"""What happened to a transcript, as plain values: the report for machines and its file."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from langgraph_compression.cli.course import Outcome, Request, SavedText
from langgraph_compression.state.settings import CompressionSettings

KIND = "context_compression_report"


def report_of(
    outcome: Outcome,
    *,
    transcript: str,
    notes: Sequence[str],
    settings: CompressionSettings,
    summary_model: str,
    replayed: bool,
    out: str,
    files: Sequence[str],
    plot: str | None,
) -> dict[str, Any]:
    """The whole report. Tokens are estimates; messages are counted from 1.

    Args:
        outcome: What happened.
        transcript: Path of the transcript, as it was given.
        notes: What is odd about the transcript.
        settings: How it was compressed.
        summary_model: Who summarized.
        replayed: Whether each recorded answer was a request.
        out: The folder of the results.
        files: Files in it, without the view and the report.
        plot: Path of the picture.

    Returns:
        Values that JSON can hold.
    """
    requests = outcome.requests
    last = requests[-1]
    malformed = _listed(requests, "flaws")
    failures = [
        {"request": number, **failure}
        for number, request in enumerate(requests, 1)
        for failure in request.failures
    ]
    return {
        "type": KIND,
        "status": "failed" if malformed or failures else "ok",
        "transcript": {
            "file": transcript,
            "messages": last.messages,
            "turns": last.turn,
            "notes": list(notes),
            "malformed": _listed(requests, "flaws_of_transcript"),
        },
        "settings": {
            "replay": replayed,
            "threshold_tokens": outcome.threshold,
            "keep_messages": settings.summary_keep_messages,
            "tool_result_token_limit": settings.summary_tool_result_token_limit,
            "token_profile": settings.token_profile,
            "summary_model": summary_model,
        },
        "tokens": {
            "before": dict(last.uncompressed),
            "after": dict(outcome.after),
            "threshold": outcome.threshold,
            "within_threshold": outcome.after["total"] < outcome.threshold,
            "reason": last.reason,
        },
        "requests": {
            "total": len(requests),
            "compacted": sum(request.compacted for request in requests),
            "summarized": sum(request.summarized is not None for request in requests),
            "malformed": malformed,
            "summarizer_calls": outcome.summarizer_calls,
        },
        "compacted": _compacted(requests),
        "clipped_arguments": max(request.clipped for request in requests),
        "summaries": [
            {"request": number, "turn": request.turn, **asdict(request.summarized)}
            for number, request in enumerate(requests, 1)
            if request.summarized
        ],
        "summary": {"messages": outcome.covered, "text": outcome.summary},
        "failures": failures,
        "answer": outcome.answer,
        "course": [
            {
                "request": number,
                "turn": request.turn,
                "uncompressed": request.uncompressed["total"],
                "before": request.before,
                "after": request.after,
                "compacted": request.compacted,
                "summarized": request.summarized is not None,
            }
            for number, request in enumerate(requests, 1)
        ],
        "out": out,
        "view": "view.json",
        "files": list(files),
        "plot": plot,
    }


def _listed(requests: Sequence[Request], field: str) -> list[dict[str, Any]]:
    """Flaws by request; one that stays from request to request is told once."""
    told: set[str] = set()
    found = []
    for number, request in enumerate(requests, 1):
        for flaw in getattr(request, field):
            if flaw not in told:
                told.add(flaw)
                found.append({"request": number, "flaw": flaw})
    return found


def _compacted(requests: Sequence[Request]) -> list[dict[str, Any]]:
    """Every text that was saved, with the request that showed its preview first."""
    first: dict[SavedText, int] = {}
    for number, request in enumerate(requests, 1):
        for saved in request.saved:
            first.setdefault(saved, number)
    return [{"request": number, **asdict(saved)} for saved, number in first.items()]
