"""Write `long-session.jsonl`: a long working day of one developer with an assistant.

The people, the shop and all data are invented. The text of the day is below; results of tools
are made of it by small functions, with a fixed seed, so that the file is the same each time.

    python examples/make_session.py
"""

import json
import random
from pathlib import Path
from typing import Any

RANDOM = random.Random(20260314)
MESSAGES: list[dict[str, Any]] = []
FILES: dict[str, str] = {}


def user(text: str) -> None:
    MESSAGES.append({"role": "user", "content": text})


def assistant(text: str) -> None:
    MESSAGES.append({"role": "assistant", "content": text})


def call(said: str, *calls: tuple[str, dict[str, Any], str]) -> None:
    """One assistant message with calls, and their results."""
    first = len(MESSAGES)
    ids = [f"call_{first}_{number}" for number in range(len(calls))]
    MESSAGES.append(
        {
            "role": "assistant",
            "content": said or None,
            "tool_calls": [
                {
                    "id": call_id,
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(args, ensure_ascii=False)},
                }
                for call_id, (name, args, _) in zip(ids, calls, strict=True)
            ],
        }
    )
    for call_id, (_, _, result) in zip(ids, calls, strict=True):
        MESSAGES.append({"role": "tool", "tool_call_id": call_id, "content": result})


# -- what tools answer


def read(path: str) -> tuple[str, dict[str, Any], str]:
    return "read_file", {"path": path}, FILES[path]


def write(path: str, text: str) -> tuple[str, dict[str, Any], str]:
    FILES[path] = text
    return "write_file", {"path": path, "content": text}, f"Wrote {len(text)} characters to {path}."


def edit(path: str, old: str, new: str) -> tuple[str, dict[str, Any], str]:
    if FILES[path].count(old) != 1:
        return (
            "edit_file",
            {"path": path, "old_text": old, "new_text": new},
            f"Error: old_text stands {FILES[path].count(old)} times in {path}, it must stand once",
        )
    FILES[path] = FILES[path].replace(old, new)
    return "edit_file", {"path": path, "old_text": old, "new_text": new}, f"Edited {path}."


def tests(path: str, passed: int, failed: dict[str, str]) -> tuple[str, dict[str, Any], str]:
    lines = [f"$ pytest {path} -q"]
    names = ["reserves_stock", "releases_on_cancel", "splits_shipments", "rejects_negative"]
    names += ["keeps_order", "rounds_half_even", "retries_once", "logs_the_sku", "is_idempotent"]
    for number in range(passed):
        lines.append(f"{path}::test_{names[number % len(names)]}[{number:02d}] PASSED")
    for name, error in failed.items():
        lines += [
            f"{path}::{name} FAILED",
            "",
            f"____ {name} ____",
            "Traceback (most recent call last):",
        ]
        for depth in range(RANDOM.randint(3, 6)):
            module = RANDOM.choice(["stock/reserve.py", "stock/ledger.py", "api/orders.py"])
            lines.append(f'  File "{module}", line {RANDOM.randint(20, 240)}, in step_{depth}')
        lines.append(error)
    lines.append(f"{len(failed)} failed, {passed} passed in {RANDOM.uniform(0.8, 9):.2f}s")
    return "run_tests", {"path": path}, "\n".join(lines)


def log(service: str, count: int, odd: str) -> tuple[str, dict[str, Any], str]:
    lines = []
    at = RANDOM.randint(0, 3600)
    for number in range(count):
        at += RANDOM.randint(1, 9)
        level = RANDOM.choice(["INFO"] * 6 + ["DEBUG"] * 2 + ["WARN"])
        what = RANDOM.choice(
            [
                f"order {RANDOM.randint(10000, 99999)} reserved in {RANDOM.randint(2, 90)} ms",
                f"GET /stock/{RANDOM.choice('ABCDEF')}{RANDOM.randint(100, 999)} 200",
                f"warehouse feed {RANDOM.choice(['hamburg', 'suzhou', 'lyon'])} lag={RANDOM.random():.3f}s",
                f"cache miss sku={RANDOM.randint(1000, 9999)}",
            ]
        )
        lines.append(f"2026-03-14T09:{at // 60 % 60:02d}:{at % 60:02d}Z {level:5} {service} {what}")
        if number == count * 2 // 3:
            lines.append(odd)
    return "read_log", {"service": service, "lines": count}, "\n".join(lines)


