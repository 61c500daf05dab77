"""Requests to a real model, recorded once and replayed.

The cassettes in this folder hold what a real model behind an OpenAI-compatible server
(llama.cpp, window of 4,096 tokens) answered. `python scripts/record_cassettes.py` starts
that model and records them anew; without it nothing leaves the machine.

A request is matched by its shape: model, roles in order, and the tools offered. The wording
of previews and frames may change without a new recording, the structure may not.
"""

import asyncio
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import vcr
from langchain_core.messages import AnyMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from vcr.request import Request

RECORD_FROM = os.environ.get("RECORD_FROM")
"""Base URL of the server to record from; unset: replay."""

STORED_URL = "http://model.test/v1"
KEPT_HEADERS = {"content-type"}

Asked = list[dict[str, Any]]
"""The bodies of requests, in order."""
Outcome = tuple[dict[str, Any], list[dict[str, Any]]]
"""A thread's state at the end, and the custom events in between."""
CONFIG: Any = {"configurable": {"thread_id": "recorded"}}


@pytest.fixture
def asked() -> Asked:
    """What this run sends to the model, replayed or not."""
    return []


@pytest.fixture
def real_model(asked: Asked, cassette: None) -> ChatOpenAI:
    """The recorded model; it writes short texts and stops where its own frame would end."""

    def note(request: httpx2.Request) -> None:
        asked.append(json.loads(request.content))

    async def note_async(request: httpx2.Request) -> None:
        note(request)

    return ChatOpenAI(
        base_url=RECORD_FROM or STORED_URL,
        api_key=SecretStr("none"),
        model="gemma-3-270m",
        temperature=0,
        max_retries=0,
        stop_sequences=["<|im", "</"],
        max_completion_tokens=200,
        http_client=httpx2.Client(event_hooks={"request": [note]}),
        http_async_client=httpx2.AsyncClient(event_hooks={"request": [note_async]}),
    )


@pytest.fixture
def cassette(request: pytest.FixtureRequest) -> Iterator[None]:
    """The cassette with the test's name: one for both ways to run it."""
    recorder = vcr.VCR(
        record_mode="all" if RECORD_FROM else "none",
        before_record_request=_without_host_and_secrets,
        before_record_response=_without_paths_and_times,
    )
    recorder.register_matcher("shape", _same_shape)
    path = Path(__file__).parent / f"{request.node.originalname.removeprefix('test_')}.yaml"
    if RECORD_FROM:
        path.unlink(missing_ok=True)
    with recorder.use_cassette(str(path), match_on=["method", "path", "shape"]) as tape:
        yield
    assert RECORD_FROM or tape.all_played, "the cassette holds answers that were not asked for"


@pytest.fixture(params=["sync"] if RECORD_FROM else ["sync", "async"])
def run(request: pytest.FixtureRequest) -> Callable[[Any, list[AnyMessage]], Outcome]:
    """Run a graph to the end, one way or the other; the cassette of one serves both."""
    return _run_sync if request.param == "sync" else _run_async


def _run_sync(graph: Any, messages: list[AnyMessage]) -> Outcome:
    events = list(graph.stream({"messages": messages}, CONFIG, stream_mode="custom"))
    return graph.get_state(CONFIG).values, events


def _run_async(graph: Any, messages: list[AnyMessage]) -> Outcome:
    async def collect() -> Outcome:
        stream = graph.astream({"messages": messages}, CONFIG, stream_mode="custom")
        events = [event async for event in stream]
        return (await graph.aget_state(CONFIG)).values, events

    return asyncio.run(collect())


def _without_host_and_secrets(request: Request) -> Request:
    if RECORD_FROM:
        request.uri = request.uri.replace(RECORD_FROM, STORED_URL)
    request.headers = {k: v for k, v in request.headers.items() if k.lower() in KEPT_HEADERS}
    return request


def _without_paths_and_times(response: dict[str, Any]) -> dict[str, Any]:
    response["headers"] = {
        k: v for k, v in response["headers"].items() if k.lower() in KEPT_HEADERS
    }
    body = json.loads(response["body"]["string"])
    body.pop("timings", None)
    if "model" in body:
        body["model"] = re.sub(r".*/|-q4.*", "", body["model"])
    response["body"]["string"] = json.dumps(body, ensure_ascii=False).encode()
    return response


def _same_shape(asked: Request, stored: Request) -> None:
    assert _shape(asked) == _shape(stored)


def _shape(request: Request) -> dict[str, Any]:
    body = json.loads(request.body)
    return {
        "model": body["model"],
        "roles": [message["role"] for message in body["messages"]],
        "tools": [tool["function"]["name"] for tool in body.get("tools", ())],
    }
