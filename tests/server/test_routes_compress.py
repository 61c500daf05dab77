"""POST /compression/threads/{id}/compress: what it does, and when it refuses.

The oracles are the answers of the protocol, the state and the files.
"""

import concurrent.futures
import json
import uuid
from typing import Any

import pytest

from langgraph_compression.workdir.scope import HOME_VARIABLE, default_workdir
from langgraph_compression.workdir.workdir import Workdir
from tests.support.served.client import LONG, Thread, User, wait_until
from tests.support.served.graphs import SUMMARY

pytestmark = pytest.mark.server

COMPRESS: dict[str, Any] = {"context": {"mode": "compress"}, "multitask_strategy": "reject"}


def workdir_of(thread: Thread, monkeypatch: pytest.MonkeyPatch) -> Workdir:
    """Where the server keeps the files of a thread."""
    monkeypatch.setenv(HOME_VARIABLE, str(thread.user.server.home))
    return default_workdir({"configurable": {"thread_id": thread.id}})


def test_completed(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    thread = ada.thread()
    before = thread.texts

    done = thread.compress()

    assert (done["status"], done["reason"]) == ("completed", None)
    assert done["before_tokens"] > 2000 > done["after_tokens"] > 0
    assert done["compressed_messages"] == 4
    assert thread.texts == before  # no message is added or changed
    event = thread.values["_summarization_event"]
    assert (event["cutoff_index"], event["file_path"]) == (4, done["file_path"])
    assert SUMMARY in event["summary_message"]["content"]
    history = workdir_of(thread, monkeypatch).read_text(done["file_path"])
    lines = [json.loads(line) for line in history.splitlines()]
    assert [line["data"]["content"] for line in lines] == before[:4]
    assert thread.status["tokens"] == done["after_tokens"]
    marked = ada.api.runs.list(thread.id)[0]
    assert (marked["metadata"] or {})["kind"] == "context_compression"


def test_no_op(ada: User) -> None:
    thread = ada.thread("Hello", turns=0)
    before = thread.values
    done = thread.compress()
    assert (done["status"], done["reason"]) == ("no_op", "insufficient_history")
    assert done["compressed_messages"] == 0
    assert done["file_path"] is None
    assert done["before_tokens"] == done["after_tokens"] > 0
    assert thread.values == before


@pytest.mark.parametrize("graph", ["steered", "hosted"])
def test_context_of_the_assistant_is_in_force(ada: User, graph: str) -> None:
    own: Any = {"summary_keep_messages": 4}
    own = own if graph == "steered" else {"customer": "Harbour", "compression": own}
    assistant = ada.api.assistants.create(graph, context=own)
    thread = ada.thread(graph=assistant["assistant_id"])
    assert thread.compress()["compressed_messages"] == 2  # of six; else four


def test_unknown_thread(ada: User) -> None:
    answer = Thread(ada, str(uuid.uuid4())).compress(404)
    assert answer["error"] == "not_found"


def test_graph_without_the_capability(ada: User) -> None:
    assert ada.thread("Hello", turns=0, graph="plain").compress(422)["error"] == "no_capability"


def test_thread_without_a_graph(ada: User) -> None:
    assert ada.thread(None).compress(422)["error"] == "no_capability"


def test_busy_running(ada: User) -> None:
    thread = ada.thread()
    before = thread.values
    run = thread.start("[wait running] And berth 9?")
    thread.until("running", run)

    refused = thread.compress(409)

    assert (refused["error"], refused["reason"]) == ("thread_busy", "running")
    thread.release("running")
    thread.until("success", run)
    assert thread.texts[:-2] == [message["content"] for message in before["messages"]]
    assert thread.values.get("_summarization_event") is None
    assert thread.compress()["status"] == "completed"


def test_busy_queued(ada: User) -> None:
    thread = ada.thread()
    first = thread.start("[wait queued] first")
    thread.until("running", first)
    second = thread.start("second", multitask_strategy="enqueue")

    refused = thread.compress(409)

    assert (refused["error"], refused["reason"]) == ("thread_busy", "queued")
    thread.release("queued")
    thread.until("success", second)
    assert [text[:17] for text in thread.texts[-4::2]] == ["[wait queued] fir", "second"]


def test_busy_waiting_for_a_person(ada: User) -> None:
    thread = ada.thread()
    thread.run("[ask] Close berth 9?")
    before = thread.values

    refused = thread.compress(409)

    assert (refused["error"], refused["reason"]) == ("thread_busy", "waiting")
    assert thread.values == before
    thread.run([], command={"resume": "yes"})
    assert thread.texts[-1] == "You said yes."


def test_interrupt_survives_a_compression_that_was_not_refused_in_time(ada: User) -> None:
    """The run that the route asks for, on a thread that began to wait after it looked."""
    thread = ada.thread()
    thread.run("[ask] Close berth 9?")
    before = thread.texts

    with pytest.raises(Exception, match="ThreadBusy"):
        thread.run([], **COMPRESS)

    assert thread.texts == before
    refused = thread.compress(409)  # the thread's status is "error" now: the guard looks again
    assert refused["reason"] == "waiting"
    assert ada.api.threads.get_state(thread.id)["interrupts"][0]["value"] == "Really?"
    ada.api.runs.wait(thread.id, thread.graph, command={"resume": "yes"})
    assert thread.texts == [*before, "You said yes."]
    assert thread.compress()["status"] == "completed"


def test_interrupt_survives_a_race(ada: User) -> None:
    """Compress now is asked for all the time while a run goes on and then waits."""
    thread = ada.thread()
    run = thread.start("[wait race] [ask] Close berth 9?")
    thread.until("running", run)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        first = [pool.submit(thread.compress, 409) for _ in range(4)]
        concurrent.futures.wait(first)
        thread.release("race")
        later = [pool.submit(thread.compress, 409) for _ in range(24)]
        reasons = [asked.result()["reason"] for asked in [*first, *later]]
    assert reasons[0] == "running"
    thread.until("success", run)
    assert thread.compress(409)["reason"] == "waiting"
    ada.api.runs.wait(thread.id, thread.graph, command={"resume": "yes"})
    assert thread.texts[-1] == "You said yes."


def test_one_of_many_compresses(ada: User) -> None:
    thread = ada.thread("[summary waits many] " + LONG)
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(ada.http.post, f"{thread.url}/compress") for _ in range(6)]
        wait_until(lambda: sum(done.done() for done in asked) == 5, "five refusals")
        thread.release("many")
        codes = sorted(done.result().status_code for done in asked)
    assert codes == [200, 409, 409, 409, 409, 409]
    kinds = [(run["metadata"] or {}).get("kind") for run in ada.api.runs.list(thread.id)]
    assert kinds.count("context_compression") == 1


