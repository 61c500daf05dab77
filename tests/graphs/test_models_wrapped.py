"""Models as LangChain users have them: bound, retried, in sequences, configurable, made late.

Oracle: what the model inside of all wrappers was sent.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from langchain.chat_models import init_chat_model
from langchain_core._api.deprecation import LangChainDeprecationWarning
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import FakeListLLM, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import JsonOutputParser, StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import (
    ConfigurableField,
    Runnable,
    RunnableBranch,
    RunnableLambda,
    RunnableParallel,
)
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from langgraph_compression import (
    CompressionError,
    CompressionSettings,
    MemoryGate,
    acompress_thread,
    compress_thread,
    create_compression_graph,
)
from langgraph_compression.nodes.models import model_name, model_window
from tests.support.fakes import Outcome, RecordingWorkdir, drive
from tests.support.providers import Provider

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
SMALL = CompressionSettings(summary_threshold=1, summary_keep_messages=2)


@tool
def lookup(q: str) -> str:
    """Look something up."""
    return q


@tool
def own(q: str) -> str:
    """A tool of the model's own."""
    return q


class Heard(BaseCallbackHandler):
    """Counts the model's starts."""

    starts = 0

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        self.starts += 1


def ask(
    model: Any,
    *,
    asynchronous: bool,
    tools: Any = (),
    messages: Any = (("user", "Hello"),),
    configurable: dict[str, Any] | None = None,
    **options: Any,
) -> Outcome:
    graph = create_compression_graph(model, tools=tools, workdir=RecordingWorkdir(), **options)
    config: Any = {"configurable": configurable or {}}
    return drive(graph, {"messages": list(messages)}, config, asynchronous=asynchronous)


def pressure(model: Any, tools: Any = ()) -> int:
    """Characters of the tools part of a request."""
    graph = create_compression_graph(
        model,
        tools=tools,
        workdir=RecordingWorkdir(),
        counter=len,
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"which": "this", "thread_id": "t"}}
    graph.invoke({"messages": [("user", "Hello")]}, config)
    return int(graph.get_state(config).values["context_pressure"]["tools"])


PROMPT = ChatPromptTemplate([("system", "Be kind."), MessagesPlaceholder("messages")])
PLACEHOLDER = ChatPromptTemplate([("system", "Be kind."), ("placeholder", "{messages}")])
WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "alone": lambda m: m,
    "bound": lambda m: m.bind(seed=1),
    "config": lambda m: m.with_config(metadata={"user": "u"}),
    "retry": lambda m: m.with_retry(),
    "fallbacks": lambda m: m.with_fallbacks([Provider()]),
    "sequence": lambda m: RunnableLambda(lambda messages: messages) | m,
    "sequence that goes on": lambda m: m | RunnableLambda(lambda answer: answer),
    "prompt": lambda m: PROMPT | m,
    "prompt with a placeholder": lambda m: PLACEHOLDER | m,
    "branch": lambda m: RunnableBranch((lambda messages: False, Provider()), m),
    "fields": lambda m: (
        m.configurable_fields(model_name=ConfigurableField("name"))
        if isinstance(m, Provider)
        else m
    ),
    "alternatives": lambda m: Provider().configurable_alternatives(
        ConfigurableField("which"), this=m
    ),
    "alternatives in a sequence": lambda m: (
        PROMPT
        | Provider().configurable_alternatives(ConfigurableField("which"), this=m).with_retry()
    ),
    "function": lambda m: lambda state, runtime: m,
    "nested": lambda m: (
        RunnableLambda(lambda messages: messages) | m.with_retry().bind(seed=2)
    ).with_fallbacks([Provider()]),
}


