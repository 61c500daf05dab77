"""The workdir on S3, against a server on this machine."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import s3fs
from moto.server import ThreadedMotoServer

from langgraph_compression import Workdir
from langgraph_compression.errors import WorkdirError

SAVED = "outputs/large_tool_results/a-0123456789abcdef.txt"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def client(endpoint: str) -> Any:
    return s3fs.S3FileSystem(
        key="key", secret="secret", endpoint_url=endpoint, skip_instance_cache=True
    )


@pytest.fixture
def bucket(endpoint: str) -> str:
    name = uuid.uuid4().hex
    client(endpoint).mkdir(name)
    return name


def test_two_workers_see_each_others_files(endpoint: str, bucket: str) -> None:
    one, other = (Workdir(client(endpoint), root=f"{bucket}/prefix") for _ in range(2))
    assert one.list() == []
    assert not one.exists(SAVED)
    other.write_text(SAVED, "压缩" * 3)
    assert one.exists(SAVED)
    assert one.list() == one.list("outputs") == [SAVED]
    one.write_text(SAVED, "压缩" * 3)
    with pytest.raises(WorkdirError, match="other content"):
        one.write_text(SAVED, "other")
    assert one.read_text(SAVED) == "压缩" * 3


def test_a_slice_of_a_large_file(endpoint: str, bucket: str) -> None:
    workdir = Workdir(client(endpoint), root=bucket)
    workdir.write_text("big.txt", "abc\n" * 3_000_000)
    assert workdir.read_slice("big.txt", 8_000_000, 8) == ("abc\nabc\n", False)


def test_many_files(endpoint: str, bucket: str) -> None:
    one, other = (Workdir(client(endpoint), root=f"{bucket}/prefix") for _ in range(2))
    files = {f"outputs/large_tool_results/{n:02}.txt": f"text {n}" for n in range(40)}
    assert one.write_missing(files) == other.write_missing(files) == {}
    assert {path: other.read_text(path) for path in other.list()} == files


def test_a_bucket_that_is_not_there(endpoint: str) -> None:
    workdir = Workdir(client(endpoint), root=f"{uuid.uuid4().hex}/prefix")
    with pytest.raises(WorkdirError, match="cannot write a"):
        workdir.write_text("a", "x")
    with pytest.raises(WorkdirError, match="there is no file a"):
        workdir.read_text("a")
    assert workdir.list() == []


def test_a_store_that_does_not_answer() -> None:
    fs = s3fs.S3FileSystem(
        key="key",
        secret="secret",
        endpoint_url="http://127.0.0.1:9",
        config_kwargs={"retries": {"max_attempts": 1}},
        skip_instance_cache=True,
    )
    workdir = Workdir(fs, root="bucket")
    for act in (workdir.exists, workdir.read_text, lambda path: workdir.write_text(path, "x")):
        with pytest.raises(WorkdirError, match="EndpointConnectionError"):
            act("a")
