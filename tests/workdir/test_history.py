"""History files: every message complete, whatever it holds."""

import json
import tracemalloc
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from pydantic import BaseModel

from langgraph_compression import Workdir
from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.history import read_history, write_history
from langgraph_compression.workdir.local import LocalStore

SAVED = "outputs/large_tool_results/a-0123456789abcdef.txt"


TEXTS = st.text(st.characters(), max_size=40)
BLOCK = st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS})
MESSAGES = st.lists(
    st.one_of(
        st.builds(HumanMessage, content=TEXTS, id=st.none() | TEXTS),
        st.builds(AIMessage, content=st.lists(BLOCK)),
        st.builds(ToolMessage, content=TEXTS, tool_call_id=TEXTS, name=TEXTS),
        st.builds(ChatMessage, content=TEXTS, role=TEXTS),
    ),
    max_size=6,
)


def history_file(messages: Sequence[Any], *args: Any, **kwargs: Any) -> tuple[str, str]:
    """Path and text of a history file."""
    workdir = Workdir(f"memory://{uuid.uuid4().hex}")
    path = write_history(workdir, messages, *args, **kwargs)
    return path, workdir.read_text(path)


@given(MESSAGES)
def test_history_files_are_lossless(messages: list[Any]) -> None:
    workdir = Workdir(f"memory://{uuid.uuid4().hex}")
    path = write_history(workdir, messages, 0, len(messages), {})
    text = workdir.read_text(path)
    assert text.count("\n") == len(messages)
    assert read_history(text, workdir.read_text) == messages


def test_history_names_saved_results() -> None:
    big = "line\n" * 1000
    messages: list[Any] = [HumanMessage("q"), ToolMessage(big, tool_call_id="c")]
    path, text = history_file(messages, 0, 2, {1: (SAVED, big)})
    assert big not in text
    assert SAVED in text
    assert path.startswith("outputs/conversation_history/000000-000002-")
    assert read_history(text, {SAVED: big}.__getitem__) == messages
    # A file with another text (redacted, escaped) cannot stand for the content.
    _, whole = history_file(messages, 0, 2, {1: (SAVED, "other")})
    assert SAVED not in whole


def test_history_holds_what_json_cannot() -> None:
    messages: list[Any] = [
        ToolMessage("x", tool_call_id="c", artifact=object()),
        AIMessage("y", additional_kwargs={"number": 10**400, "set": {1}}),
    ]
    one = history_file(messages, 0, 2, {})
    assert one == history_file(messages, 0, 2, {})
    assert [m.content for m in read_history(one[1], str)] == ["x", "y"]


@pytest.mark.parametrize("line", ["{", "[]", '{"type": "human"}', '{"type": "none", "data": {}}'])
def test_a_line_that_is_no_message(line: str) -> None:
    with pytest.raises(WorkdirError, match="line 1"):
        read_history(line, str)


def one(message: Any, **kwargs: Any) -> dict[str, Any]:
    """The line of a message."""
    _, text = history_file([message], 0, 1, {}, **kwargs)
    assert text.endswith("\n")
    assert text.count("\n") == 1
    text.encode()
    line: dict[str, Any] = json.loads(text)
    return line


class Mine(BaseMessage):
    type: str = "mine"
    mood: str = "good"


@pytest.mark.parametrize(
    "message",
    [
        SystemMessage("s"),
        FunctionMessage(content="f", name="n"),
        RemoveMessage(id="1"),
        AIMessageChunk(content="chunk"),
        AIMessage("", invalid_tool_calls=[{"name": "n", "args": "{", "id": "1", "error": "e"}]),
        AIMessage([{"type": "thinking", "thinking": "t", "signature": "s"}, "text"]),
        AIMessage("a", usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}),
        AIMessage("", tool_calls=[{"name": "n", "args": {"a": [None, 1.5, 10**400]}, "id": None}]),
        ToolMessage("a\0b\ud800c\u2028\u0085\r\n", tool_call_id="1", artifact={"a": [1]}),
        HumanMessage("h", name="n", mood="an extra field"),
    ],
    ids=lambda message: type(message).__name__,
)
def test_messages_of_every_kind_come_back(message: BaseMessage) -> None:
    _, text = history_file([message], 0, 1, {})
    assert read_history(text, str) == [message]


def test_a_class_of_the_host_comes_back_as_a_message() -> None:
    (message,) = read_history(json.dumps(one(Mine(content="x"))), str)
    assert (message.type, message.content, message.mood) == ("mine", "x", "good")  # type: ignore[attr-defined]


