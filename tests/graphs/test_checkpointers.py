"""Several compressions in one thread, on each checkpointer, also across processes."""

import asyncio
import json
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import messages_from_dict
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from langgraph_compression import Workdir, create_compression_graph
from tests.support.turns import SETTINGS, opened, report_of, text_of_turn

ROOT = Path(__file__).parent.parent.parent
TURNS = 12

Report = dict[str, Any]
"""A state after a turn, see `report_of`."""

on_disk = pytest.mark.parametrize(
    "kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
)


@pytest.fixture
def address(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the checkpointer of a kind keeps its threads."""
    if kind == "postgres":
        return str(request.getfixturevalue("postgres_uri"))
    return str(tmp_path / "threads.sqlite")


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseCheckpointSaver[Any]]:
    """Each checkpointer."""
    if request.param == "memory":
        yield InMemorySaver()
        return
    postgres = request.param == "postgres"
    where = request.getfixturevalue("postgres_uri") if postgres else tmp_path / "threads.sqlite"
    with opened(str(where)) as saver:
        yield saver


def check_course(reports: list[Report], folder: Path) -> None:
    """What holds for any thread of the offline model that was compressed several times."""
    assert len(reports) == TURNS
    cutoffs = [report["cutoff"] for report in reports]
    assert cutoffs == sorted(cutoffs)
    assert len(set(cutoffs)) >= 4, "fewer than three compressions"

    for number, report in enumerate(reports):
        texts = report["texts"]
        assert len(texts) == 2 * (number + 1)
        assert texts[:-2] == (reports[number - 1]["texts"] if number else [])
        assert texts[-2] == text_of_turn(number)
        # The model says how many messages it got: the summary, and those after the cutoff.
        received = re.search(r"I received (\d+) messages", texts[-1])
        assert received
        cutoff = report["cutoff"]
        assert int(received[1]) == len(texts) - 1 - cutoff + (1 if cutoff else 0)

    # The history files of all compressions together hold each summarized message once.
    paths = list(dict.fromkeys(report["file_path"] for report in reports if report["cutoff"]))
    assert len(paths) == len(set(cutoffs) - {0})
    saved = [line for path in paths for line in (folder / path).read_text("utf-8").splitlines()]
    history = messages_from_dict([json.loads(line) for line in saved])
    last = reports[-1]
    assert [message.content for message in history] == last["texts"][: last["cutoff"]]


def test_cutoffs_add_up(saver: BaseCheckpointSaver[Any], tmp_path: Path) -> None:
    graph = create_compression_graph(
        "offline", settings=SETTINGS, workdir=Workdir(str(tmp_path)), checkpointer=saver
    )
    config: Any = {"configurable": {"thread_id": uuid.uuid4().hex}}
    reports = []
    for number in range(TURNS):
        graph.invoke({"messages": [("user", text_of_turn(number))]}, config)
        reports.append(report_of(graph.get_state(config).values))
    check_course(reports, tmp_path)


@on_disk
def test_cutoffs_add_up_async(kind: str, address: str, tmp_path: Path) -> None:
    async def converse() -> list[Report]:
        savers: dict[str, Any] = {"postgres": AsyncPostgresSaver, "sqlite": AsyncSqliteSaver}
        async with savers[kind].from_conn_string(address) as saver:
            await saver.setup()
            graph = create_compression_graph(
                "offline", settings=SETTINGS, workdir=Workdir(str(tmp_path)), checkpointer=saver
            )
            config: Any = {"configurable": {"thread_id": uuid.uuid4().hex}}
            reports = []
            for number in range(TURNS):
                await graph.ainvoke({"messages": [("user", text_of_turn(number))]}, config)
                reports.append(report_of((await graph.aget_state(config)).values))
            return reports

    check_course(asyncio.run(converse()), tmp_path)


@on_disk
def test_process_restarts_between_turns(address: str, tmp_path: Path) -> None:
    thread = uuid.uuid4().hex
    reports: list[Report] = []
    for turns in (1, TURNS // 2, TURNS // 2 - 1):
        command = [sys.executable, "-m", "tests.support.turns"]
        command += [address, str(tmp_path), thread, str(turns)]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        reports += [json.loads(line) for line in done.stdout.splitlines()]
    check_course(reports, tmp_path)
