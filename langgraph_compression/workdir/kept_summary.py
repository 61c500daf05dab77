"""Summaries beside their history files, so that none is made and paid for twice.

The channel of the event is the fast way. A host that does not carry it, a crash before the
checkpoint, a fork or a copied thread find the summary here. It counts only for the very messages
that it was made from: all of them are compared.
"""

import hashlib
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AnyMessage

from langgraph_compression.state.event import Applied, covered_since
from langgraph_compression.state.pairing import pair
from langgraph_compression.workdir.paths import HISTORY
from langgraph_compression.workdir.workdir import Workdir

logger = logging.getLogger("langgraph_compression")

_NAME = re.compile(
    rf"(?P<stem>{HISTORY}\d{{6,}}-(?P<cutoff>\d{{6,}})-[0-9a-f]{{16}})"
    r"\.(?P<mark>[0-9a-f]{16})\.summary\.json"
)


@dataclass(frozen=True)
class KeptSummary:
    """A summary, and what ties it to its messages."""

    cutoff_index: int
    """State messages it stands for, counted from the first."""
    covered: str
    """Digest of the messages that it was made of, as `covered_since` gives it."""
    text: str
    """The summary alone, as the summarizer gave it."""
    file_path: str
    """The history file of its newest range."""
    made_of: int
    """State messages there were when it was made: the user's last message is quoted of these."""
    continues: str | None
    """`text_mark` of the summary that it continues; None for a first one."""


def is_kept_summary(path: str) -> bool:
    """Whether a path names a kept summary."""
    return _NAME.fullmatch(path) is not None


def text_mark(text: str) -> str:
    """How a summary is known by the one that continues it."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def write_summary(workdir: Workdir, kept: KeptSummary) -> str:
    """Write a summary beside its history file.

    Args:
        workdir: Where.
        kept: The summary; its text goes to the file as it is.

    Returns:
        Its path, named by range and content. It holds one JSON line: the text as a message, as
        in history files, and beside it what the summary stands for.

    Raises:
        WorkdirError: It could not be written.
    """
    summary = {"messages": kept.covered, "made_of": kept.made_of, "continues": kept.continues}
    line = {"type": "human", "data": {"content": kept.text}, "summary": summary}
    text = json.dumps(line) + "\n"
    path = f"{kept.file_path.removesuffix('.jsonl')}.{_mark(text)}.summary.json"
    workdir.write_text(path, text)
    return path


def find_summary(
    workdir: Workdir, messages: Sequence[AnyMessage], applied: Applied | None, continues: str | None
) -> KeptSummary | None:
    """The kept summary of these messages that reaches furthest.

    Args:
        workdir: Where to look.
        messages: All messages of the state. The summary leaves the newest one, and cuts no
            group in two.
        applied: The event that it must reach beyond.
        continues: `text_mark` of the summary it must continue; None: whatever it continues.

    Raises:
        Exception: The files could not be listed. One that cannot be read is left out.
    """
    named = [match for path in workdir.list(HISTORY) if (match := _NAME.fullmatch(path))]
    beyond = applied.cutoff if applied else 0
    reached = {int(match["cutoff"]) for match in named}
    reached = {cutoff for cutoff in reached if beyond < cutoff < len(messages)}
    if not reached:
        return None
    cutoffs = sorted(reached.intersection(pair(messages).cuts()))
    digests = dict(zip(cutoffs, covered_since(messages, applied, cutoffs), strict=True))
    for match in sorted(named, key=lambda match: int(match["cutoff"]), reverse=True):
        if (cutoff := int(match["cutoff"])) not in digests:
            continue
        try:
            kept = _read(workdir, match, digests[cutoff])
            if kept and continues in (None, kept.continues) and workdir.exists(kept.file_path):
                return kept
        except Exception as error:  # any store may fail in its own way; another may be whole
            logger.warning("kept summary %s not read: %s", match[0], type(error).__name__)
    return None


def _read(workdir: Workdir, match: re.Match[str], digest: str) -> KeptSummary | None:
    """A kept summary, if its file is whole and of these messages."""
    text = workdir.read_text(match[0])
    if _mark(text) != match["mark"]:
        return None
    try:
        line = json.loads(text)
        summary = line["summary"]
        if summary["messages"] != digest or not str(line["data"]["content"]).strip():
            return None  # of other messages; or all of it was redacted
        return KeptSummary(
            cutoff_index=int(match["cutoff"]),
            covered=digest,
            text=str(line["data"]["content"]),
            file_path=f"{match['stem']}.jsonl",
            made_of=int(summary["made_of"]),
            continues=summary["continues"],
        )
    except (ValueError, TypeError, KeyError):  # of another version
        return None


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
