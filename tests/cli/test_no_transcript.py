"""Files that are no transcript: exit code 2, a text that says why, and nothing written."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run

USER = {"role": "user", "content": "SECRET words of the user"}

NO_TRANSCRIPTS: dict[str, tuple[bytes, str]] = {
    "binary": (b"\x89PNG\r\n\x1a\n\x00\x00\xff", r"UTF-8|binary"),
    "NUL bytes": (b"[\x00\x00]", r"JSON|binary"),
    "CSV": (b"role,content\nuser,hello\n", "neither JSON nor JSON lines"),
    "text": (b"Once upon a time", "neither JSON nor JSON lines"),
    "truncated": (json.dumps([USER, USER]).encode()[:-9], "JSON.*line 1 column"),
    "truncated, indented": (json.dumps({"messages": [USER]}, indent=2).encode()[:-9], "JSON.*line"),
    "empty": (b"", "empty"),
    "blank": (b" \n\t\n", "empty"),
    "Latin-1": ('[{"role": "user", "content": "Grüße"}]'.encode("latin-1"), r"UTF-8.*byte"),
    "UTF-16": ('[{"role": "user", "content": "x"}]'.encode("utf-16"), "UTF-8"),
    "no messages": (b"[]", "no messages"),
    "no messages in an object": (b'{"messages": []}', "no messages"),
    "another object": (b'{"openapi": "3.1", "paths": {}}', "without `messages`.*openapi"),
    "empty object": (b"{}", "without `messages`"),
    "messages of another kind": (b'{"messages": {"a": 1}}', "messages"),
    "number": (b"7", "number|int"),
    "list of numbers": (b"[1, 2]", r"message [01].*int"),
    "message without role": (b'[{"content": "SECRET"}]', r"message [01].*role"),
    "call without name": (
        b'[{"role": "assistant", "content": null, "tool_calls": [{"id": "a", "function": {}}]}]',
        r"message [01]\b",
    ),
    "call that is no object": (
        b'[{"role": "assistant", "content": null, "tool_calls": ["SECRET"]}]',
        r"message [01]\b.*object",
    ),
    "function that is no object": (
        b'[{"role": "assistant", "content": null, "tool_calls": [{"id": "a", "function": "f"}]}]',
        r"message [01]\b",
    ),
    "content that is an object": (b'[{"role": "user", "content": {"a": 1}}]', "content"),
    "block that is a number": (b'[{"role": "user", "content": [5]}]', "content"),
    "LangChain type unknown": (b'[{"type": "robot", "data": {"content": "SECRET"}}]', "robot"),
    "removal": (b'[{"type": "remove", "data": {"content": "", "id": "a"}}]', r"message [01]\b"),
    "line that is no JSON": (
        json.dumps(USER).encode() + b"\n\n" + b'{"role": "assistant", "cont\n',
        "line 3",
    ),
    "markup in a key": (b'{"[/red]": 1, "\\ud800": 2}', r"without `messages`.*\[/red\]"),
    "deep": (b"[" * 100_000, "JSON|deep"),
}


@pytest.mark.parametrize("name", NO_TRANSCRIPTS)
def test_what_is_no_transcript_is_refused(name: str, run: Run, tmp_path: Path) -> None:
    data, why = NO_TRANSCRIPTS[name]
    (tmp_path / "file").write_bytes(data)
    ran = run("compress", "file", "--plot", "p.svg", "--json")
    assert ran.error is None
    assert ran.code == 2
    assert re.search(why, ran.stderr)
    assert ran.stderr.startswith("error: ")
    assert "file" in ran.stderr or "message" in ran.stderr
    assert "SECRET" not in ran.stderr
    refused = {"type": "context_compression_report", "status": "error", "exit_code": 2}
    assert refused.items() <= ran.report.items()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("name", "why"),
    [("missing.json", "missing.json"), (".", "folder"), ("a[/red]\udcff.json", r"[/red]")],
)
def test_what_cannot_be_read_is_named(name: str, why: str, run: Run, tmp_path: Path) -> None:
    ran = run("compress", name)
    assert ran.error is None
    assert ran.code == 2
    assert why in ran.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--threshold", "-1"], "greater than 0"),
        (["--threshold", "0"], "greater than 0"),
        (["--threshold", "nan"], "finite"),
        (["--threshold", "many"], "Invalid value for '--threshold'"),
        (["--keep", "0"], "--keep"),
        (["--tool-result-limit", "-5"], "--tool-result-limit"),
        (["--profile", "nonsense"], "nonsense"),
        (["--summary-model", "nonsense"], "provider:name"),
        (["--system-prompt", "nothing.txt"], "nothing.txt"),
        (["--system-prompt", "."], "directory"),
        (["--out", "session.json"], "session.json"),
        (["--plot", "."], "directory"),
        (["--nonsense"], "nonsense"),
    ],
)
def test_bad_options_are_refused(options: list[str], why: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "session.json").write_text(json.dumps([USER]))
    ran = run("compress", "session.json", *options)
    assert ran.error is None
    assert ran.code == 2
    assert why in " ".join(ran.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == ["session.json"]


def test_provider_without_key_is_an_error_without_traceback(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "session.json").write_text(json.dumps([USER]))
    ran = run("compress", "session.json", "--summary-model", "openai:gpt-5")
    assert ran.error is None
    assert ran.code == 2
    assert "openai:gpt-5" in ran.stderr
