"""The words of a digest in two languages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """The digest's own words in one language."""

    head: str
    earlier: str
    requests: str
    decisions: str
    files: str
    tools: str
    errors: str
    open: str
    last: str
    answer: str
    omitted: str
    shortened: str
    failed: str
    no_result: str
    later_ok: str
    unanswered: str
    asked: str
    task: str


ENGLISH = Words(
    head="Extract of {messages} messages ({requests} requests, {calls} tool calls), no rewriting. "
    "Quoted lines start with >.",
    earlier="Earlier summary",
    requests="Requests of the user",
    decisions="Decisions the assistant told",
    files="Files touched (latest first)",
    tools="Tools used",
    errors="Errors (latest last)",
    open="Open at the end of this part",
    last="Last state: the assistant's last text",
    answer="answered: ",
    omitted="{n} left out",
    shortened="{n} characters left out",
    failed="failed",
    no_result="no result",
    later_ok="the same call succeeded later",
    unanswered="The last request has no answer yet.",
    asked="The assistant asked: ",
    task="to do: ",
)
CHINESE = Words(
    head="以下摘录自 {messages} 条消息（用户请求 {requests} 条，工具调用 {calls} 次），未经改写；"
    "以 > 开头的行是原文。",
    earlier="先前的摘要",
    requests="用户的请求",
    decisions="助手说明的决定",
    files="涉及的文件（最近的在前）",
    tools="使用的工具",
    errors="错误（最近的在后）",
    open="到此为止尚未完成",
    last="最后的状态：助手的最后一段话",
    answer="答复：",
    omitted="略去 {n} 条",
    shortened="略去 {n} 字符",
    failed="失败",
    no_result="无结果",
    later_ok="之后同样的调用已成功",
    unanswered="最后一条请求尚未答复。",
    asked="助手问：",
    task="待办：",
)


_HAN = re.compile(r"[\u4e00-\u9fff]")
# Words of a language, not parts of paths, names and code.
_WORD = re.compile(r"(?<![\w./`-])[^\W\d_\u4e00-\u9fff]+(?![\w./`(-])")


def words_for(said: Sequence[str]) -> Words:
    """The language of most of the texts, by the first and the last twenty.

    A text is Chinese if it has half as many Chinese characters as words: Chinese users name
    things in English, English users rarely anything in Chinese.
    """
    sample = [text[:500] for text in [*said[:20], *said[-20:]]]
    chinese = sum(map(_is_chinese, sample))
    return CHINESE if chinese and 2 * chinese >= len(sample) else ENGLISH


def _is_chinese(text: str) -> bool:
    characters = len(_HAN.findall(text))
    return characters > 0 and 2 * characters >= len(_WORD.findall(text))