def test_thread_at_a_breakpoint_waits(ada: User) -> None:
    thread = ada.thread("Hello", turns=0)
    thread.run("And berth 9?", interrupt_before=["model"])
    assert thread.compress(409)["reason"] == "waiting"
    ada.api.runs.wait(thread.id, thread.graph, input=None)
    assert thread.texts[-1] == "Answer to: And berth 9?"


def test_breakpoint_survives_a_compression_that_was_not_refused_in_time(ada: User) -> None:
    thread = ada.thread("Hello", turns=0)
    thread.run("And berth 9?", interrupt_before=["model"])
    with pytest.raises(Exception, match="ThreadBusy"):
        thread.run([], **COMPRESS)
    assert thread.compress(409)["reason"] == "waiting"
    ada.api.runs.wait(thread.id, thread.graph, input=None)
    assert thread.texts[-1] == "Answer to: And berth 9?"


def failed(ada: User) -> Thread:
    thread = ada.thread()
    with pytest.raises(Exception, match="ConnectionError"):
        thread.run(f"[fails once] And berth 9? {thread.id}")
    return thread


def test_thread_whose_run_failed_can_still_be_resumed(ada: User) -> None:
    thread = failed(ada)
    refused = thread.compress(409)
    assert (refused["error"], refused["reason"]) == ("thread_busy", "waiting")
    assert (refused["resumable_at"], refused["forceable"]) == (["model"], True)
    assert "can no longer be resumed" in refused["message"]
    ada.api.runs.wait(thread.id, thread.graph, input=None)
    assert thread.texts[-1].startswith("Answer to: [fails once]")
    assert thread.compress()["status"] == "completed"


def test_run_that_failed_is_given_up_by_force(ada: User) -> None:
    thread = failed(ada)
    before = thread.texts
    assert thread.compress(force=True)["status"] == "completed"
    assert thread.texts == before
    assert before[-1].startswith("[fails once]")
    assert ada.api.threads.get_state(thread.id)["next"] == []
    thread.run("Still there?")
    assert thread.texts == [*before, "Still there?", "Answer to: Still there?"]
    assert thread.compress()["status"] in ("completed", "no_op")


