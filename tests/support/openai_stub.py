"""A chat service that speaks the OpenAI protocol on 127.0.0.1, for tests of the server.

The answer goes by the model's name in the request:

- `chat`: "Answer 1.", "Answer 2.", …
- `summary`: `SUMMARY`
- `files`: first a call of `write_file` with `NOTE`, then like `chat`
- `small`: like `chat`, but refuses requests over `SMALL_WINDOW` characters with the
  protocol's context overflow error.
"""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SUMMARY = "The user asked for the harbour report; berth 7 is done, berth 9 is open."
NOTE = {"path": "outputs/note.txt", "content": "Berth 9 is open."}
SMALL_WINDOW = 12_000


class OpenAIStub(ThreadingHTTPServer):
    """The service and the requests that it got, in order."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []

    @property
    def base_url(self) -> str:
        """Where OpenAI clients find it."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def requests_to(self, model: str) -> list[dict[str, Any]]:
        """The bodies of the requests to one model."""
        return [request for request in self.requests if request["model"] == model]


class _Handler(BaseHTTPRequestHandler):
    server: OpenAIStub

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(body)
        size = sum(len(str(message["content"])) for message in body["messages"])
        if body["model"] == "small" and size > SMALL_WINDOW:
            text = f"This model's maximum context length is 3000 tokens, you sent {size // 4}."
            error = {"message": text, "code": "context_length_exceeded", "type": "invalid"}
            self._send(400, "application/json", [json.dumps({"error": error})])
            return
        message = _message(body, len(self.server.requests_to(body["model"])))
        if body.get("stream"):
            self._send(200, "text/event-stream", _chunks(message))
        else:
            self._send(200, "application/json", [json.dumps(_completion(message))])

    def _send(self, status: int, kind: str, parts: Iterator[str] | list[str]) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.end_headers()
        for part in parts:
            self.wfile.write(part.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Keep the tests' output clean."""


USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _message(body: dict[str, Any], number: int) -> dict[str, Any]:
    if body["model"] == "files" and body["messages"][-1]["role"] == "user":
        function = {"name": "write_file", "arguments": json.dumps(NOTE)}
        call = {"index": 0, "id": f"call-{number}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    text = SUMMARY if body["model"] == "summary" else f"Answer {number}."
    return {"role": "assistant", "content": text}


def _finish_reason(message: dict[str, Any]) -> str:
    return "tool_calls" if "tool_calls" in message else "stop"


def _completion(message: dict[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": _finish_reason(message), "message": message}
    return _envelope("chat.completion", [choice]) | {"usage": USAGE}


def _chunks(message: dict[str, Any]) -> Iterator[str]:
    words = (message["content"] or "").split(" ")
    for delta in [message | {"content": ""}, *({"content": f"{word} "} for word in words)]:
        yield _chunk({"delta": delta, "finish_reason": None})
    yield _chunk({"delta": {}, "finish_reason": _finish_reason(message)})
    yield _event(_envelope("chat.completion.chunk", []) | {"usage": USAGE})
    yield "data: [DONE]\n\n"


def _chunk(choice: dict[str, Any]) -> str:
    return _event(_envelope("chat.completion.chunk", [{"index": 0} | choice]))


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"


def _envelope(kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "1", "object": kind, "created": 1, "model": "stub", "choices": choices}
