"""The served system with authentication and graphs that the tests steer, and two users."""

import concurrent.futures
import contextlib
from collections.abc import Iterator

import pytest

from tests.support.langgraph_server import LangGraphServer, running_server
from tests.support.served.client import CONFIG, READY, Kind, Thread, User

ADA = "token-of-ada"


@pytest.fixture(scope="session")
def steered_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LangGraphServer]:
    """The real LangGraph Server on the graphs of tests/support/served."""
    with running_server(tmp_path_factory.mktemp("steered"), config=CONFIG) as server:
        yield server


@pytest.fixture(scope="session")
def ready_threads(steered_server: LangGraphServer) -> Iterator[dict[Kind, list[Thread]]]:
    """Threads with a history, made at once: the server takes a second for each run."""
    with contextlib.closing(User(steered_server, ADA)) as user:
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            wanted = [kind for kind, number in READY.items() for _ in range(number)]
            made = pool.map(lambda kind: (kind, user.thread(*kind)), wanted)
            threads: dict[Kind, list[Thread]] = {}
            for kind, thread in made:
                threads.setdefault(kind, []).append(thread)
        yield threads


@pytest.fixture
def ada(steered_server: LangGraphServer, ready_threads: dict[Kind, list[Thread]]) -> Iterator[User]:
    """A user; fails the test if the server noticed a blocking call meanwhile."""
    before = len(steered_server.log.read_bytes())
    with contextlib.closing(User(steered_server, ADA, ready_threads)) as user:
        yield user
    log = steered_server.log.read_bytes()[before:].decode("utf-8", "replace")
    assert "BlockingError" not in log
    assert "Blocking call" not in log


@pytest.fixture
def bob(steered_server: LangGraphServer) -> Iterator[User]:
    """Another user."""
    with contextlib.closing(User(steered_server, "token-of-bob")) as user:
        yield user
