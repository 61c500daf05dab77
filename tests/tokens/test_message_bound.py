"""A message counts at least what its text counts: compaction leaves small ones at a glance."""

from functools import partial
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import ToolMessage

from langgraph_compression.state.settings import Profile
from langgraph_compression.tokens.counter import MessageCounter
from langgraph_compression.tokens.estimate import estimate_tokens

TEXTS = st.text(st.sampled_from("ab AB 12\n\t  -_/.{}[]\"':,;é码字あ한ру😀"), max_size=300)


@pytest.mark.parametrize("profile", [name for name in get_args(Profile) if name != "auto"])
@given(TEXTS, st.sampled_from(["", "c", "call_abc", "  "]), st.sampled_from([None, "read", "数据"]))
def test_no_message_counts_less_than_its_text(
    profile: Profile, text: str, call_id: str, name: str | None
) -> None:
    count = partial(estimate_tokens, profile=profile)
    message = ToolMessage(text, tool_call_id=call_id, name=name)
    assert count(text) <= MessageCounter(count).message(message)
