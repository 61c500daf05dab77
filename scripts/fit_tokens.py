"""Fit the rates of the token estimate again.

    python scripts/fit_tokens.py COUNTS.json [MORE.json …] > langgraph_compression/tokens/rates.py

Each file is a list of `{"text", "category", "tokens": {"o200k", "qwen3", "llama3", "gemma3"}}`.
Rates are those that make the relative error smallest over all texts, rates of most features not
below zero; every fifth text is held back once to print (on stderr) the error to expect on texts
not seen. Needs numpy and scipy.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from langgraph_compression.tokens.features import NAMES, features

PROFILES = ("default", "o200k", "qwen3", "llama3", "gemma3")
SMALLEST = 0.04
"""Relative error below which a text counts no further: no fit to single texts."""

MAY_LOWER = tuple(
    name
    for name in NAMES
    if name.startswith(
        ("space", "newline", "tab", "run", "rule", "lower", "upper", "two_", "letter")
    )
    or name.endswith(("_space", "_newline", "_quote", "_bracket", "_point"))
    or name in ("digit_2", "digit_3", "digit_6", "emoji_run", "han_run", "quote_lower")
)
"""Features of texts whose characters merge into longer tokens: these lower the count."""


def truth(tokens: dict[str, int], profile: str) -> float:
    if profile != "default":
        return tokens[profile]
    a, b = tokens["o200k"], tokens["qwen3"]
    return 2 * a * b / (a + b)


def fit(matrix: Any, wanted: Any, weight: Any) -> Any:
    """Rates of least absolute relative error, by repeated weighted least squares."""
    relative = matrix / wanted[:, None]
    scale = np.sqrt((weight[:, None] * relative**2).mean(0)) + 1e-9
    relative = relative / scale
    lower = [NAMES.index(name) for name in MAY_LOWER]
    relative = np.hstack([relative, -relative[:, lower]])
    size = relative.shape[1]
    weights = weight.copy()
    for _ in range(10):
        root = np.sqrt(weights)[:, None]
        square = (relative * root).T @ (relative * root)
        square += 3e-4 * weights.sum() / 1.0 * np.eye(size) + 1e-9 * np.eye(size)
        target = ((relative * root) * root).sum(0)
        factor = np.linalg.cholesky(square)
        found, _rest = nnls(factor.T, np.linalg.solve(factor, target), maxiter=40 * size)
        error = np.abs(relative @ found - 1)
        weights = weight * SMALLEST / np.maximum(error, SMALLEST)
    rates = found[: len(NAMES)].copy()
    rates[lower] -= found[len(NAMES) :]
    return rates / scale


def main() -> None:
    texts = [
        x for path in sys.argv[1:] for x in json.loads(Path(path).read_text("utf-8")) if x["text"]
    ]
    rows = [features(x["text"]) for x in texts]
    matrix = np.array([[row.get(name, 0) for name in NAMES] for row in rows], float)
    sizes = Counter(x["category"] for x in texts)
    weight = np.array(
        [min(1.0, len(x["text"]) / 300) ** 0.5 * sizes[x["category"]] ** -0.35 for x in texts]
    )
    weight *= [0.4 if "repeat" in x["category"] else 1.0 for x in texts]
    long = np.array(
        [
            len(x["text"]) >= 400 and not any(k in x["category"] for k in ("repeat", "white", "ws"))
            for x in texts
        ]
    )
    tables = {}
    for profile in PROFILES:
        wanted = np.array([truth(x["tokens"], profile) for x in texts])
        held = np.zeros(len(texts))
        for part in range(5):
            inside = np.arange(len(texts)) % 5 != part
            held[~inside] = matrix[~inside] @ fit(matrix[inside], wanted[inside], weight[inside])
        error = np.abs(held / wanted - 1)
        print(
            f"{profile}: held back: long median {np.median(error[long]):.1%} "
            f"p95 {np.quantile(error[long], 0.95):.1%}; all median {np.median(error):.1%} "
            f"p95 {np.quantile(error, 0.95):.1%}",
            file=sys.stderr,
        )
        tables[profile] = fit(matrix, wanted, weight)
    print('"""Tokens per feature, by profile. Written by scripts/fit_tokens.py; do not edit."""\n')
    print("from collections.abc import Mapping\n")
    print("# " + ", ".join(PROFILES))
    print("RATES: Mapping[str, tuple[float, float, float, float, float]] = {")
    for index, name in enumerate(NAMES):
        row = ", ".join(f"{tables[profile][index]:.4f}" for profile in PROFILES)
        print(f'    "{name}": ({row}),')
    print("}")


if __name__ == "__main__":
    main()