@BOTH
@pytest.mark.parametrize("offered", [False, True], ids=["no tools", "tools"])
@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
def test_all_that_is_bound_reaches_the_provider(
    wrapper: Any, offered: bool, asynchronous: bool
) -> None:
    provider, heard = Provider(), Heard()
    bound = provider.bind_tools([own], tool_choice="any", parallel_tool_calls=False)
    model = bound.bind(temperature=0, stop=["END"]).with_config(tags=["mine"], callbacks=[heard])

    outcome = ask(
        wrapper(model),
        tools=[lookup] if offered else [],
        asynchronous=asynchronous,
        configurable={"which": "this"},
    )

    assert outcome.error is None
    (asked,) = provider.asked
    assert asked.messages[-1].content == "Hello"
    assert asked.tools == (["own", "lookup"] if offered else ["own"])
    expected = {"tool_choice": "any", "parallel_tool_calls": False, "temperature": 0,
                "stop": ["END"]}  # fmt: skip
    assert asked.arguments.items() >= expected.items()
    assert "mine" in asked.tags
    assert heard.starts == 1


@BOTH
@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
def test_tools_reach_a_model_in_wrappers(wrapper: Any, asynchronous: bool) -> None:
    provider = Provider()
    outcome = ask(
        wrapper(provider),
        tools=[lookup],
        asynchronous=asynchronous,
        configurable={"which": "this"},
    )
    assert outcome.error is None
    # The model of configurable fields is made anew for each request; it shares the list.
    assert [asked.tools for asked in provider.asked] == [["lookup"]]


FOR_ADA = ChatPromptTemplate(
    [("system", "Be kind to {user}."), ("placeholder", "{messages}")]
).partial(user="Ada")


@BOTH
@pytest.mark.parametrize(
    "prompt",
    [
        PROMPT,
        PLACEHOLDER,
        FOR_ADA,
        ChatPromptTemplate([("system", "Be kind."), MessagesPlaceholder("history")]),
    ],
    ids=["required", "optional", "partial", "another name"],
)
def test_a_prompt_is_given_the_messages(prompt: Any, asynchronous: bool) -> None:
    provider = Provider()
    model = (prompt | provider).with_fallbacks([Provider()])
    assert ask(model, asynchronous=asynchronous).error is None
    system, message = provider.last.messages
    assert (system.text.startswith("Be kind"), message.text) == (True, "Hello")


@pytest.mark.parametrize(
    "messages",
    [("placeholder", "{messages}"), MessagesPlaceholder("messages"), ("user", "{question}")],
    ids=["optional", "required", "none"],
)
def test_a_prompt_that_wants_more_is_refused_with_what_it_wants(messages: Any) -> None:
    prompt = ChatPromptTemplate([("system", "For {user} in {town}."), messages])
    with pytest.raises(CompressionError, match=r"'town', 'user'.*partial"):
        create_compression_graph((prompt | Provider()).with_retry())
    prompt = prompt.partial(town="Rome")
    with pytest.raises(CompressionError, match=r"'user'.*partial"):
        create_compression_graph(prompt | Provider())


@BOTH
def test_configured_fields_and_alternatives_are_those_of_the_run(asynchronous: bool) -> None:
    provider = Provider()
    model = (
        provider.configurable_fields(model_name=ConfigurableField("name"))
        .configurable_alternatives(
            ConfigurableField("which"), prefix_keys=True, other=lambda: Provider()
        )
        .with_config(tags=["mine"])
    )
    usage: Any = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    provider.answer = AIMessage("Yes", usage_metadata=usage)
    graph = create_compression_graph(
        model,
        tools=[lookup],
        workdir=RecordingWorkdir(),
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "t", "which==default/name": "chosen"}}

    drive(graph, {"messages": [("user", "Hi")]}, config, asynchronous=asynchronous)

    assert list(graph.get_state(config).values["token_usage"]) == ["chosen"]
    assert provider.last.tools == ["lookup"]
    assert "mine" in provider.last.tags


