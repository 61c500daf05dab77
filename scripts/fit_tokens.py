"""Fit the rates of the token estimate again.

    python scripts/fit_tokens.py COUNTS.json [MORE.json …] > langgraph_compression/tokens/rates.py

Each file is a list of `{"text", "category", "tokens": {"o200k", "qwen3", "llama3", "gemma3"}}`.
Rates are those that make the relative error smallest over all texts, within bounds. Every sixth
text is held back once, to print (on stderr) the error to expect on texts not seen. Needs numpy.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langgraph_compression.tokens.features import MAY_LOWER, NAMES, features

PROFILES = ("o200k", "qwen3", "llama3", "gemma3")
SMALLEST = 0.04
"""Relative error below which a text counts no further: no fit to single texts."""
SHRINKAGE = 0.003
"""Pull towards 0, so that a feature of few texts gets no wild rate."""
HIGHEST = 4.0
"""Upper bound of a rate; the lower one stands in `MAY_LOWER`, and is 0 for other features."""
FOLDS = 6

Array = NDArray[np.float64]


def minimum(square: Array, linear: Array, start: Array | None, sweeps: int) -> Array:
    """Minimum of x'Sx/2 - l'x within the bounds, one coordinate after the other."""
    lowest = np.array([MAY_LOWER.get(name, 0.0) for name in NAMES])
    rates = np.zeros(len(linear)) if start is None else start.copy()
    gradient = square @ rates - linear
    for _ in range(sweeps):
        for i in range(len(rates)):
            wanted = rates[i] - gradient[i] / square[i, i]
            step = min(max(wanted, lowest[i]), HIGHEST) - rates[i]
            if step:
                gradient += square[:, i] * step
                rates[i] += step
    return rates


def fit(matrix: Array, truth: Array, weight: Array) -> Array:
    """Rates of least absolute relative error, by repeated weighted least squares."""
    relative = matrix / truth[:, None]
    weights, rates = weight, None
    for sweeps in (80, 80, 80, 80, 80, 400):
        square = relative.T @ (relative * weights[:, None]) + SHRINKAGE * np.eye(len(NAMES))
        rates = minimum(square, relative.T @ weights, rates, sweeps)
        found = relative @ rates
        weights = weight * SMALLEST / np.maximum(np.abs(found - 1), SMALLEST)
        # Twice as many counts as much as half: repeats differ by factors.
        weights /= np.maximum(found, 1)
    assert rates is not None
    return rates


def read(paths: list[str]) -> list[dict[str, Any]]:
    return [x for path in paths for x in json.loads(Path(path).read_text("utf-8")) if x["text"]]


def weights_of(texts: list[dict[str, Any]]) -> Array:
    """Short texts, large categories and pure repeats count less."""
    sizes = Counter(x["category"] for x in texts)
    return np.array(
        [
            min(1.0, len(x["text"]) / 300) ** 0.5
            * sizes[x["category"]] ** -0.35
            * (0.4 if "repeat" in x["category"] else 1.0)
            for x in texts
        ]
    )


def main() -> None:
    texts = read(sys.argv[1:])
    if not texts:
        sys.exit("No texts: name JSON files with texts and their counts.")
    rows = [features(x["text"]) for x in texts]
    matrix = np.array([[row.get(name, 0) for name in NAMES] for row in rows], float)
    weight = weights_of(texts)
    plain = np.array(
        [
            len(x["text"]) >= 400
            and not any(kind in x["category"] for kind in ("repeat", "whitespace"))
            for x in texts
        ]
    )
    columns = []
    for profile in PROFILES:
        truth = np.array([x["tokens"][profile] for x in texts], float)
        estimate = np.zeros(len(texts))
        for fold in range(FOLDS):
            out = np.arange(len(texts)) % FOLDS == fold
            estimate[out] = matrix[out] @ fit(matrix[~out], truth[~out], weight[~out])
        error = np.abs(np.maximum(1, estimate) / truth - 1)
        for label, some in (("400 characters and more", error[plain]), ("all", error)):
            print(
                f"{profile}, held back, {label}: median {np.median(some):.1%}, "
                f"p95 {np.quantile(some, 0.95):.1%}",
                file=sys.stderr,
            )
        columns.append(fit(matrix, truth, weight))
    print('"""Tokens per feature, by profile. Written by scripts/fit_tokens.py; do not edit."""\n')
    print("from collections.abc import Mapping\n")
    print(f"COLUMNS = {json.dumps(PROFILES).replace('[', '(').replace(']', ')')}\n")
    print("RATES: Mapping[str, tuple[float, float, float, float]] = {")
    for index, name in enumerate(NAMES):
        key = repr(name) if '"' in name else json.dumps(name)
        print(f"    {key}: ({', '.join(f'{column[index]:.3f}' for column in columns)}),")
    print("}")


if __name__ == "__main__":
    main()