def deep(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def test_deep_arguments_are_kept() -> None:
    message = AIMessage("text", tool_calls=[{"name": "n", "args": deep(300), "id": "1"}])
    assert read_history(json.dumps(one(message)), str) == [message]


class Silent:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Model(BaseModel):
    name: str = "n"


LOOP: list[Any] = []
LOOP += [LOOP, LOOP]

ODD: list[tuple[Any, Any]] = [
    (b"bytes", {"not_json": "bytes", "base64": "Ynl0ZXM="}),
    ({1}, {"not_json": "set", "repr": "{1}"}),
    (Silent(), {"not_json": "Silent"}),
    (Model(), {"name": "n"}),
    ({(1, 2): 3}, {"(1, 2)": 3}),
    (10**5000, {"not_json": "int", "hex": hex(10**5000)}),
    (LOOP, [{"not_json": "list", "contains": "itself"}] * 2),
]


@pytest.mark.parametrize(("value", "stored"), ODD, ids=lambda value: type(value).__name__)
def test_what_json_has_no_form_for(value: Any, stored: Any) -> None:
    """The rest of the message stays whole."""
    message = ToolMessage("text", tool_call_id="1", id="2", artifact=value)
    data = one(message)["data"]
    assert data["artifact"] == stored
    assert (data["content"], data["id"], data["tool_call_id"]) == ("text", "2", "1")


def test_too_deep_for_json() -> None:
    message = ToolMessage("text", tool_call_id="1", artifact=deep(100_000))
    data = one(message)["data"]
    assert data["content"] == "text"
    assert '"deeper_than": 64' in json.dumps(data)


def test_a_message_that_was_never_validated() -> None:
    assert one(HumanMessage.model_construct(content=None))["data"]["content"] is None


def hide(text: str) -> str:
    return text.replace("Bob", "***")


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage("I am Bob"),
        HumanMessage([{"type": "text", "text": "Bob"}]),
        AIMessage("", tool_calls=[{"name": "n", "args": {"name": "Bob", "id": "Bob"}, "id": "1"}]),
        AIMessage([{"type": "tool_use", "id": "1", "name": "n", "input": {"type": "Bob"}}]),
        AIMessage("", additional_kwargs={"function_call": {"name": "n", "arguments": "Bob"}}),
        ToolMessage("x", tool_call_id="1", artifact={"name": "Bob"}),
        ToolMessage("x", tool_call_id="1", artifact=Model(name="Bob")),
        ToolMessage("x", tool_call_id="1", artifact={"Bob"}),
        ToolMessage("x", tool_call_id="1", artifact=b"Bob"),
        ToolMessage("x", tool_call_id="1", artifact=("Bob", {1: deep(5000)})),
    ],
)
def test_redacted_everywhere(message: BaseMessage) -> None:
    line = json.dumps(one(message, redact=hide))
    assert "Bob" not in line
    assert "Qm9i" not in line  # base64


def test_ids_are_not_redacted() -> None:
    message = AIMessage("Bob", tool_calls=[{"name": "Bob", "args": {}, "id": "Bob"}], id="Bob")
    data = one(message, redact=hide)["data"]
    call = {"name": "Bob", "args": {}, "id": "Bob", "type": "tool_call"}
    assert (data["content"], data["id"], data["tool_calls"]) == ("***", "Bob", [call])


@pytest.fixture(params=["local", "memory", "subclass"])
def workdir(request: pytest.FixtureRequest, tmp_path: Path) -> Workdir:
    """Files that are written line by line, and in one piece."""
    if request.param == "local":
        return Workdir(tmp_path / "w")
    return (Workdir if request.param == "memory" else Own)(f"memory://{uuid.uuid4().hex}")


class Own(Workdir):
    """A host's class through which every text goes."""

    def write_text(self, path: str, text: str) -> None:
        super().write_text(path, text[::-1])

    def read_text(self, path: str) -> str:
        return super().read_text(path)[::-1]


def test_a_redaction_that_fails_writes_nothing(workdir: Workdir) -> None:
    def fail(text: str) -> str:
        if text == "y":
            raise ValueError("no")
        return text

    with pytest.raises(ValueError, match="no"):
        write_history(workdir, [HumanMessage("x"), HumanMessage("y")], 0, 2, {}, fail)
    assert workdir.list() == []


def test_every_store_gets_the_same_file(workdir: Workdir) -> None:
    messages: list[Any] = [HumanMessage("é\r\n😀"), AIMessage("y\ud800")]
    path, text = history_file(messages, 0, 2, {})
    assert write_history(workdir, messages, 0, 2, {}) == path
    assert workdir.read_text(path) == text
    assert workdir.list() == [path]


def test_messages_are_not_changed() -> None:
    message = AIMessage("Bob", tool_calls=[{"name": "n", "args": {"a": ["Bob"]}, "id": "1"}])
    before = message.model_copy(deep=True)
    one(message, redact=hide)
    history_file([message], 0, 1, {0: (SAVED, "Bob")})
    assert message == before