def test_run_that_asks_for_a_compression_by_force(ada: User) -> None:
    """The guard of the graph knows what the route knows."""
    thread = ada.thread()
    thread.run("[ask] Close berth 9?")
    forced = {**COMPRESS, "metadata": {"kind": "context_compression", "forced": True}}
    with pytest.raises(Exception, match="ThreadBusy"):
        thread.run([], **forced)
    ada.api.runs.wait(thread.id, thread.graph, command={"resume": "yes"})
    assert thread.texts[-1] == "You said yes."


@pytest.mark.parametrize("stop", ["interrupt", "breakpoint"])
def test_what_waits_for_a_person_is_never_forced_away(ada: User, stop: str) -> None:
    thread = ada.thread("Hello", turns=0)
    if stop == "interrupt":
        thread.run("[ask] Close berth 9?")
    else:
        thread.run("And berth 9?", interrupt_before=["model"])
    refused = thread.compress(409, force=True)
    assert (refused["reason"], refused["forceable"]) == ("waiting", False)
    assert refused["resumable_at"] == ["ask" if stop == "interrupt" else "model"]
    if stop == "interrupt":
        ada.api.runs.wait(thread.id, thread.graph, command={"resume": "yes"})
        assert thread.texts[-1] == "You said yes."
    else:
        ada.api.runs.wait(thread.id, thread.graph, input=None)
        assert thread.texts[-1] == "Answer to: And berth 9?"


def test_thread_whose_run_was_cancelled_waits_for_nobody(ada: User) -> None:
    thread = ada.thread()
    run = thread.start("[wait never] Hello?")
    thread.until("running", run)
    ada.api.runs.cancel(thread.id, run, wait=True)
    thread.until("interrupted")
    assert thread.compress()["status"] == "completed"


def test_compression_that_was_stopped_stands_in_no_way(ada: User) -> None:
    thread = ada.thread("[summary waits stopped] " + LONG)
    get_state = ada.api.threads.get_state
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        compressing = pool.submit(ada.http.post, f"{thread.url}/compress")
        wait_until(lambda: get_state(thread.id)["next"] == ["summarize"], "summarize")
        run = ada.api.runs.list(thread.id, limit=1)[0]["run_id"]
        ada.api.runs.cancel(thread.id, run, wait=True)
        compressing.exception()  # whatever it was answered
    assert get_state(thread.id)["next"] == ["summarize"]
    ada.api.runs.delete(thread.id, run)  # only the state tells now what it was
    thread.release("stopped")
    assert thread.compress()["status"] == "completed"


def test_request_that_comes_meanwhile_waits_and_sees_the_result(ada: User) -> None:
    thread = ada.thread("[summary waits meanwhile] " + LONG)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        compressing = pool.submit(thread.compress)
        thread.until("busy")
        run = thread.start("And berth 9?", multitask_strategy="enqueue")
        assert ada.api.runs.get(thread.id, run)["status"] == "pending"
        assert not compressing.done()
        thread.release("meanwhile")
        assert compressing.result()["status"] == "completed"
    thread.until("success", run)
    assert thread.texts[-1] == "Answer to: And berth 9?"
    assert thread.values["_summarization_event"]["cutoff_index"] == 4
    assert thread.values["context_pressure"]["total"] < 1024


def test_summary_failed(ada: User) -> None:
    thread = ada.thread("[summary fails] " + LONG)
    before = thread.values
    refused = thread.compress(502)
    assert refused["error"] == "compression_failed"
    assert "ConnectionError" in refused["message"]
    assert "harbour" not in refused["message"]
    assert "the summarizer is away" not in refused["message"]
    assert thread.values == before
    thread.run("Still there?")
    assert thread.texts[-1] == "Answer to: Still there?"


def test_history_failed(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    thread = ada.thread()
    before = thread.values
    # A file where the folder should be.
    workdir_of(thread, monkeypatch).write_text("outputs/conversation_history", "in the way")
    refused = thread.compress(502)
    assert refused["error"] == "compression_failed"
    assert "history" in refused["message"]
    assert str(ada.server.home) not in refused["message"]
    assert thread.values == before