@BOTH
def test_each_fallback_is_offered_the_tools(asynchronous: bool) -> None:
    first, second = Provider(answer=ValueError("down")), Provider()
    model = first.bind(seed=1).with_fallbacks([second.bind_tools([own], tool_choice="any")])
    assert ask(model, tools=[lookup], asynchronous=asynchronous).error is None
    assert (first.last.tools, first.last.arguments["seed"]) == (["lookup"], 1)
    assert second.last.tools == ["own", "lookup"]
    assert second.last.arguments["tool_choice"] == "any"


@BOTH
def test_a_tool_of_both_is_offered_once_as_the_graph_has_it(asynchronous: bool) -> None:
    provider = Provider()

    @tool("lookup")
    def another(other: int) -> str:
        """Another tool of that name."""
        return ""

    model = provider.bind_tools([another, own])
    assert ask(model, tools=[lookup], asynchronous=asynchronous).error is None
    assert provider.last.tools == ["own", "lookup"]
    parameters = provider.last.arguments["tools"][1]["function"]["parameters"]
    assert list(parameters["properties"]) == ["q"]


def test_what_was_bound_last_counts() -> None:
    provider = Provider()
    model = provider.bind_tools([lookup]).bind(tools=provider.bind_tools([own]).kwargs["tools"])  # type: ignore[attr-defined]
    ask(model, asynchronous=False)
    ask(model, tools=[lookup], asynchronous=False)
    assert [asked.tools for asked in provider.asked] == [["own"], ["own", "lookup"]]


class Verdict(BaseModel):
    """A schema for an answer."""

    reason: str


@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
def test_what_is_bound_counts_in_the_pressure(wrapper: Any) -> None:
    provider = Provider()
    both = pressure(provider, [own, lookup])
    assert both > pressure(provider, [lookup]) > 0 == pressure(provider)
    assert pressure(wrapper(provider.bind_tools([own, lookup]))) == both
    assert pressure(wrapper(provider.bind_tools([own])), [lookup]) == both
    assert pressure(wrapper(provider.bind_tools([lookup])), [lookup]) < both


@pytest.mark.parametrize("schema", [Verdict, Verdict.model_json_schema()], ids=["class", "dict"])
def test_schemas_of_answers_count(schema: Any) -> None:
    assert pressure(Provider().bind(response_format=schema)) > len("A schema for an answer.")
    assert pressure(Provider().bind(temperature=0, stop=["END"])) == 0


def long_talk() -> list[Any]:
    return [("user" if n % 2 == 0 else "ai", f"{n} " + "word " * 400) for n in range(11)]


@BOTH
@pytest.mark.parametrize("given", [True, False], ids=["summary_model", "the model itself"])
def test_a_summarizer_is_offered_no_tools_and_keeps_what_else_is_bound(
    given: bool, asynchronous: bool
) -> None:
    provider = Provider(answer=lambda asked: "SUMMARY")
    bound = provider.bind_tools([own], tool_choice="any", parallel_tool_calls=False)
    model = bound.bind(temperature=0, response_format={"type": "json_object"}).with_retry()
    models: Any = {"model": Provider(), "summary_model": model} if given else {"model": model}

    outcome = ask(**models, messages=long_talk(), settings=SMALL, asynchronous=asynchronous)

    assert outcome.last("completed")["actions"][-1]["action"] == "summarized"
    summary = provider.asked[0]
    kept = {"response_format": {"type": "json_object"}} if given else {}
    assert summary.arguments == {"temperature": 0, **kept}


@BOTH
def test_an_overflow_behind_retries_and_fallbacks_is_recognised(asynchronous: bool) -> None:
    def refuse(messages: Any) -> Any:
        large = sum(len(str(message.content)) for message in messages) > 4000
        return ContextOverflowError("too long") if large else "Yes"

    first, second = Provider(answer=refuse), Provider(answer=ValueError("down"))
    model = first.with_retry(stop_after_attempt=1).with_fallbacks([second])
    outcome = ask(
        model,
        summary_model="extractive",
        messages=long_talk(),
        tools=[lookup],
        asynchronous=asynchronous,
    )
    assert outcome.error is None
    assert outcome.last("completed")["trigger"] == "overflow"
    assert all(asked.tools == ["lookup"] for asked in first.asked)