def test_halves_side_by_side_become_the_character() -> None:
    (message,) = read_history(json.dumps(one(HumanMessage("\ud83d" + "\ude00"))), str)
    assert message.content == "😀"


class Forgetful(Workdir):
    def read_text(self, path: str) -> str:
        return super().read_text(path)[:-1]


def test_a_file_that_is_not_what_was_written() -> None:
    workdir = Forgetful(f"memory://{uuid.uuid4().hex}")
    with pytest.raises(WorkdirError, match="not what was written"):
        write_history(workdir, [HumanMessage("x")], 0, 1, {})


def test_writing_again_changes_nothing(workdir: Workdir) -> None:
    messages: list[Any] = [HumanMessage(str(n)) for n in range(5)]
    paths = [write_history(workdir, messages, 1, 4, {}) for _ in range(2)]
    other = write_history(workdir, messages, 1, 5, {})
    assert paths[0] == paths[1] != other
    assert workdir.list() == sorted({*paths, other})
    assert read_history(workdir.read_text(paths[0]), str) == messages[1:4]


def test_a_file_of_that_name_with_other_content_is_refused_and_kept(tmp_path: Path) -> None:
    path = write_history(Workdir(tmp_path), [HumanMessage("x")], 0, 1, {})
    (tmp_path / path).write_text("other")
    with pytest.raises(WorkdirError, match="not what was written"):
        write_history(Workdir(tmp_path), [HumanMessage("x")], 0, 1, {})
    assert (tmp_path / path).read_text() == "other"


def test_a_folder_that_leads_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w" / "outputs").mkdir(parents=True)
    (tmp_path / "w" / "outputs" / "conversation_history").symlink_to(tmp_path)
    with pytest.raises(WorkdirError, match="leads out"):
        write_history(Workdir(tmp_path / "w"), [HumanMessage("x")], 0, 1, {})
    assert [file.name for file in tmp_path.iterdir()] == ["w"]


def test_a_place_that_fails_is_told_without_its_path(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("in the way")
    with pytest.raises(WorkdirError, match="cannot write outputs/conversation_history: ") as caught:
        write_history(Workdir(tmp_path), [HumanMessage("x")], 0, 1, {})
    assert str(tmp_path) not in str(caught.value)


def test_a_saved_file_that_is_gone() -> None:
    workdir = Workdir(f"memory://{uuid.uuid4().hex}")
    message = ToolMessage("text", tool_call_id="1")
    _, text = history_file([message], 0, 1, {0: (SAVED, "text")})
    with pytest.raises(WorkdirError, match="there is no file"):
        read_history(text, workdir.read_text)


def test_a_file_is_written_and_checked_without_being_held(tmp_path: Path) -> None:
    messages: list[Any] = [HumanMessage("x" * 400_000) for _ in range(50)]
    tracemalloc.start()
    try:
        path = write_history(Workdir(tmp_path), messages, 0, len(messages), {})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (tmp_path / path).stat().st_size > 20_000_000
    assert peak < 10_000_000


class Turned(LocalStore):
    """Keeps each text backwards."""

    def put(self, path: str, text: str, *, new: bool) -> None:
        super().put(path, text[::-1], new=new)

    def read(self, path: str) -> bytes:
        return super().read(path)[::-1]


class Kept(Workdir):
    """A workdir of somebody's own, with nothing of ours but the methods' names."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def write_text(self, path: str, text: str) -> None:
        self.files[path] = text

    def read_text(self, path: str) -> str:
        return self.files[path]


def test_history_goes_through_a_store_of_somebodys_own(tmp_path: Path) -> None:
    workdir = Workdir(Turned(tmp_path.as_posix()))
    path = write_history(workdir, [HumanMessage("first"), AIMessage("second")], 0, 2, {})
    assert (tmp_path / path).read_text().endswith('{"type": "human"'[::-1])
    assert [m.content for m in read_history(workdir.read_text(path), workdir.read_text)] == [
        "first",
        "second",
    ]


def test_history_goes_through_a_workdir_of_somebodys_own() -> None:
    workdir = Kept()
    path = write_history(workdir, [HumanMessage("first")], 0, 1, {})
    assert "first" in workdir.files[path]


def test_many_threads_write_and_check_one_file(workdir: Workdir) -> None:
    messages = [HumanMessage(f"Question {n} " * 200) for n in range(200)]
    with ThreadPoolExecutor(4) as pool:
        paths = set(pool.map(lambda _: write_history(workdir, messages, 0, 200, {}), range(16)))
    assert len(paths) == 1


def test_a_file_where_the_folder_should_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "conversation_history").write_text("in the way")
    with pytest.raises(
        WorkdirError, match="cannot write outputs/conversation_history: File exists"
    ):
        write_history(Workdir(tmp_path), [HumanMessage("first")], 0, 1, {})
