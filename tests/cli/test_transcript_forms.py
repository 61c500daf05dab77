"""Every form of a transcript goes through whole: each message is in the request."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, messages_to_dict

from tests.cli.conftest import Run

Message = dict[str, Any]


def call(arguments: str = '{"path": "a.py"}', call_id: str = "c1") -> Message:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": "read_file", "arguments": arguments},
    }


def result(content: Any, call_id: str = "c1") -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


SYSTEM: Message = {"role": "system", "content": "text-0 system"}
USER: Message = {"role": "user", "content": "text-1 Grüße, 你好"}
CALLS: Message = {"role": "assistant", "content": None, "tool_calls": [call()]}
RESULT = result("text-2 result")
ANSWER: Message = {"role": "assistant", "content": "text-3 answer"}
PLAIN: list[Message] = [
    SYSTEM,
    USER,
    CALLS,
    RESULT,
    ANSWER,
    {"role": "user", "content": "text-4 thanks"},
]


def langchain_dicts() -> list[Message]:
    called = {"name": "read_file", "args": {"path": "a.py"}, "id": "c1", "type": "tool_call"}
    return messages_to_dict(
        [
            HumanMessage("text-1"),
            AIMessage("", tool_calls=[called]),
            ToolMessage("text-2", tool_call_id="c1"),
            AIMessage("text-3"),
        ]
    )


FORMS: dict[str, str] = {
    "list": json.dumps(PLAIN),
    "list, not ASCII": json.dumps(PLAIN, ensure_ascii=False),
    "byte order mark": "\ufeff" + json.dumps(PLAIN),
    "object": json.dumps({"model": "gpt-5", "messages": PLAIN}),
    "lines": "".join(json.dumps(message) + "\n" for message in PLAIN),
    "lines with blank lines and CR LF": "\r\n\r\n".join(map(json.dumps, PLAIN)),
    "one line": json.dumps(USER),
    "LangChain list": json.dumps(langchain_dicts()),
    "LangChain object": json.dumps({"messages": langchain_dicts()}),
    "LangChain lines": "\n".join(map(json.dumps, langchain_dicts())),
    "content missing beside calls": json.dumps(
        [USER, {"role": "assistant", "tool_calls": [call()]}, RESULT]
    ),
    "developer": json.dumps([{**SYSTEM, "role": "developer"}, USER]),
    "blocks": json.dumps(
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "text-1 what is this?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0="}},
                ],
            },
            CALLS,
            result([{"type": "text", "text": "text-2 in blocks"}]),
            {"role": "assistant", "content": [{"type": "text", "text": "text-3"}]},
        ]
    ),
    "call ids that repeat": json.dumps(
        [
            {"role": "user", "content": "text-1"},
            CALLS,
            result("text-2"),
            {"role": "assistant", "content": "text-3"},
            {"role": "user", "content": "text-4"},
            CALLS,
            result("text-5"),
        ]
    ),
    "arguments that are no JSON": json.dumps(
        [USER, {"role": "assistant", "content": "", "tool_calls": [call('{"path": ')]}, RESULT]
    ),
    "arguments that are no object": json.dumps(
        [USER, {"role": "assistant", "content": "", "tool_calls": [call("[1]")]}, RESULT]
    ),
    "arguments that are empty": json.dumps(
        [USER, {"role": "assistant", "content": "", "tool_calls": [call("")]}, RESULT]
    ),
    "deep arguments": json.dumps(
        [USER, {"role": "assistant", "content": "", "tool_calls": [call("[" * 50_000)]}, RESULT]
    ),
    "message ids that repeat": json.dumps([{**message, "id": "same"} for message in PLAIN]),
    "lone surrogate and NUL": '[{"role": "user", "content": "text-1 \\ud83d \\u0000"}]',
    "a separator inside of a line": json.dumps({"role": "user", "content": "text-1 \u2028 x"})
    + "\n"
    + json.dumps(ANSWER),
}


def marks(text: str) -> list[str]:
    """The marks text-0, text-1, … in a text, in order."""
    return re.findall(r"text-\d", text)


@pytest.mark.parametrize("name", FORMS)
def test_every_message_is_in_the_request(name: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(FORMS[name], "utf-8")
    ran = run("compress", "file", "--out", "out", "--json")
    assert ran.error is None
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.report["requests"]["malformed"] == []
    view = (tmp_path / "out/view.json").read_text("utf-8")
    assert len(json.loads(view)) == ran.report["transcript"]["messages"]
    assert marks(view) == marks(FORMS[name])


def test_replay_sends_every_message_too(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(json.dumps(PLAIN), "utf-8")
    ran = run("compress", "file", "--out", "out", "--json", "--replay")
    assert ran.code == 0
    assert (ran.report["requests"]["total"], ran.report["transcript"]["turns"]) == (3, 2)
    view = json.loads((tmp_path / "out/view.json").read_text("utf-8"))
    assert [message["role"] for message in view] == [message["role"] for message in PLAIN]


@pytest.mark.parametrize("options", [[], ["--replay"]])
def test_system_prompt_of_a_file_comes_first(options: list[str], run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(json.dumps([USER, ANSWER]), "utf-8")
    (tmp_path / "prompt.txt").write_text("Be brief. 简短。", "utf-8")
    ran = run(
        "compress", "file", "--out", "out", "--json", "--system-prompt", "prompt.txt", *options
    )
    assert ran.code == 0
    assert ran.report["tokens"]["after"]["system"] > 0
    view = json.loads((tmp_path / "out/view.json").read_text("utf-8"))
    assert view[0] == {"role": "system", "content": "Be brief. 简短。"}
