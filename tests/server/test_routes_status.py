"""GET /compression/threads/{id}/status."""

import pytest

from tests.support.langgraph_server import LangGraphServer
from tests.support.served.client import LONG, User

pytestmark = pytest.mark.server


def test_parts_and_sum(ada: User) -> None:
    status = ada.thread().status
    assert status["threshold"] == 4096
    assert status["messages"] > 2000
    assert status["system"] > 0
    assert status["tokens"] == status["messages"] + status["system"] + status["tools"]
    assert status["ratio"] == pytest.approx(status["tokens"] / 4096)
    assert (status["unknown"], status["suggest_compression"]) == ([], False)
    assert (status["capable"], status["thread_status"]) == (True, "idle")


def test_hint_from_85_percent(ada: User) -> None:
    thread = ada.thread(turns=4)
    status = thread.status
    assert 0.85 <= status["ratio"] < 1
    assert status["suggest_compression"] is True
    assert thread.values.get("_summarization_event") is None  # a hint triggers nothing


def test_last_answer_is_counted(ada: User) -> None:
    thread = ada.thread("Hello", turns=0)
    reading = thread.values["context_pressure"]["messages"]
    assert thread.status["messages"] > reading  # the reading was taken before the answer


def test_unknown_after_compress_until_the_next_request(ada: User) -> None:
    thread = ada.thread()
    thread.compress()
    status = thread.status
    assert status["unknown"] == ["system", "tools"]
    assert (status["system"], status["tools"]) == (None, None)
    assert status["tokens"] == status["messages"]
    thread.run("And berth 9?")
    assert thread.status["unknown"] == []


def test_thread_without_a_run(ada: User) -> None:
    status = ada.thread(None).status
    assert (status["tokens"], status["ratio"], status["capable"]) == (0, 0.0, False)
    assert status["unknown"] == ["system", "tools"]


def test_graph_without_the_capability(ada: User) -> None:
    status = ada.thread("Hello", turns=0, graph="plain").status
    assert status["capable"] is False
    assert status["messages"] > 0


def test_thread_that_waits_for_a_person(ada: User) -> None:
    thread = ada.thread("[ask] Close berth 9?", turns=0)
    assert thread.status["thread_status"] == "interrupted"


def test_threshold_of_the_last_request(ada: User) -> None:
    thread = ada.thread(None)
    thread.run(LONG, context={"summary_threshold": 2})
    assert thread.status["threshold"] == 2048


def test_state_that_holds_odd_text(ada: User) -> None:
    thread = ada.thread("\x00 {messages} \U0001f600 </b>" + "x" * 20_000, turns=0)
    assert thread.status["tokens"] > 1000


def test_routes_are_described(steered_server: LangGraphServer, ada: User) -> None:
    described = ada.http.get("/openapi.json").json()
    start = "/compression/threads/{thread_id}"
    compress = described["paths"][f"{start}/compress"]["post"]
    assert {"200", "404", "409", "422", "502"} <= set(compress["responses"])
    for path in ("status", "events", "history", "history/{path}"):
        assert described["paths"][f"{start}/{path}"]["get"]["summary"]
    schemas = described["components"]["schemas"]
    assert set(schemas["Status"]["properties"]) == set(ada.thread(None).status)
    assert "/threads/{thread_id}/state" in described["paths"]  # the server's own are still there