def kb(query: str, facts: list[tuple[str, str]]) -> tuple[str, dict[str, Any], str]:
    results = [
        {
            "id": f"chunk-{RANDOM.randint(1000, 9999)}",
            "kb_id": "kb-operations",
            "file_id": f"file-{RANDOM.randint(100, 999)}",
            "content": f"{text} " + _around(title, text),
            "score": round(0.95 - 0.07 * number, 3),
            "metadata": {"source": f"handbook/{title}.md", "chunk_index": RANDOM.randint(0, 40)},
        }
        for number, (title, text) in enumerate(facts)
    ]
    found = {"status": "ok", "total": len(results) + RANDOM.randint(3, 30), "results": results}
    return (
        "query_kb",
        {"query": query, "kb_id": "kb-operations"},
        json.dumps(found, ensure_ascii=False),
    )


def web(query: str, facts: list[tuple[str, str]]) -> tuple[str, dict[str, Any], str]:
    results = [
        {
            "title": title,
            "url": f"https://docs.example/{title.lower().replace(' ', '-')}?v={RANDOM.randint(10, 99)}",
            "site": "docs.example",
            "published": f"2026-0{RANDOM.randint(1, 3)}-{RANDOM.randint(10, 28)}",
            "content": f"{text} " + _around(title, text),
            "score": round(0.9 - 0.08 * number, 3),
        }
        for number, (title, text) in enumerate(facts)
    ]
    return (
        "web_search",
        {"query": query},
        json.dumps({"results": results, "took": 213}, ensure_ascii=False),
    )


def _around(title: str, text: str) -> str:
    """What else stands on such a page: enough to make a result as long as real ones."""
    words = [word for word in text.split() if len(word) > 3] or list(text)
    lines = []
    for number in range(RANDOM.randint(6, 14)):
        one, two, three = (RANDOM.choice(words) for _ in range(3))
        lines.append(
            RANDOM.choice(
                [
                    f"Section {number + 1} of {title} describes how {one} relates to {two}.",
                    f"In release 4.{RANDOM.randint(0, 9)} the default for {one} changed; see {two}.",
                    f"Teams that rely on {two} should check {three} first.",
                    f"示例 {number + 1}：先检查 {one}，再处理 {three}。",
                    f"Known limit: {one} is evaluated before {two} unless {three} is set.",
                ]
            )
        )
    return " ".join(lines)


def module(name: str, functions: list[tuple[str, str, str]]) -> str:
    """Source of a module: (function, parameters, what it does)."""
    parts = [f'"""{name}: part of the stock service."""', "", "from decimal import Decimal", ""]
    for function, parameters, what in functions:
        number = RANDOM.randint(2, 9)
        parts += [
            "",
            f"def {function}({parameters}):",
            f'    """{what}"""',
            f"    limit = {number * 10}",
            "    found = []",
            f"    for row in rows_of({parameters.split(':')[0].split(',')[0]}):",
            '        if row["state"] == "open" and len(found) < limit:',
            '            found.append({"sku": row["sku"], "quantity": Decimal(row["quantity"])})',
            "    if not found:",
            f'        raise LookupError("{function}: nothing to do")',
            f'    return sorted(found, key=lambda item: item["sku"])[:{number}]',
        ]
    return "\n".join(parts) + "\n"


# -- the day

