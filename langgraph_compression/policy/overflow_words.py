"""The words by which providers say, or do not say, that a request is too large.

A pattern names a kind of wording, not one message; a provider is named where the wording is
its own. `overflow.py` asks them in order: codes before texts, and at each step what rules an
overflow out before what makes one.
"""

import re


def _any_of(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


# -- names of exception classes ---------------------------------------------------------------

OVERFLOW_CLASS = _any_of(
    r"context(length|window|size|limit|token)?(overflow|exceeded|toolong)",
    r"outofcontext|(prompt|input)toolong",
)

# -- codes, in lower case with words joined by _ ----------------------------------------------

RATE_CODE = _any_of(
    r"rate_?limit|throttl|quota|too_?many_?requests|limit_requests|resource_?exhausted",
    r"billing|balance|credit|insufficient|overload|server_?busy",
    r"^(1002|1039)$",  # MiniMax: requests, tokens per minute
)
OTHER_CODE = _any_of(
    r"content_?(filter|policy|management)|data_?inspection|moderation|safety|sensitive",
    r"authenticat|unauthori[sz]ed|permission|api_?key|not_found|time_?out|deadline",
    r"unsupported_(parameter|value)",
)
OVERFLOW_CODE = _any_of(
    r"context_?(length|window|size|limit|tokens?)_?\w*(exceed|overflow|reached|too_long|error)",
    r"exceeds?_?(ed_)?(max_|the_)*context|out_?of_?context",
    r"(prompt|input|messages?|characters?)_?(tokens?_)?(is_)?too_?(long|large)",
    r"max_prompt_tokens_exceeded",  # GitHub Copilot
    r"^(tokens_limit_reached|request_too_large)$",  # GitHub Models, Anthropic
    r"^(1261|336007|336103|10907)$",  # Zhipu, Qianfan (characters, tokens), Spark
)

# -- HTTP statuses ----------------------------------------------------------------------------

OTHER_STATUS = frozenset({401, 402, 403, 404, 408, 429, 529})
"""Rights, money, waiting. 200 and 5xx say nothing: overflows arrive with them as well."""

# -- texts that rule an overflow out ----------------------------------------------------------

RATE = _any_of(
    r"rate[ _-]?limit|too many requests|too frequent|throttl|overloaded|\b[TRQ]P[MDS]\b",
    r"(\bper[ -]|/ ?|\bevery )(min\b|minute|hour|day|second|month)",
    r"\b(daily|hourly|weekly|monthly)\b",
    r"quota|billing|credit balance|more credits|only afford",
    r"insufficient (balance|credit|fund)",
    r"频繁|频率|限流|并发|每分钟|每秒|每小时|每天|每日|配额|额度|余额|欠费",
)
POLICY = _any_of(
    r"content (management|filter|polic)|usage polic|safety|moderation|inappropriate",
    r"flagged|harmful|\bsensitive\b|违规|敏感|审核|不合规",
)
MACHINE = _any_of(
    r"(insufficient|out of|not enough|more) (\w+ )?memory|显存|内存|kv cache",
    r"(failed to load|failed to allocate|tried to allocate|unable to allocate)",
    r"recursion depth|deadline exceeded",
    r"\bembedding",  # a tool's request, not the chat model's
)

OUTPUT_TOKENS = (
    r"[`'\"]?\bmax(imum)?[ _]?((output|completion|new|generated?)[ _]?)?"
    r"tokens(_to_sample)?\b[`'\"]?"
)
_ALONE = r"(?<![`'\"])(?<!\+ )(?<!and )(?<!plus )(?<!or )(?<!smaller )(?<!fewer )"
OUTPUT_PARAMETER = _any_of(
    # "max_tokens is too large", but not "input length and max_tokens exceed".
    rf"{_ALONE}{OUTPUT_TOKENS}( or {OUTPUT_TOKENS})?( (value|parameter|you requested|requested))?"
    r"( of)?[ :,]*(\d+|input should|is|are|must|should|can ?not|exceeds?\b|larger|greater|the valid"
    r"|超|过大|不能|应|必须|取值)",
    rf"(invalid|range of|unsupported parameter|value of|supported values? for)[: ]*{OUTPUT_TOKENS}",
    rf"{_ALONE}\b(output|completion) tokens? (limit|exceed)|tokens? value that is lower",
)

# -- texts that make an overflow --------------------------------------------------------------

NOTHING_LEFT = _any_of(r"max_(completion_)?tokens must be at least 1, got -\d")
"""vLLM: the prompt takes the window, less than nothing is left. No `max_tokens` error."""

# A text that names the limit (LIMIT) and any excess (EXCESS) is an overflow.
LIMIT = _any_of(
    r"context[ _-]?(length|window|size|limit|budget)|\bn_ctx\b",
    r"(max(imum)?|model'?s?) (allowed )?(context|prompt|input|model|sequence)"
    r"( token)?( length| size| limit)?\b",
    r"max_(seq_len|model_len|context_length|input_tokens|prompt_tokens|input_length)",
)
EXCESS = _any_of(
    r"exceed|overflow|reached|beyond|out of|too (long|large|big|many|small)",
    r"(long|great|larg|bigg)er than|more than|less than|> ?\w",
    r"reduc|shorte|truncat|not enough|not fit|you requested|requested total",
    r"(request|prompt|input|messages?) (has|have|contains?|resulted in)\b",
)

# So is one that says it of the input, with nothing but measures in between.
_INPUT = (
    r"(?<!image )(?<!file )"
    r"\b(prompts?|inputs?|messages?|conversation|history|query|tokens?|context)\b"
)
_MEASURES = (
    r"([\s,:()'`+\d]++|\b(length|size|count|tokens?|contents?|text|total|sum|number|of|is|are|was|has|have"
    r"|grown|become|would|will|can|cannot|should|must|not|the|this|and|plus|in|all|your|you|submitted|which|max_\w+)\b){0,16}"
)
OVERFLOW = _any_of(
    rf"{_INPUT}{_MEASURES}\b(too|very) (long|large|big)",
    rf"{_INPUT}{_MEASURES}"
    r"\b(exceed\w*|surpass\w*|above|over|beyond|more than|(long|great|larg)er than)"
    r"[^.;\n]{0,30}?\b(max\w*|limit\w*|context|window|length|allowed|number|total|\d{3,})",
    rf"{_INPUT}{_MEASURES}\bmust (be|have) (<=?|less than|at most|no more than|fewer than|under)",
    r"\brequest\b[^.;\n]{0,40}\bexceed\w*[^.;\n]{0,40}"
    r"\b(tokens?|context|prompt|input|maximum size)\b",
    r"\brequest( body| size)? (is )?too ((large|big) for|long)\b",
    r"\brequested \d+ tokens[^.;\n]{0,30}\b(max(imum)?|limit)( is| of|:)? \d",
    r"exceed\w* [^.;\n]{0,30}\b(token limit|max(imum)? (message|input|prompt) tokens)",
    r"\b(input|prompt|token|(input|prompt)[ _]tokens?)[ _](length |size )?limit[ _]"
    r"((is|was|has been) )?(exceeded|reached)",
    r"\btoo many (\w+ )?(tokens|characters|text bytes)",
    r"\bmodel max length exceeded",  # Moonshot
    r"\bcontext ((length|window|size) )?(is |was )?"
    r"(overflow\w*|exceeded|too long|too large|full)\b",
    # A limit with its value, told for no other reason than that it was passed.
    r"\bmax(imum)? (context|prompt|model|sequence|input) (length|size) (is|of) \d",
    r"\brange of input length|input length should be|max input characters",  # DashScope, Qianfan
    r"\b(input|prompt) token count (is|of) \d+.{0,30}(supports?|up to|only)",  # Vertex
    r"\d tokens? ?> ?\d",  # Anthropic
    # The remedy.
    r"(reduce|shorten|decrease|trim) ((the|your) )?((length|size|number|amount) )?"
    r"(of )?((the|your) )?(input )?(messages?|prompts?|input|conversation|history|context)\b",
    r"\b(provide|use|try)( using)? (a )?shorter (input|prompt|conversation)",
    # OpenAI: a message's text, or the list of messages, above the protocol's own maximum.
    r"invalid '(messages|input)(\[\d+\])?(\.(content|output)[^']*)?': (string|array) too long",
)

# A Chinese clause is one if it is about the input, its length and too much of it, and about
# nothing else.
CHINESE = (
    _any_of(r"输入|提示|上下文|消息|对话|会话|历史|文本|内容|请求|prompt|token"),
    _any_of(r"长|上下文|token|字数|字符|窗口"),
    _any_of(r"超过|超出|超长|超限|超了|大于|过长|太长|过大|溢出|达到.{0,6}上限"),
)
CHINESE_OTHER = _any_of(r"图片|图像|文件|音频|视频|函数|参数|名称|超时|时长|时间|等待")
