"""The scenarios of `data/`: what is given, what is done, what must hold."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage, messages_from_dict

from tests.cases.macros import expand

DATA = Path(__file__).parent / "data"
STEP_KEYS = {"append", "append_during_summary", "summary_reply", "fault", "expect"}


@dataclass(frozen=True)
class Expectation:
    """One check with its parameters."""

    check: str
    wish: bool
    """Another policy is defensible: reported, no failure."""
    why: str
    given: Mapping[str, Any]

    def __str__(self) -> str:
        shown = ", ".join(f"{key}={value!r:.60}" for key, value in self.given.items())
        return f"{self.check}({shown}): {self.why}"


@dataclass(frozen=True)
class Step:
    """One call of the model through the package."""

    summary_reply: str
    fault: Mapping[str, Any]
    expect: list[Expectation]
    append: list[BaseMessage] = field(default_factory=list)
    """Added to the state before the call."""
    append_after: list[BaseMessage] = field(default_factory=list)
    """Added by another writer, after the summary was asked for."""


@dataclass(frozen=True)
class Scenario:
    """A conversation, a configuration, and the steps."""

    id: str
    title: str
    settings: Mapping[str, Any]
    system: str | None
    tools: list[dict[str, Any]]
    messages: list[BaseMessage]
    event: dict[str, Any] | None
    steps: list[Step]


def scenarios() -> list[Scenario]:
    """Every scenario of every file of `data/`.

    Raises:
        ValueError: A step asks for something that this harness does not know.
    """
    files = sorted(DATA.glob("*.json"))
    return [_read(raw) for path in files for raw in json.loads(path.read_text("utf-8"))]


def _read(raw: Mapping[str, Any]) -> Scenario:
    event = expand(raw["state"].get("event"))
    if event:
        (event["summary_message"],) = messages_from_dict([event["summary_message"]])
    return Scenario(
        id=raw["id"],
        title=raw["title"],
        settings=raw["settings"],
        system=expand(raw.get("system")),
        tools=expand(raw.get("tools") or []),
        messages=messages_from_dict(expand(raw["state"]["messages"])),
        event=event,
        steps=[_step(raw, number) for number in range(max(1, len(raw.get("steps") or ())))],
    )


def _step(raw: Mapping[str, Any], number: int) -> Step:
    own = (raw.get("steps") or [{}])[number]
    if unknown := own.keys() - STEP_KEYS:
        raise ValueError(f"{raw['id']}: unknown keys in step {number}: {sorted(unknown)}")
    lasting = raw.get("fault") or {}
    fault = own.get("fault") or (lasting if number == 0 or "from_write" in lasting else {})
    expected = raw["expect"] if number == 0 else own.get("expect", [])
    return Step(
        summary_reply=own.get("summary_reply") or raw["summary_reply"],
        fault=expand(fault),
        expect=[_expectation(expand(one)) for one in expected],
        append=messages_from_dict(expand(own.get("append", []))),
        append_after=messages_from_dict(expand(own.get("append_during_summary", []))),
    )


def _expectation(raw: Mapping[str, Any]) -> Expectation:
    given = {key: raw[key] for key in raw.keys() - {"check", "level", "why"}}
    return Expectation(raw["check"], raw.get("level", "must") == "wish", raw["why"], given)