AREAS = [
    # area, what the user wants, language, what goes wrong, what was decided
    ("reserve", "Stock reserved twice when the shop retries a request", "en",
     "AssertionError: reserved 4, expected 2", "the idempotency key is the order line, not the request"),
    ("ledger", "账本的余额和仓库的库存对不上，差 17 件", "zh",
     "ValueError: ledger off by 17 (SKU C417)", "以仓库盘点为准，账本只追加更正分录，不改旧分录"),
    ("shipments", "Split an order into shipments by warehouse, fewest parcels first", "en",
     "KeyError: 'lyon'", "a warehouse without a feed counts as empty, it is not an error"),
    ("returns", "退货要在 24 小时内重新上架，但质检不合格的不行", "zh",
     "AssertionError: damaged item was put back on sale", "质检状态为空时按不合格处理"),
    ("prices", "Prices in the export have three decimals for JPY", "en",
     "decimal.InvalidOperation: quantize result has too many digits", "round half even at the currency's own exponent"),
    ("feeds", "The Suzhou feed is late every night at 02:00", "en",
     "TimeoutError: feed suzhou after 30 s", "retry twice with 5 and 20 seconds, then page the operator"),
    ("search", "商品搜索对全角数字没有结果", "zh",
     "AssertionError: query '１２３' found 0 of 3", "入库和查询都先做 NFKC 规范化"),
    ("invoices", "Invoice numbers must have no gaps, even when a payment fails", "en",
     "IntegrityError: duplicate key value 2026-000418", "the number is drawn when the invoice is final, under the same lock"),
    ("alerts", "Too many alerts for low stock, people ignore them", "en",
     "AssertionError: 41 alerts, expected at most 5", "one digest per team and hour, critical SKUs at once"),
    ("permissions", "外包客服不能看到采购价", "zh",
     "AssertionError: field cost_price visible for role support-ext", "字段级权限在序列化时检查，默认拒绝"),
    ("migration", "Move orders of 2024 to the archive table without downtime", "en",
     "OperationalError: canceling statement due to lock timeout", "batches of 500 rows, 200 ms pause, resumable by the last id"),
    ("report", "月度报表要按仓库和品类汇总，还要能导出 CSV", "zh",
     "MemoryError in export_rows", "逐行流式导出，不在内存里拼整个文件"),
    ("cache", "The stock page shows old numbers for up to a minute", "en",
     "AssertionError: stale value 12, ledger says 9", "invalidate on write, keep 5 seconds as upper bound"),
]  # fmt: skip

ASKS = {
    "en": (
        "{want}. Look at {path} first, please, and tell me what you think before you change anything.",
        "Go on. Keep the public names as they are, other teams import them.",
        "Does this also hold on Sundays, when only Hamburg works?",
        "Good. What is still open here?",
    ),
    "zh": (
        "{want}。先看 {path}，改动之前告诉我你的判断。",
        "可以，继续。公开的函数名不要改，别的组在用。",
        "周日只有汉堡仓上班，这种情况也成立吗？",
        "好。这一块还有什么没做完？",
    ),
}