@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
def test_name_and_window_are_those_of_the_model_inside(wrapper: Any) -> None:
    profile: Any = {"max_input_tokens": 5000}
    if (model := wrapper(Provider(model_name="inside", profile=profile))) and isinstance(
        model, Runnable
    ):
        alternatives = "which" in {spec.id for spec in model.config_specs}
        assert (model_name(model), model_window(model)) == (
            ("recorded", None) if alternatives else ("inside", 5000)
        )


@BOTH
def test_usage_is_that_of_the_model_that_answered(asynchronous: bool) -> None:
    usage: Any = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    answer = AIMessage("Yes", usage_metadata=usage, response_metadata={"model_name": "second"})
    first = Provider(answer=ValueError("down"), metadata={"provider": "openai"})
    second = Provider(answer=answer, model_name="second", metadata={"provider": "siliconflow"})
    graph = create_compression_graph(
        first.with_fallbacks([second]),
        workdir=RecordingWorkdir(),
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    drive(graph, {"messages": [("user", "Hi")]}, config, asynchronous=asynchronous)
    assert not graph.get_state(config).values.get("token_usage")


@BOTH
def test_a_model_of_init_chat_model(asynchronous: bool, monkeypatch: Any) -> None:
    made: list[dict[str, Any]] = []
    provider = Provider()

    def make(model: str, *, model_provider: str | None = None, **fields: Any) -> Any:
        made.append({"model": model, **fields})
        return provider

    monkeypatch.setattr("langchain.chat_models.base._init_chat_model_helper", make)
    model: Any = init_chat_model("openai:gpt-5", configurable_fields=("model", "temperature"))
    model = model.bind_tools([own], tool_choice="any").with_config(tags=["mine"])

    outcome = ask(
        model,
        tools=[lookup],
        asynchronous=asynchronous,
        configurable={"model": "gpt-5-mini", "temperature": 1},
    )

    assert outcome.error is None
    assert made[-1]["model"] == "gpt-5-mini"
    assert made[-1]["temperature"] == 1
    assert provider.last.tools == ["own", "lookup"]
    assert provider.last.arguments["tool_choice"] == "any"
    assert "mine" in provider.last.tags


@BOTH
def test_a_model_of_init_chat_model_that_cannot_be_made(asynchronous: bool) -> None:
    model: Any = init_chat_model(configurable_fields=("model", "model_provider"))
    error = ask(model, tools=[lookup], asynchronous=asynchronous).error
    assert isinstance(error, CompressionError)
    assert "configurable model cannot be made" in str(error)


def test_a_model_of_init_chat_model_is_not_made_before_the_first_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model: Any = init_chat_model("openai:gpt-5", configurable_fields=("model",))
    create_compression_graph(model, tools=[lookup], summary_model=model)
    assert isinstance(ask(model, asynchronous=False).error, CompressionError)


class Chooses:
    """A callable object."""

    def __init__(self, model: Any) -> None:
        self.model = model

    async def __call__(self, state: Any, runtime: Any) -> Any:
        return self.model


def _async_function(model: Any) -> Any:
    async def choose(state: Any, runtime: Any) -> Any:
        return model

    return choose


def _returns_awaitable(model: Any) -> Any:
    return lambda state, runtime: _async_function(model)(state, runtime)


LATE = pytest.mark.parametrize("late", [_async_function, Chooses, _returns_awaitable])


@LATE
@pytest.mark.parametrize("role", ["model", "summary_model"])
def test_an_async_function_is_awaited(late: Any, role: str) -> None:
    provider = Provider(answer=lambda asked: "SUMMARY")
    models = {"model": Provider(), role: late(provider.bind(temperature=0))}
    outcome = ask(**models, tools=[lookup], messages=long_talk(), settings=SMALL, asynchronous=True)
    assert outcome.error is None
    assert provider.last.arguments["temperature"] == 0


@LATE
@pytest.mark.parametrize("role", ["model", "summary_model"])
def test_an_async_function_in_a_sync_run_is_an_error_that_says_so(late: Any, role: str) -> None:
    models = {"model": Provider(), role: late(Provider())}
    error = ask(**models, messages=long_talk(), settings=SMALL, asynchronous=False).error
    assert isinstance(error, CompressionError)
    assert "ainvoke" in str(error)


@LATE
def test_an_async_function_in_compress_now(late: Any) -> None:
    graph = create_compression_graph(
        late(Provider(answer="SUMMARY")),
        settings=CompressionSettings(summary_keep_messages=2),
        workdir=RecordingWorkdir(),
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    graph.update_state(config, {"messages": long_talk()}, as_node="model")
    with pytest.raises(CompressionError, match="acompress_thread"):
        compress_thread(graph, config, gate=MemoryGate())
    result = asyncio.run(acompress_thread(graph, config, gate=MemoryGate()))
    assert result.status == "completed"


@BOTH
@pytest.mark.parametrize("returned", [None, 5, {"model": "x"}, Provider])
def test_a_function_that_returns_no_model(returned: Any, asynchronous: bool) -> None:
    error = ask(lambda state, runtime: returned, asynchronous=asynchronous).error
    assert isinstance(error, CompressionError)
    assert "model function returned a " in str(error)


NOT_A_MESSAGE: Any = Provider() | StrOutputParser()
PARSERS = {
    "str": Provider() | StrOutputParser(),
    "json": Provider() | JsonOutputParser(),
    "in a retry": (Provider() | StrOutputParser()).with_retry(),
    "in a fallback": Provider().with_fallbacks([NOT_A_MESSAGE]),
    "structured output": Provider().with_structured_output(Verdict),
    "structured output, raw": Provider().with_structured_output(Verdict, include_raw=True),
    "parallel": RunnableParallel(a=Provider()),
    "text model": FakeListLLM(responses=["x"]),
}


@pytest.mark.parametrize("role", ["model", "summary_model"])
@pytest.mark.parametrize("model", PARSERS.values(), ids=PARSERS)
def test_a_model_that_gives_no_message_is_refused_when_the_graph_is_built(
    model: Any, role: str
) -> None:
    models = {"model": Provider(), role: model}
    with pytest.raises(CompressionError, match=r"answers with no message: .* returns"):
        create_compression_graph(**models)


@BOTH
@pytest.mark.parametrize("model", PARSERS.values(), ids=PARSERS)
def test_or_at_the_first_request(model: Any, asynchronous: bool) -> None:
    error = ask(lambda state, runtime: model, asynchronous=asynchronous).error
    assert isinstance(error, CompressionError)
    assert "answers with no message" in str(error)


NO_MESSAGE = {
    "text": lambda answer: answer.content,
    "dict": lambda answer: {"answer": answer},
    "none": lambda answer: None,
    "human": lambda answer: HumanMessage("I"),
}


@BOTH
@pytest.mark.parametrize("change", NO_MESSAGE.values(), ids=NO_MESSAGE)
def test_or_at_the_first_answer(change: Any, asynchronous: bool) -> None:
    secret = "the secret answer"
    model = Provider(answer=secret) | RunnableLambda(change)
    error = ask(model, tools=[lookup], asynchronous=asynchronous).error
    assert isinstance(error, CompressionError)
    assert "must return an AIMessage" in str(error)
    assert secret not in str(error)


@BOTH
def test_a_summarizer_without_a_message_is_a_failure_that_is_told(
    asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    outcome = ask(
        Provider(),
        summary_model=Provider() | RunnableLambda(lambda answer: answer.content),
        messages=long_talk(),
        settings=SMALL,
        asynchronous=asynchronous,
    )
    assert outcome.error is None
    assert outcome.last("completed")["failures"] == [{"kind": "summary", "error": "no_message"}]
    assert "answered with a str" in caplog.text


NO_TOOLS = {
    "function": RunnableLambda(lambda messages: AIMessage("Yes")),
    "class without bind_tools": GenericFakeChatModel(messages=iter([])),
    "in a retry": GenericFakeChatModel(messages=iter([])).with_retry(),
    "a fallback": Provider().with_fallbacks([GenericFakeChatModel(messages=iter([]))]),
}


@BOTH
@pytest.mark.parametrize("model", NO_TOOLS.values(), ids=NO_TOOLS)
def test_a_model_that_takes_no_tools_is_refused(model: Any, asynchronous: bool) -> None:
    with pytest.raises(CompressionError, match=r"(Lambda|GenericFake\w+) has no bind_tools"):
        create_compression_graph(model, tools=[lookup])
    error = ask(lambda state, runtime: model, tools=[lookup], asynchronous=asynchronous).error
    assert isinstance(error, CompressionError)


def test_a_function_as_model_is_fine_without_tools() -> None:
    model: Any = RunnableLambda(lambda messages: AIMessage("Yes"))
    assert ask(model, asynchronous=False).error is None


@BOTH
def test_a_function_among_the_fallbacks_needs_no_tools(asynchronous: bool) -> None:
    down = Provider(answer=ValueError("down"))
    canned: Any = RunnableLambda(lambda messages: AIMessage("Later, please."))
    model = down.with_fallbacks([canned])
    assert ask(model, tools=[lookup], asynchronous=asynchronous).error is None
    assert down.last.tools == ["lookup"]


@BOTH
def test_an_alternative_that_is_not_there(asynchronous: bool) -> None:
    model = Provider().configurable_alternatives(ConfigurableField("which"), this=Provider())
    error = ask(model, asynchronous=asynchronous, configurable={"which": "nope"}).error
    assert isinstance(error, CompressionError)
    assert "nope" in str(error)


def test_a_class_is_no_model() -> None:
    with pytest.raises(CompressionError, match="model is a ModelMetaclass"):
        create_compression_graph(Provider)  # type: ignore[arg-type]


def test_a_history_of_its_own_is_refused() -> None:
    with pytest.warns(LangChainDeprecationWarning):
        model: Any = RunnableWithMessageHistory(Provider(), InMemoryChatMessageHistory)
    with pytest.raises(CompressionError, match="RunnableWithMessageHistory"):
        create_compression_graph(model)


CONVERSATIONS = {
    "bound": Provider().bind(conversation="conv_1"),
    "deeper": Provider().bind(conversation={"id": "conv_1"}).with_retry(),
    "body": Provider().bind(extra_body={"conversation": "conv_1"}),
}


@BOTH
@pytest.mark.parametrize("model", CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_a_conversation_at_the_provider_is_refused(model: Any, asynchronous: bool) -> None:
    for role in ("model", "summary_model"):
        with pytest.raises(CompressionError, match="cannot be compressed"):
            create_compression_graph(**{"model": Provider(), role: model})
    error = ask(lambda state, runtime: model, asynchronous=asynchronous).error
    assert isinstance(error, CompressionError)


@pytest.mark.parametrize("argument", ["previous_response_id", "cached_content"])
def test_what_the_provider_puts_before_the_messages_is_told(
    argument: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    model: Any = Provider().bind(**{argument: f"stored-{argument}"})
    graph = create_compression_graph(model, workdir=RecordingWorkdir())
    assert f"{argument}='stored-{argument}'" in caplog.text
    graph.invoke({"messages": [("user", "Hi")]})
    assert caplog.text.count("neither counted nor compressed") == 1
