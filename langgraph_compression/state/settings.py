"""The settings, and how a run's context overrides them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from langgraph_compression.state.prompts import CHINESE_PROMPT
from langgraph_compression.state.unknown import unknown_fields

Profile = Literal["default", "o200k", "qwen3", "llama3", "gemma3"]
"""Whose tokens are estimated; `default` lies between o200k and qwen3."""

ResultKind = Literal["knowledge_base", "web_search"]
"""Kinds of tool results that are previewed as records."""

Mode = Literal["chat", "compress"]


def _with_placeholder(prompt: str) -> str:
    if "{messages}" not in prompt:
        raise ValueError(
            "summary_prompt has no {messages}: that is where the history goes, "
            "without it the summarizer would see nothing"
        )
    return prompt


Prompt = Annotated[str, AfterValidator(_with_placeholder)]


class CompressionSettings(BaseModel):
    """How a conversation is compressed. Frozen; unknown fields are refused.

    >>> CompressionSettings(summary_threshold=8).threshold
    8192
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    summary_threshold: float = Field(
        default=100,
        gt=0,
        le=1e9,
        allow_inf_nan=False,
        description="Request size, in K tokens (x 1024), from which the context is compressed.",
    )
    summary_keep_messages: int = Field(
        default=10, ge=1, description="Preferred number of recent messages kept beside a summary."
    )
    summary_prompt: Prompt = Field(
        default=CHINESE_PROMPT,
        description="Instruction for the summarizer; {messages} is replaced by the history.",
        json_schema_extra={"format": "textarea"},
    )
    summary_tool_result_token_limit: int = Field(
        default=300,
        ge=0,
        description="Tokens a tool result may have in a compacted request; larger ones are saved "
        "to a file and previewed within this limit.",
    )
    tool_argument_char_limit: int = Field(
        default=2000,
        ge=0,
        description="Characters a string argument of the clipped tools may have in a compacted "
        "request.",
    )
    clipped_argument_tools: tuple[str, ...] = Field(
        default=("write_file", "edit_file"), description="Tools whose long arguments are clipped."
    )
    structured_result_tools: Mapping[str, ResultKind] = Field(
        default={"query_kb": "knowledge_base", "web_search": "web_search"},
        description="Tools whose results are previewed as records, with the kind of record.",
    )
    token_profile: Literal["auto"] | Profile = Field(
        default="auto", description="Whose tokens are estimated; auto chooses by the model's name."
    )
    suggestion_ratio: float = Field(
        default=0.85,
        gt=0,
        allow_inf_nan=False,
        description="Share of the threshold from which the status suggests to compress by hand.",
    )
    uncounted_usage_providers: tuple[str, ...] = Field(
        default=("siliconflow-cn", "siliconflow"),
        description="Providers whose reported usage is left out of token_usage.",
    )

    @model_validator(mode="before")
    @classmethod
    def _only_known(cls, given: Any) -> Any:
        """Name unknown fields with what may have been meant."""
        unknown = unknown_fields(given, cls.model_fields) if isinstance(given, Mapping) else {}
        if unknown:
            errors = [
                InitErrorDetails(
                    type=PydanticCustomError(
                        "extra_forbidden", "unknown field: {hint}", {"hint": hint}
                    ),
                    loc=(name,),
                    input=given.get(name),
                )
                for name, hint in unknown.items()
            ]
            raise ValidationError.from_exception_data(cls.__name__, errors)
        return given

    @property
    def threshold(self) -> int:
        """The threshold in tokens, at least 1."""
        return max(1, round(self.summary_threshold * 1024))

    def overridden(self, context: object) -> "CompressionSettings":
        """These settings with the fields that a run's context set.

        Args:
            context: The run's context: a `CompressionContext`, a host's own object with a
                field `compression`, or anything else, which changes nothing.
        """
        given = carried(context)
        if given is None:
            return self
        fields = given.model_fields_set & CompressionSettings.model_fields.keys()
        if not fields:
            return self
        return self.model_copy(update={name: getattr(given, name) for name in fields})


class CompressionContext(CompressionSettings):
    """What a client may set per run or assistant: the settings, and who answers."""

    model: str | None = Field(
        default=None, description='Chat model as "provider:name", for example "openai:gpt-5".'
    )
    summary_model: str | None = Field(
        default=None,
        description='Model that summarizes, as "provider:name"; "extractive" uses no model.',
    )
    system_prompt: str | None = Field(default=None, description="System prompt of the chat model.")
    mode: Mode = Field(
        default="chat", description="compress: compress the thread now, without an answer."
    )


def carried(context: object) -> CompressionContext | None:
    """The compression context of a run, also when a host's context carries it.

    Raises:
        pydantic.ValidationError: The field `compression` of a host's context is not valid.
    """
    if isinstance(context, CompressionContext):
        return context
    inner: Any = (
        context.get("compression")
        if isinstance(context, Mapping)
        else getattr(context, "compression", None)
    )
    if inner is None or isinstance(inner, CompressionContext):
        return inner
    if isinstance(inner, CompressionSettings):
        inner = inner.model_dump(include=inner.model_fields_set)
    return CompressionContext.model_validate(inner)
