"""A typo in a run's context is an error that names the field, before anything is done."""

from typing import Any

import pytest

from tests.support.served.client import Thread, User

pytestmark = pytest.mark.server

TYPO = r"summary_treshold.*did you mean 'summary_threshold'"


@pytest.mark.parametrize(
    ("graph", "given", "named"),
    [
        ("steered", {"context": {"summary_treshold": 8}}, TYPO),
        ("steered", {"context": {"summary_threshold": 8, "summary_treshold": 8}}, TYPO),
        ("steered", {"context": {"color": "red"}}, r"color.*known are summary_threshold, "),
        ("steered", {"config": {"configurable": {"summary_treshold": 8}}}, TYPO),
        ("hosted", {"context": {"compression": {"summary_treshold": 8}}}, TYPO),
        (
            "hosted",
            {"context": {"customer": "A", "compresion": {"summary_threshold": 8}}},
            r"compresion.*did you mean 'compression'",
        ),
    ],
)
def test_a_typo_is_named(ada: User, graph: str, given: dict[str, Any], named: str) -> None:
    thread = Thread(ada, ada.api.threads.create()["thread_id"], graph)
    with pytest.raises(Exception, match=rf"(?s){named}"):
        thread.run("Hello", **given)
    thread.run("Hello again")
    assert thread.texts[-1] == "Answer to: Hello again"


@pytest.mark.parametrize(
    ("graph", "given"),
    [
        ("steered", {"context": {"summary_threshold": 8, "mode": "chat"}}),
        ("steered", {"config": {"configurable": {"user_id": "u", "summary_threshold": 8}}}),
        ("steered", {"config": {"tags": ["t"], "recursion_limit": 30}}),
        ("hosted", {"context": {"customer": "A", "colour": "red"}}),  # its own affair
        ("hosted", {"context": {"compression": {"summary_threshold": 8}}}),
    ],
)
def test_what_is_known_is_no_typo(ada: User, graph: str, given: dict[str, Any]) -> None:
    thread = Thread(ada, ada.api.threads.create()["thread_id"], graph)
    thread.run("Hello", **given)
    assert thread.texts == ["Hello", "Answer to: Hello"]


def test_a_typo_of_the_assistant_is_named(ada: User) -> None:
    assistant = ada.api.assistants.create("steered", context={"summary_treshold": 8})
    thread = ada.thread("Hello", turns=0)
    given: dict[str, Any] = {"messages": ["Hello"]}
    with pytest.raises(Exception, match=TYPO):
        ada.api.runs.wait(thread.id, assistant["assistant_id"], input=given)


def test_compress_now_names_a_typo_of_the_assistant(ada: User) -> None:
    assistant = ada.api.assistants.create("steered", context={})
    thread = ada.thread(graph=assistant["assistant_id"])
    ada.api.assistants.update(assistant["assistant_id"], context={"summary_treshold": 8})
    refused = thread.compress(502)
    assert refused["error"] == "compression_failed"
    assert "did you mean 'summary_threshold'?" in refused["message"]
