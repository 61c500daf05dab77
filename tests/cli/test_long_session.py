"""The long session of examples/ and real transcripts through the command."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Ran, Run

ROOT = Path(__file__).parents[2]
SESSION = ROOT / "examples" / "long-session.jsonl"
REAL = sorted((ROOT.parent / "shared" / "transcripts").glob("*.json"))
MESSAGES = [json.loads(line) for line in SESSION.read_text("utf-8").splitlines()]
USERS = sum(message["role"] == "user" for message in MESSAGES)

Message = dict[str, Any]


def check_request(request: list[Message]) -> None:
    """Each call is answered once, right behind it, and no result stands without its call."""
    open_calls: list[str] = []
    for message in request:
        if message["role"] == "tool":
            open_calls.remove(message["tool_call_id"])
            continue
        assert open_calls == []
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
    assert open_calls == []


def saved_paths(text: str) -> set[str]:
    return set(re.findall(r"outputs/(?:large_tool_results|conversation_history)/[\w.-]+", text))


def compress(run: Run, file: Path, *options: object) -> tuple[Ran, list[Message], Path]:
    ran = run("compress", file, "--out", "here", "--json", *options)
    assert (ran.error, ran.code, ran.stderr) == (None, 0, "")
    view = json.loads(Path("here/view.json").read_text("utf-8"))
    return ran, view, Path("here")


def test_session_turn_by_turn(run: Run) -> None:
    ran, view, folder = compress(run, SESSION, "--replay", "--threshold", "8")
    report = ran.report
    assert report["transcript"]["messages"] == len(MESSAGES)
    assert report["transcript"]["turns"] == USERS
    assert report["requests"]["malformed"] == []
    assert report["failures"] == []
    assert report["tokens"]["threshold"] == 8192
    course = report["course"]
    assert len(course) == report["requests"]["total"] > USERS
    assert [one["turn"] for one in course] == sorted(one["turn"] for one in course)
    for one in course:
        assert one["after"] < 8192
        assert one["before"] >= 8192 or not one["compacted"]
    assert sum(one["compacted"] for one in course) == report["requests"]["compacted"] > 10
    assert sum(one["summarized"] for one in course) == report["requests"]["summarized"] > 3
    check_request(view)
    text = json.dumps(view, ensure_ascii=False)
    assert all((folder / path).is_file() for path in saved_paths(text))
    files = {p.relative_to(folder).as_posix() for p in (folder / "outputs").rglob("*.*")}
    assert files == set(report["files"])
    histories = [one["path"] for one in report["summaries"]]
    results = {one["path"] for one in report["compacted"]}
    assert {*histories, *results} <= files


def test_history_files_of_a_session_hold_every_summarized_message_once(run: Run) -> None:
    ran, _, folder = compress(run, SESSION, "--replay", "--threshold", "8")
    lines = [
        line
        for one in ran.report["summaries"]
        for line in (folder / one["path"]).read_text("utf-8").splitlines()
    ]
    archived = [line for line in lines if '"content"' in line]
    covered = ran.report["summary"]["messages"]
    users = [m["content"] for m in MESSAGES[:covered] if m["role"] == "user"]
    found: Iterator[str] = iter(archived)
    for user in users:
        assert any(json.dumps(user, ensure_ascii=False)[1:-1] in line for line in found)


def test_saved_results_of_a_session_are_whole(run: Run) -> None:
    ran, _, folder = compress(run, SESSION, "--replay", "--threshold", "8")
    saved = ran.report["compacted"]
    assert len(saved) > 15
    for one in saved:
        text = (folder / one["path"]).read_text("utf-8")
        assert text == MESSAGES[one["message"] - 1]["content"]


def test_session_at_once_is_one_request(run: Run) -> None:
    ran, view, _ = compress(run, SESSION, "--threshold", "8")
    report = ran.report
    assert report["requests"]["total"] == 1
    assert report["transcript"]["messages"] == len(MESSAGES)
    assert report["tokens"]["before"]["total"] > 7 * 8192
    assert report["tokens"]["after"]["total"] < 8192
    check_request(view)
    assert len(view) < len(MESSAGES)


def test_readme_shows_the_numbers_of_the_session(run: Run) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    at_once = compress(run, SESSION, "--threshold", "57")[0].report
    replayed = compress(run, SESSION, "--replay", "--threshold", "8")[0].report
    before, shown = at_once["tokens"]["before"]["total"], at_once["compacted"]
    first = min(shown, key=lambda one: one["message"])
    assert at_once["requests"]["summarized"] == 0
    assert f"{len(MESSAGES)} messages, {before:,} tokens" in readme
    assert f"{at_once['tokens']['after']['total']:,} tokens, nothing lost" in readme
    assert f"tool {first['tool']}: about {first['tokens']:,}\n" in readme
    assert Path(first["path"]).name in readme
    requests, last = replayed["requests"]["total"], replayed["tokens"]["after"]["total"]
    assert f"{requests} requests, all below it, the last with {last:,} instead of" in readme
    assert replayed["tokens"]["within_threshold"]


def test_same_session_gives_the_same_report(run: Run) -> None:
    first, view, _ = compress(run, SESSION, "--threshold", "8")
    second, again, _ = compress(run, SESSION, "--threshold", "8")
    assert second.report == first.report
    assert again == view


def test_below_the_threshold_nothing_is_written_but_view_and_report(run: Run) -> None:
    ran, view, folder = compress(run, SESSION, "--threshold", "1000")
    assert ran.report["tokens"]["before"] == ran.report["tokens"]["after"]
    assert len(view) == len(MESSAGES)
    assert not (folder / "outputs").exists()


def test_printed_report_fits_a_terminal_and_agrees_with_the_report_of_machines(run: Run) -> None:
    ran = run("compress", SESSION, "--out", "here", "--replay", "--threshold", "8")
    assert (ran.error, ran.code) == (None, 0)
    report = json.loads(Path("here/report.json").read_text("utf-8"))
    lines = ran.stdout.replace(str(SESSION), "FILE").splitlines()
    assert max(map(len, lines)) <= 80
    assert f"{len(MESSAGES)} messages, {USERS} turns" in lines[0]
    assert f"Summarized {report['requests']['summarized']} times" in ran.stdout
    assert f"well-formed ({report['requests']['total']} checked)" in ran.stdout
    assert f"{report['tokens']['after']['total']:,}" in ran.stdout


def test_plot_is_a_picture_with_both_lines(run: Run) -> None:
    ran, _, _ = compress(run, SESSION, "--replay", "--threshold", "8", "--plot", "new/p.svg")
    root = ElementTree.parse("new/p.svg").getroot()
    lines = {
        line.get("class"): [
            tuple(map(float, point.split(","))) for point in str(line.get("points")).split()
        ]
        for line in root.iter("{http://www.w3.org/2000/svg}polyline")
    }
    assert lines.keys() == {"before", "after"}
    assert len(lines["before"]) == len(lines["after"]) > 1
    for (x, before), (same, after) in zip(lines["before"], lines["after"], strict=True):
        assert x == same
        assert after >= before  # y grows downwards: what is sent is never more
    assert ran.report["plot"] == "new/p.svg"


def test_plot_of_one_request(run: Run) -> None:
    compress(run, SESSION, "--threshold", "8", "--plot", "p.svg")
    assert ElementTree.parse("p.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize("threshold", [8, 100])
@pytest.mark.parametrize("file", REAL or [SESSION], ids=lambda file: file.stem)
def test_transcripts_replay_well_formed(file: Path, threshold: int, run: Run) -> None:
    """Those beside the project if there are any, else the project's own."""
    ran, view, _ = compress(run, file, "--replay", "--threshold", threshold)
    assert ran.report["requests"]["malformed"] == []
    assert ran.report["failures"] == []
    check_request(view)
