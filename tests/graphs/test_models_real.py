"""Real provider packages, wrapped, and what they would send to the provider.

OpenAI's Responses API keeps answers: a request may refer to one instead of sending the
history again. A compressed request must not.
"""

from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import SecretStr

from langgraph_compression import (
    CompressionError,
    CompressionSettings,
    MemoryGate,
    compress_thread,
    create_compression_graph,
)
from tests.support.fakes import FakeModel, Outcome, RecordingWorkdir, drive

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
CONFIG: Any = {"configurable": {"thread_id": "t"}}
SMALL = CompressionSettings(summary_threshold=1, summary_keep_messages=4)
KEY = SecretStr("none")


class Sends:
    """Of a provider package all but the connection."""

    payloads: Any
    refuses: Any

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        payload = self._payload(messages, stop, kwargs)  # type: ignore[attr-defined]
        self.payloads.append(payload)
        if self.refuses and self.refuses(payload):
            raise ContextOverflowError("too long")
        number = len(self.payloads)
        answer = AIMessage(
            f"Answer {number}",
            response_metadata={"id": f"resp_{number}", "model_name": "gpt-5"},
        )
        return ChatResult(generations=[ChatGeneration(message=answer)])

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        return self._generate(*args, **kwargs)


class OpenAI(Sends, ChatOpenAI):
    payloads: Any = None
    refuses: Any = None

    def _payload(self, messages: Any, stop: Any, kwargs: Any) -> Any:
        return self._get_request_payload(messages, stop=stop, **kwargs)


class Anthropic(Sends, ChatAnthropic):
    payloads: Any = None
    refuses: Any = None

    def _payload(self, messages: Any, stop: Any, kwargs: Any) -> Any:
        return self._get_request_payload(messages, stop=stop, **kwargs)


class Google(Sends, ChatGoogleGenerativeAI):
    payloads: Any = None
    refuses: Any = None

    def _payload(self, messages: Any, stop: Any, kwargs: Any) -> Any:
        return self._prepare_request(messages, stop=stop, **kwargs)


@tool
def lookup(q: str) -> str:
    """Look something up."""
    return q


@tool
def own(q: str) -> str:
    """A tool of the model's own."""
    return q


def offered(payload: Any) -> list[str]:
    """Names of the tools in a payload of any of the three."""
    if "config" in payload:
        declared = payload["config"].tools
        return [function.name for one in declared for function in one.function_declarations]
    return [one.get("name") or one["function"]["name"] for one in payload["tools"]]


REAL = {
    "openai": lambda: OpenAI(model="gpt-5", api_key=KEY, use_responses_api=False, payloads=[]),
    "openai responses": lambda: OpenAI(
        model="gpt-5", api_key=KEY, use_responses_api=True, payloads=[]
    ),
    "anthropic": lambda: Anthropic(
        model_name="claude-sonnet-4-5", api_key=KEY, payloads=[], timeout=None, stop=None
    ),
    "google": lambda: Google(model="gemini-2.5-flash", api_key=KEY, payloads=[]),
}


@BOTH
@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: m.with_retry(),
                                  lambda m: RunnableLambda(lambda x: x) | m],
                         ids=["alone", "retry", "sequence"])  # fmt: skip
@pytest.mark.parametrize("make", REAL.values(), ids=REAL)
def test_own_tools_and_those_of_the_graph(make: Any, wrap: Any, asynchronous: bool) -> None:
    real = make()
    graph = create_compression_graph(
        wrap(real.bind_tools([own], tool_choice="any")),
        tools=[lookup],
        workdir=RecordingWorkdir(),
    )
    outcome = drive(graph, {"messages": [("user", "Hi")]}, asynchronous=asynchronous)
    assert outcome.error is None
    (payload,) = real.payloads
    assert offered(payload) == ["own", "lookup"]
    choice = payload.get("tool_choice") or payload["config"].tool_config
    assert any(word in str(choice).lower() for word in ("any", "required"))


@pytest.mark.parametrize("field", ["model_kwargs", "extra_body"])
def test_a_conversation_that_openai_keeps_is_refused(field: str) -> None:
    fields: Any = {field: {"conversation": "conv_1"}}
    with pytest.raises(CompressionError, match="conversation='conv_1'"):
        create_compression_graph(ChatOpenAI(model="gpt-5", api_key=KEY, **fields))


def test_what_google_caches_before_the_messages_is_told(caplog: pytest.LogCaptureFixture) -> None:
    model = ChatGoogleGenerativeAI(
        model="gemini-2.5-flash", api_key=KEY, cached_content="cachedContents/1"
    )
    create_compression_graph(model)
    assert "cached_content='cachedContents/1': what the provider keeps there" in caplog.text