def area(number: int, name: str, want: str, language: str, error: str, decision: str) -> None:
    zh = language == "zh"
    path, check = f"stock/{name}.py", f"tests/test_{name}.py"
    asks = ASKS[language]
    FILES[path] = module(
        path,
        [
            (f"load_{name}", "warehouse: str", f"Rows of {name} for one warehouse."),
            (f"check_{name}", "order: dict", f"Whether an order may go through {name}."),
            (f"apply_{name}", "order: dict, now: float", f"Apply {name} to an order at a time."),
            (f"undo_{name}", "order: dict", f"Take back what apply_{name} did."),
        ][: 2 + number % 3],
    )
    user(asks[0].format(want=want, path=path))
    call("先读代码和相关测试。" if zh else "I read the module and look for rules about it.",
         read(path),
         kb(f"{name} {'规则' if zh else 'rules'}",
            [(f"{name}-rules", decision + ("。" if zh else ".")),
             (f"{name}-incidents", f"Incident {RANDOM.randint(200, 900)}: {error}. Fixed by hand at night."),
             ("glossary", "SKU, parcel, shipment, feed, ledger: what each word means here."),
             (f"{name}-history", f"Before 2025 {name} was part of the shop; the names come from there.")]))  # fmt: skip
    assistant(
        f"我的判断：问题在 apply_{name} 没有检查状态，{error} 就是这样来的。建议：{decision}。要我这样改吗？"
        if zh
        else f"I think {path} trusts its caller too much: that is where {error!r} comes from. "
        f"My proposal: {decision}. Shall I do it this way?"
    )
    user(asks[1])
    old = f'raise LookupError("load_{name}: nothing to do")'
    call(
        "",
        edit(path, old, f"return []  # {decision}"),
        tests(check, 6 + number, {f"test_{name}_twice": error}),
    )
    if number % 3 == 0:
        call("还有一个测试没过，看日志。" if zh else "One test still fails. I look at the log of last night.",
             log(f"stock-{name}", 60 + 12 * number, f"2026-03-14T09:41:07Z ERROR stock-{name} {error} order=5{number}117"))  # fmt: skip
    if number % 2:
        call("",
             web(f"python {name} best practice {'中文' if zh else ''}".strip(),
                 [(f"{name} in practice", f"The usual answer: {decision}."),
                  ("Decimal and money", "Use Decimal with an explicit context; never floats."),
                  ("Idempotent consumers", "Store the key with the effect, in one transaction."),
                  ("Advisory locks", "A lock that dies with its session needs no clean-up.")]),
             kb(f"{name} owner", [("teams", f"{name} belongs to team {RANDOM.choice(['Kiel', '杭州', 'Nantes'])}."),
                                  ("on-call", "The on-call rota is in the wiki, page 14.")]))  # fmt: skip
    body = FILES[path] + "\n\n" + module(
        f"{name} helpers", [(f"{name}_{part}", "order: dict", f"{decision}: {part}.")
                            for part in ("key", "lock", "audit", "retry")[: 2 + number % 3]]
    )  # fmt: skip
    call("我把修正写进文件。" if zh else "I write the corrected module.", write(path, body))
    call("", tests(check, 9 + number, {}), ("git_diff", {"path": path}, "\n".join(
        ("+" if number % 2 else "-") * 1 + line for line in body.splitlines()[:40])))  # fmt: skip
    assistant(
        f"{path} 已改好，{check} 全部通过。决定：{decision}。"
        if zh
        else f"{path} is done, {check} passes. Decision recorded: {decision}."
    )
    user(asks[2])
    call("", kb("sunday operations", [("calendar", "On Sundays only the Hamburg warehouse ships, 08:00 to 14:00."),
                                      ("holidays", "苏州仓春节停运七天。")]))  # fmt: skip
    assistant(
        "成立：没有数据的仓库按空仓处理，周日只剩汉堡，逻辑不变。我加了一个测试。"
        if zh
        else "Yes. A warehouse that does not work that day has no rows, and no rows is a case the code knows. "
        "I added a test for a Sunday."
    )
    call("", edit(path, f"def check_{name}(order: dict):", f"def check_{name}(order: dict):  # also on Sundays"),
         tests(check, 10 + number, {}))  # fmt: skip
    user(asks[3])
    assistant(
        f"还剩：{name} 的监控面板，以及把 undo_{name} 的审计日志补上。都不影响今天上线。"
        if zh
        else f"Open: a dashboard for {name}, and the audit log of undo_{name}. Neither blocks today's release."
    )
    if number == 4:
        user(
            "Correction: JPY has no decimals at all, I said it wrong this morning. Fix the rule and the note."
        )
        call("", edit(path, "limit = ", "exponent = 0\n    limit = "), tests(check, 12, {}))
        assistant(
            "The first edit was ambiguous and refused. I use the exponent table of the currency instead."
        )
        call(
            "",
            write("docs/prices.md", "# Prices\n\nJPY has exponent 0. Round half even.\n" * 3),
            tests(check, 13, {}),
        )
        assistant("Fixed: exponents come from one table, JPY is 0, and docs/prices.md says so.")
    if number == 7:
        user("顺便问一下：发票号码的锁和支付的锁是同一个吗？不要死锁。")
        assistant(
            "是同一个锁，而且总是先支付后发票，顺序固定，所以不会死锁。测试 test_lock_order 覆盖了这一点。"
        )


def main() -> None:
    MESSAGES.append(
        {
            "role": "system",
            "content": "You are the assistant of the stock team of an online shop. Answer in the "
            "language of the question. Never change public names. 回答简洁。",
        }
    )
    user(
        "Good morning. Release is tonight; we go through the list of open problems one by one. 今天的清单有十三项。"
    )
    assistant("Good morning. I am ready: one area at a time, tests after each change. 我们开始吧。")
    for number, entry in enumerate(AREAS):
        area(number, *entry)
    user(
        "Thanks. Sum up all decisions of today in one list, with the files, for the release notes."
    )
    assistant("\n".join(f"- stock/{name}.py: {decision}" for name, _, _, _, decision in AREAS))
    out = Path(__file__).with_name("long-session.jsonl")
    out.write_text("".join(json.dumps(m, ensure_ascii=False) + "\n" for m in MESSAGES), "utf-8")
    print(f"{len(MESSAGES)} messages, {out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
