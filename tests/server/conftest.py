"""The served system with authentication and graphs that the tests steer, and two users."""

from collections.abc import Iterator

import pytest

from tests.support.langgraph_server import LangGraphServer, running_server
from tests.support.served.client import CONFIG, User


@pytest.fixture(scope="session")
def steered_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LangGraphServer]:
    """The real LangGraph Server on the graphs of tests/support/served."""
    with running_server(tmp_path_factory.mktemp("steered"), config=CONFIG) as server:
        yield server


@pytest.fixture
def ada(steered_server: LangGraphServer) -> Iterator[User]:
    """A user; fails the test if the server noticed a blocking call meanwhile."""
    before = len(steered_server.log.read_bytes())
    user = User(steered_server, "token-of-ada")
    yield user
    user.close()
    log = steered_server.log.read_bytes()[before:].decode("utf-8", "replace")
    assert "BlockingError" not in log
    assert "Blocking call" not in log


@pytest.fixture
def bob(steered_server: LangGraphServer) -> Iterator[User]:
    """Another user."""
    user = User(steered_server, "token-of-bob")
    yield user
    user.close()