class Chat:
    """A thread with a model that refers to stored answers."""

    def __init__(self, **options: Any) -> None:
        self.model = OpenAI(
            model="gpt-5",
            api_key=KEY,
            use_responses_api=True,
            use_previous_response_id=True,
            payloads=[],
            refuses=options.pop("refuses", None),
        )
        self.graph = create_compression_graph(
            self.model,
            **{"settings": SMALL, "summary_model": FakeModel(answer="SUMMARY"), **options},
            workdir=RecordingWorkdir(),
            counter=lambda text: (len(text) + 3) // 4,
            checkpointer=InMemorySaver(),
        )

    def say(self, *messages: AnyMessage | str, asynchronous: bool) -> Outcome:
        return drive(self.graph, {"messages": list(messages)}, CONFIG, asynchronous=asynchronous)

    @property
    def sent(self) -> str:
        return str(self.model.payloads[-1]["input"])

    @property
    def refers_to(self) -> str | None:
        return self.model.payloads[-1].get("previous_response_id")

    @property
    def stored_ids(self) -> list[Any]:
        """Of the answers in the state."""
        messages = self.graph.get_state(CONFIG).values["messages"]
        return [m.response_metadata.get("id") for m in messages if m.type == "ai"]


LONG = "Tell me about berth {n}. " + "word " * 200
"""About 256 tokens: four turns reach the threshold of 1,024."""


@BOTH
def test_below_the_threshold_the_provider_keeps_the_history(asynchronous: bool) -> None:
    chat = Chat(system_prompt="Be kind.")
    chat.say("One", asynchronous=asynchronous)
    chat.say("Two", asynchronous=asynchronous)
    assert chat.refers_to == "resp_1"
    assert "One" not in chat.sent
    assert "Two" in chat.sent


@BOTH
def test_a_summarized_request_is_sent_whole_and_so_are_the_next(asynchronous: bool) -> None:
    chat = Chat(system_prompt="Be kind.")
    while "SUMMARY" not in chat.sent if chat.model.payloads else True:
        number = len(chat.model.payloads)
        assert number < 8
        chat.say(LONG.format(n=number), asynchronous=asynchronous)
    assert chat.refers_to is None
    assert f"berth {len(chat.model.payloads) - 1}" in chat.sent

    chat.say("And then?", asynchronous=asynchronous)

    assert chat.refers_to is None
    assert "SUMMARY" in chat.sent
    assert f"Answer {len(chat.model.payloads) - 1}" in chat.sent
    assert "And then?" in chat.sent
    assert chat.stored_ids == [f"resp_{n + 1}" for n in range(len(chat.model.payloads))]


@BOTH
def test_a_compacted_request_is_sent_whole(asynchronous: bool) -> None:
    chat = Chat()
    chat.say("One", asynchronous=asynchronous)
    call: Any = {"name": "lookup", "args": {"q": "1"}, "id": "c1", "type": "tool_call"}
    asked = AIMessage("", tool_calls=[call], response_metadata={"id": "resp_x"})
    result = ToolMessage("line of a result\n" * 400, tool_call_id="c1", name="lookup")
    seen = AIMessage("Seen", response_metadata={"id": "resp_y"})
    outcome = chat.say(asked, result, seen, HumanMessage("And now?"), asynchronous=asynchronous)
    assert [done["action"] for done in outcome.last("completed")["actions"]] == ["compacted"]
    assert chat.refers_to is None
    assert "sha256: " in chat.sent


@BOTH
def test_a_request_after_an_overflow_is_sent_whole(asynchronous: bool) -> None:
    chat = Chat(
        settings=CompressionSettings(summary_threshold=50, summary_keep_messages=2),
        refuses=lambda payload: len(payload["input"]) == 1 and "last" in str(payload),
    )
    for number in range(4):
        chat.say(LONG.format(n=number), asynchronous=asynchronous)
    outcome = chat.say("The last", asynchronous=asynchronous)
    assert outcome.last("completed")["trigger"] == "overflow"
    refused, sent = chat.model.payloads[-2:]
    assert refused["previous_response_id"] == "resp_4"
    assert "previous_response_id" not in sent
    assert "SUMMARY" in chat.sent


@BOTH
def test_a_request_with_a_digest_is_sent_whole(asynchronous: bool) -> None:
    chat = Chat(summary_model=FakeModel(answer=ValueError("down")))
    while True:
        outcome = chat.say(LONG.format(n=1), asynchronous=asynchronous)
        if outcome.events:
            break
    assert "failures" in outcome.last("completed")
    assert chat.refers_to is None


def test_after_compress_now_the_view_is_sent_whole() -> None:
    chat = Chat(settings=CompressionSettings(summary_threshold=50, summary_keep_messages=2))
    for number in range(4):
        chat.say(LONG.format(n=number), asynchronous=False)
    assert compress_thread(chat.graph, CONFIG, gate=MemoryGate()).status == "completed"
    chat.say("And then?", asynchronous=False)
    assert chat.refers_to is None
    assert "SUMMARY" in chat.sent
