"""The real LangGraph Server of `langgraph dev`, offline, on a free port of 127.0.0.1."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

CONFIG = Path(__file__).parent.parent.parent / "langgraph.json"
START_SECONDS = 90


@dataclass(frozen=True)
class LangGraphServer:
    """A running server."""

    url: str
    home: Path
    """Folder in which its conversations have their files."""
    log: Path

    def files(self) -> list[Path]:
        """All files of all conversations."""
        return sorted(path for path in self.home.rglob("*") if path.is_file())


@contextmanager
def running_server(
    folder: Path, openai_url: str = "", config: Path = CONFIG
) -> Iterator[LangGraphServer]:
    """Start the server and stop it.

    Args:
        folder: For its log, its own state and the files of the conversations.
        openai_url: Where models named `openai:…` answer.
        config: Its langgraph.json; default: the one of the repository.

    Raises:
        RuntimeError: It ended or did not answer in time; the text has the end of its log.
    """
    port = _free_port()
    server = LangGraphServer(f"http://127.0.0.1:{port}", folder / "home", folder / "server.log")
    program = Path(sys.executable).parent / "langgraph"
    command = [str(program), "dev", "--no-browser", "--no-reload"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--config", str(config)]
    command += ["--n-jobs-per-worker", "24"]
    environment = os.environ | {
        "LANGGRAPH_NO_VERSION_CHECK": "true",
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_COMPRESSION_HOME": str(server.home),
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": openai_url,
        "NO_COLOR": "1",
        "PYTHONPATH": str(CONFIG.parent),
        "STEER_FOLDER": str(folder),
    }
    with server.log.open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_until_it_answers(server, process)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_it_answers(server: LangGraphServer, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{server.url}/ok", timeout=5).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    tail = server.log.read_text("utf-8", "replace")[-3000:]
    raise RuntimeError(f"langgraph dev does not answer, exit code {process.poll()}:\n{tail}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def served_graphs() -> list[str]:
    """Names of the graphs in langgraph.json."""
    return sorted(json.loads(CONFIG.read_text("utf-8"))["graphs"])
