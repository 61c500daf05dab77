"""A chat service that speaks the OpenAI protocol on 127.0.0.1, for tests of the server.

The answer goes by the model's name in the request:

- `chat`: "Answer 1.", "Answer 2.", …
- `summary`: `SUMMARY`
- `small`: like `chat`, but refuses requests over `SMALL_WINDOW` characters with the
  protocol's context overflow error.
"""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SUMMARY = "The user asked for the harbour report; berth 7 is done, berth 9 is open."
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
            message = f"This model's maximum context length is 3000 tokens, you sent {size // 4}."
            error = {"message": message, "code": "context_length_exceeded", "type": "invalid"}
            self._send(400, "application/json", [json.dumps({"error": error})])
            return
        count = len(self.server.requests_to(body["model"]))
        text = SUMMARY if body["model"] == "summary" else f"Answer {count}."
        if body.get("stream"):
            self._send(200, "text/event-stream", _chunks(text))
        else:
            self._send(200, "application/json", [json.dumps(_completion(text))])

    def _send(self, status: int, kind: str, parts: Iterator[str] | list[str]) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.end_headers()
        for part in parts:
            self.wfile.write(part.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Keep the tests' output clean."""


USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return _envelope("chat.completion", [choice]) | {"usage": USAGE}


def _chunks(text: str) -> Iterator[str]:
    for word in text.split(" "):
        yield _chunk({"delta": {"content": f"{word} "}, "finish_reason": None})
    yield _chunk({"delta": {}, "finish_reason": "stop"})
    yield _event(_envelope("chat.completion.chunk", []) | {"usage": USAGE})
    yield "data: [DONE]\n\n"


def _chunk(choice: dict[str, Any]) -> str:
    return _event(_envelope("chat.completion.chunk", [{"index": 0} | choice]))


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"


def _envelope(kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "1", "object": kind, "created": 1, "model": "stub", "choices": choices}
