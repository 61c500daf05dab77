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

# Numbers after the providers' public tables: Zhipu docs.bigmodel.cn/cn/api/api-code, MiniMax
# platform.minimax.io/docs/api-reference/errorcode, Qianfan ai.baidu.com (WENXINWORKSHOP, error
# codes), Spark xfyun.cn/doc/spark. Those of the general kind "invalid parameter" (Zhipu 1210 and
# 1214, MiniMax 2013, SiliconFlow 20015, Mistral 3051) say nothing: their texts are judged.
RATE_CODE = _any_of(
    r"rate_?limit|throttl|quota|too_?many_?requests|limit_requests|resource_?exhausted",
    r"billing|balance|credit|insufficient|overload|server_?busy",
    r"^(130[2-5]|1308|131[023]|1113)$",  # Zhipu: rate, daily and weekly limits, arrears
    r"^(1002|1008|1039|1041|2045|2056)$",  # MiniMax: requests, balance, tokens per minute, plan
    r"^(10007|1120[0-3])$",  # Spark: one at a time, daily, per second, concurrent
)
OTHER_CODE = _any_of(
    r"content_?(filter|policy|management)|data_?inspection|moderation|safety|sensitive",
    r"authenticat|unauthori[sz]ed|permission|api_?key|not_found|time_?out|deadline",
    r"unsupported_(parameter|value)",
    r"string_?(above|too|exceeds)",  # OpenAI, pydantic: one string, not the context
    r"^(1301|102[67]|1001[349])$",  # Zhipu, MiniMax, Spark: refused contents
)
OVERFLOW_CODE = _any_of(
    r"context_?(length|window|size|limit|tokens?)?_?\w*(exceed|overflow|reached|too_long|error)",
    r"exceeds?_?(ed_)?(max_|the_)*context|out_?of_?context",
    r"(prompt|input|messages?|characters?)_?(tokens?_)?(is_)?too_?(long|large)",
    r"^(tokens_too_long|token_limit_exceeded)$",  # Qianfan and UCloud, Glean
    r"max_prompt_tokens_exceeded",  # GitHub Copilot
    r"^(tokens_limit_reached|request_too_large)$",  # GitHub Models, Anthropic
    r"^(1261|336007|336103|10907)$",  # Zhipu, Qianfan (characters, tokens), Spark
)

INVALID_CODE = _any_of(r"invalid_?(request|argument|param)|bad_?request|validation")

# -- HTTP statuses ----------------------------------------------------------------------------

OTHER_STATUS = frozenset({401, 402, 403, 404, 408})
"""Rights, money, time. 200 and 5xx say nothing: overflows arrive with them as well."""
INVALID_STATUS = frozenset({400, 413, 422})
WAITING_STATUS = frozenset({429, 529})
"""Waiting, unless the text speaks of the context: some gateways give everything this status."""

# -- a refusal without a reason ---------------------------------------------------------------

SILENT_PROVIDER = _any_of(r"cerebras|vertex|google")
"""Cerebras answers a large request with a bare 400 or 413 (public clients' lists of wordings);
Google's client may throw the reason away."""
BARE_STATUS = frozenset({400, 413})
BARE_CODE = _any_of(r"^(none|bad_?request(_error)?|invalid_?(request|argument)(_error)?)?$")
BARE_WORDS = _any_of(
    r"\b(40[0]|413|error|code|http|https|status|client|server|api|request|bad|entity|payload|too"
    r"|large|content|failed|with|for|url|no|body|none|null|message|the|an?|google|vertex(ai)?"
    r"|cerebras|more|information|check|response|was|returned|provider)\b",
)

# -- texts that rule an overflow out ----------------------------------------------------------

