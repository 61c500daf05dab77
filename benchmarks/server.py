"""Throughput and latency of the real `langgraph dev`: the chatbot against a one-node graph."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx
from langgraph_sdk import get_client

ROOT = Path(__file__).parent.parent
THREADS = (1, 8, 32)
TURNS = {1: 10, 8: 8, 32: 8}
"""Turns of each thread: 10, 64 and 256 runs for each graph, twice."""
JOBS = 32
"""Runs that the server works on at once."""


@contextmanager
def server() -> Iterator[str]:
    """A server with both graphs on a free port; its address."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        graphs = {name: f"benchmarks.served:{name}" for name in ("chatbot", "one_node")}
        config = Path(folder, "langgraph.json")
        config.write_text(json.dumps({"dependencies": ["."], "graphs": graphs}))
        command = [str(Path(sys.executable).parent / "langgraph"), "dev", "--no-browser"]
        command += ["--no-reload", "--host", "127.0.0.1", "--port", str(port)]
        command += ["--config", str(config), "--n-jobs-per-worker", str(JOBS)]
        environment = os.environ | {
            "LANGGRAPH_NO_VERSION_CHECK": "true",
            "LANGSMITH_TRACING": "false",
            "LANGGRAPH_COMPRESSION_HOME": folder,
            "PYTHONPATH": str(ROOT),
        }
        with Path(folder, "log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, process)
            yield url
        finally:
            process.terminate()
            process.wait(30)


def _wait(url: str, process: subprocess.Popen[bytes], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        try:
            if httpx.get(f"{url}/ok").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.3)
    raise RuntimeError(f"no answer of the server within {seconds:.0f} s")


async def load(url: str, graph: str, threads: int, turns: int) -> dict[str, float]:
    """Turns in several threads at once, each waiting for its answer."""
    client = get_client(url=url)
    taken: list[float] = []

    async def one(thread_id: str) -> None:
        for turn in range(turns):
            message = {"role": "user", "content": f"Request {turn}. " * 20}
            given: dict[str, Any] = {"messages": [message]}
            start = time.perf_counter()
            async for _ in client.runs.stream(thread_id, graph, input=given, stream_mode="updates"):
                pass
            taken.append(time.perf_counter() - start)

    made = [(await client.threads.create())["thread_id"] for _ in range(threads)]
    begun = time.perf_counter()
    await asyncio.wait_for(asyncio.gather(*map(one, made)), 120)
    seconds = time.perf_counter() - begun
    return {
        "runs per second": len(taken) / seconds,
        "median, ms": 1000 * median(taken),
        "p95, ms": 1000 * quantiles(taken, n=20, method="inclusive")[-1],
    }


def run() -> dict[str, Any]:
    """By number of threads and graph; both graphs in the same server, in two rounds."""
    results: dict[str, Any] = {}
    with server() as url:
        for graph in ("one_node", "chatbot"):
            asyncio.run(load(url, graph, 1, 5))
        for threads in THREADS:
            rounds: dict[str, list[dict[str, float]]] = {"one_node": [], "chatbot": []}
            for order in (("one_node", "chatbot"), ("chatbot", "one_node")):
                for graph in order:
                    rounds[graph].append(asyncio.run(load(url, graph, threads, TURNS[threads])))
            results[str(threads)] = {
                graph: {key: sum(r[key] for r in both) / len(both) for key in both[0]}
                for graph, both in rounds.items()
            }
    return results
