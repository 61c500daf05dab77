"""The request in preparation on its way through a channel, and the state that a node reads.

LangGraph's streams show what each node reads and writes (`updates`, `values`, `tasks`, `debug`,
events). Both show themselves there in small: a client need not download the context anew at
each node.
"""

from collections.abc import Mapping
from dataclasses import make_dataclass
from typing import Any, cast, get_type_hints

from langgraph_compression.state.schema import CompressionState, RequestView


class PreparedRequest:
    """The request in preparation, as a node hands it to the next one.

    In JSON, in a stream or pickled it is what was done and how large the request is. A copy
    that was pickled has no view: it is built anew from the state.

    Args:
        parts: What is known of the request.

    >>> PreparedRequest({"messages": [], "trigger": "threshold"})
    PreparedRequest({'messages': 0, 'trigger': 'threshold'})
    """

    __slots__ = ("parts",)

    def __init__(self, parts: RequestView) -> None:
        self.parts = parts

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """What it shows of itself: the name by which serializers ask."""
        shown: dict[str, Any] = dict(self.parts)
        if "messages" in shown:
            shown["messages"] = len(shown["messages"])
        if "refusal" in shown:
            shown["refusal"] = str(shown["refusal"])
        for long in ("failures", "unsaved"):
            if shown.get(long):
                shown[long] = len(shown[long])
        return shown

    def __repr__(self) -> str:
        """In small."""
        return f"PreparedRequest({self.model_dump()})"

    def __reduce__(self) -> tuple[type["PreparedRequest"], tuple[RequestView]]:
        """Without the view, which is as long as the thread, and the provider's error."""
        left_out = {"messages", "reading", "shaped", "refusal"}
        parts = {key: value for key, value in self.parts.items() if key not in left_out}
        return PreparedRequest, (cast("RequestView", parts),)


def parts_of(state: Mapping[str, Any]) -> RequestView:
    """What is known of the request that the nodes before prepared; empty at the start."""
    request = state.get("_request")
    return request.parts if isinstance(request, PreparedRequest) else {}


class _Channels:
    """The channels that a node reads. A dataclass, because LangGraph makes one of the channels.

    What serializers find in it are the names and sizes of channels that are as long as the
    thread, and all of the others.
    """

    def __init__(self, **channels: Any) -> None:
        self._channels = channels
        vars(self).update(channels, messages=len(channels.get("messages") or ()))

    def __repr__(self) -> str:
        """In small."""
        shown = {key: value for key, value in vars(self).items() if not key.startswith("_")}
        return f"NodeState({shown})"

    @property
    def values(self) -> CompressionState:
        """The state, by channel."""
        return cast("CompressionState", self._channels)


NodeState = make_dataclass(
    "NodeState",
    [
        (name, hint, None)
        for name, hint in get_type_hints(CompressionState, include_extras=True).items()
    ],
    bases=(_Channels,),
    init=False,
    repr=False,
    eq=False,
)
"""`CompressionState` as the nodes read it."""
NodeState.__module__ = __name__  # make_dataclass takes it from Python 3.12 on