RATE = _any_of(
    r"rate[ _-]?limit|too many requests|too frequent|throttl|overloaded|\b[TRQ]P[MDS]\b",
    r"(\bper[ -]|/ ?|\bevery )(min\b|minute|hour|day|second|month)",
    r"\b(daily|hourly|weekly|monthly)\b",
    r"\b(please|and) wait\b|\bwait before\b|\b(try again|retry) (in|after) ?\d",
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

SINGLE_STRING = _any_of(
    r"\bstrings? (is |was )?(too long|longer than|exceeds)|\bstring should have at most",
    r"\bstring\b[^.;\n]{0,40}\b(exceed\w*|above|longer than)[^.;\n]{0,20}\bmax",
    r"\b(messages?|inputs?|contents?)(\[\d+\]|\.\d+\b)[\w.\[\]'`\"]{0,60}+[^;\n]{0,40}"
    r"\b(too long|exceed\w*|longer than|at most)",
)
"""One field above the protocol's maximum of characters: not the context."""

# -- texts that make an overflow --------------------------------------------------------------

NOTHING_LEFT = _any_of(r"max_(completion_)?tokens must be at least 1, got -\d")
"""vLLM: the prompt takes the window, less than nothing is left. No `max_tokens` error."""

# A text that names the limit (LIMIT) and any excess (EXCESS) is an overflow.
LIMIT = _any_of(
    r"context[ _-]?(length|window|size|limit|budget)|\bn_ctx(_\w+)?\b",
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

TOO_LONG = _any_of(
    r"\b(prompt|input|conversation|messages)( is| are| was| were| has grown)? (too|very) long\b",
    r"\breduce the length of (the |your )?(messages|prompt|input)",
    r"\b(prompt|input)( length| size)? exceed\w* max|\bexceeded model token limit",
)
"""Believed even where the status says to wait."""

# A request and a limit, both in tokens, see `overflow_numbers.py`: only if it is about these.
TOKENS = _any_of(r"(?<![A-Za-z])tokens?(?![A-Za-z])|\binput_ids\b|令牌|\bcontext\b|上下文")
INPUT = _any_of(
    r"(?<![A-Za-z])(inputs?|prompts?|messages?|requests?|context|conversation|history|query"
    r"|you sent)(?![A-Za-z])"
    r"|输入|请求|提示|上下文"
)
OUTPUT = _any_of(
    r"\b(outputs?|completions?|answers?|repl(y|ies)|max_(new_|output_|completion_)?tokens"
    r"|generated?[ -](tokens?|text|\d+)"
    r"|respon[sd]\w* (of|has|have|had|tokens?|length|exceed\w*)|return(s|ed) \d+)\b"
    r"|输出|生成|回复"
)
OTHER_SUBJECT = _any_of(
    r"\b(accounts?|plans?|subscriptions?|organi[sz]ations?|trial|tier|team|workspace|project"
    r"|usage|spend\w*|remaining|left|so far|today)\b",
    r"\b(tools?|functions?) (descriptions?|names?|schemas?|definitions?|results?|outputs?|calls?)",
    r"\b(metadata|descriptions?|fields?|files?|documents?|chunks?|images?|audio|videos?|cach\w+"
    r"|thinking|reasoning|budget_tokens|training|fine-?tun\w+|minimum)\b",
    r"\b(must|should) (be|have|contain) at least",
    r"\b(tool|function|batch|\w*queued|logit_bias|stop)\b|图片|文件|音频|视频|函数|参数|账户|套餐",
)

# So is one that says it of the input, with nothing but measures in between.
_INPUT = (
    r"(?<!image )(?<!file )"
    r"\b(prompts?|inputs?|messages?|conversation|history|query|tokens?|context)\b"
)
_MEASURES = (
    r"([\s,:()'`+\d]++|\b(length|size|count|tokens?|contents?|text|total|sum|number|of|is|are|was|has|have"
    r"|request|grown|become|would|will|can|cannot|should|must|not|the|this|and|plus|in|all|your|you|submitted|which|max_\w+)\b){0,16}"
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
    r"exceed\w* [^.;\n]{0,30}\b(token limit"
    r"|max(imum)? (number of )?(message|input|prompt) tokens)",
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
    # OpenAI: the list of messages above the protocol's own maximum.
    r"invalid '(messages|input)': array too long",
    r"\bprompt overflow\b|\bmax(imum)? (input|prompt) tokens? (count )?(limit )?exceeded",
)

# A Chinese clause is one if it is about the input, its length and too much of it, and about
# nothing else.
CHINESE = (
    _any_of(r"输入|提示|上下文|消息|对话|会话|历史|文本|内容|请求|prompt|token"),
    _any_of(r"长|上下文|token|字数|字符|窗口"),
    _any_of(r"超过|超出|超长|超限|超了|大于|过长|太长|过大|溢出|达到.{0,6}上限"),
)
CHINESE_OTHER = _any_of(r"图片|图像|文件|音频|视频|函数|参数|名称|超时|时长|时间|等待")
