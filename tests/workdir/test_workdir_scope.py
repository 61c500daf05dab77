"""Whose workdir a run gets."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph

from langgraph_compression import Workdir, file_tools
from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.lease import opened
from langgraph_compression.workdir.scope import default_workdir


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LANGGRAPH_COMPRESSION_HOME", str(tmp_path))
    return tmp_path


def test_threads_have_folders_of_their_own(home: Path) -> None:
    one, two, again = (
        default_workdir({"configurable": {"thread_id": name}}) for name in ("1", "../2", "1")
    )
    one.write_text("a.txt", "one")
    assert again.read_text("a.txt") == "one"
    assert not two.exists("a.txt")
    two.write_text("b.txt", "two")
    assert len(list(home.iterdir())) == 2
    for source in (one, lambda config: one):
        with opened(source, {}) as workdir:
            assert workdir is one


@pytest.mark.parametrize("thread", ["../../etc", "/root", "a\0b", "\ud800", "x" * 10_000, 0, "", 7])
def test_any_thread_id_is_a_folder_of_home(home: Path, thread: Any) -> None:
    for _ in range(2):
        default_workdir({"configurable": {"thread_id": thread}}).write_text("a.txt", "x")
    (folder,) = home.iterdir()
    assert folder.name.isalnum()
    assert [p.name for p in folder.iterdir()] == ["a.txt"]


def test_the_default_is_below_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LANGGRAPH_COMPRESSION_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    default_workdir({"configurable": {"thread_id": "1"}}).write_text("a.txt", "x")
    assert [p.name for p in tmp_path.iterdir()] == [".langgraph-compression"]


def test_a_function_scopes_by_config() -> None:
    def by_user(config: RunnableConfig) -> Workdir:
        return Workdir(f"memory://scope-{config['configurable']['user']}")

    for user in ("ann", "bob"):
        with opened(by_user, {"configurable": {"user": user}}) as workdir:
            workdir.write_text("a.txt", user)
    with opened(by_user, {"configurable": {"user": "ann"}}) as workdir:
        assert workdir.read_text("a.txt") == "ann"


def test_a_function_that_returns_something_else() -> None:
    wrong: Any = lambda config: "data/"  # noqa: E731
    with pytest.raises(WorkdirError, match="returned str"), opened(wrong, {}):
        pass


def nested(seen: list[str]) -> Any:
    """Root node, a subgraph as a node, and a subagent that a node calls."""

    def note(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        workdir = default_workdir(config)
        workdir.write_text(f"{len(seen)}.txt", "x")
        seen.append(",".join(workdir.list()))
        return {}

    sub = StateGraph(MessagesState).add_node("note", note).add_edge(START, "note").compile()

    def call(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        sub.invoke({"messages": []})
        names = file_tools(None)[-1].invoke({}, config)
        return {"messages": [AIMessage(names)]}

    builder = StateGraph(MessagesState).add_node("note", note).add_node("sub", sub)
    builder.add_node("call", call)
    builder.add_edge(START, "note").add_edge("note", "sub").add_edge("sub", "call")
    return builder.compile()


def invoked(graph: Any, config: Any) -> Any:
    return graph.invoke({"messages": []}, config)


def streamed(graph: Any, config: Any) -> Any:
    return list(graph.stream({"messages": []}, config, stream_mode=["custom", "values"]))[-1][1]


def awaited(graph: Any, config: Any) -> Any:
    return asyncio.run(graph.ainvoke({"messages": []}, config))


@pytest.mark.parametrize("configurable", [{}, {"thread_id": "1"}])
@pytest.mark.parametrize("run", [invoked, streamed, awaited])
def test_a_run_and_its_subagents_share_a_workdir(
    home: Path, run: Callable[[Any, Any], Any], configurable: dict[str, str]
) -> None:
    seen: list[str] = []
    result = run(nested(seen), {"configurable": configurable})
    assert seen == ["0.txt", "0.txt,1.txt", "0.txt,1.txt,2.txt"]
    assert result["messages"][-1].content == "0.txt\n1.txt\n2.txt"
    assert len(list(home.iterdir())) == 1


def test_each_run_without_thread_has_a_workdir_of_its_own(home: Path) -> None:
    for _ in range(3):
        invoked(nested([]), {})
    assert len(list(home.iterdir())) == 3
    first, second = default_workdir({}), default_workdir({})
    first.write_text("a.txt", "x")
    assert not second.exists("a.txt")
