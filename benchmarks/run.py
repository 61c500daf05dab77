"""Run benchmarks, each in a process of its own: `python -m benchmarks.run [NAME …]`.

The results stand in benchmarks/results.json; a name that is not run again keeps its last.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results.json")
NAMES = ("overhead", "growth", "checkpoints", "memory", "summaries", "estimate", "server")
PACKAGES = (
    "langgraph",
    "langchain",
    "langchain-core",
    "deepagents",
    "langmem",
    "langgraph-checkpoint",
    "langgraph-checkpoint-sqlite",
    "langgraph-checkpoint-postgres",
    "langgraph-api",
)


def machine() -> dict[str, Any]:
    """Where and with what this was measured."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": commit,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "packages": {name: version(name) for name in PACKAGES},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main(names: list[str]) -> None:
    """Run these, or all."""
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    failed = []
    for name in names or NAMES:
        print(f"{name} …", flush=True)
        start = time.monotonic()
        command = [sys.executable, "-W", "ignore", "-m", __spec__.name, "--one", name]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def one(name: str) -> None:
    """Run one in this process and put it into the results."""
    found = {**import_module(f"benchmarks.{name}").run(), "measured": machine()}
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    results[name] = found
    with tempfile.NamedTemporaryFile("w", dir=RESULTS.parent, delete=False) as file:
        json.dump(dict(sorted(results.items())), file, indent=1)
        file.write("\n")
    Path(file.name).replace(RESULTS)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2])
    else:
        main(sys.argv[1:])
