"""GET /compression/threads/{id}/history: archived files, listed and read in slices."""

import json

import pytest

from tests.support.served.client import LONG, User

pytestmark = pytest.mark.server

ODD_PATHS = [
    "outputs/../../etc/passwd",
    "outputs/%2e%2e/%2e%2e/etc/passwd",
    "outputs/..%2f..%2fsecret",
    "outputs/a%00b",
    "outputs/a%5c..%5cb",
    "outputs/C:x",
    "outputs/~root",
    "outputs/%2fetc/passwd",
    "outputs//etc/passwd",
    "outputs/",
    "outputs",
    "%2fetc%2fpasswd",
    "/etc/passwd",
    "../outputs/a",
    "skills/a.md",
    "outputs/%ed%a0%80",
    "outputs/" + "x" * 300,
    "outputs/nothing.txt",
]


def test_list_and_read(ada: User) -> None:
    thread = ada.thread()
    assert thread.get("/history") == {"files": []}
    path = thread.compress()["file_path"]
    assert thread.get("/history") == {"files": [path]}
    part = thread.get(f"/history/{path}")
    assert (part["path"], part["offset"], part["next_offset"]) == (path, 0, None)
    lines = [json.loads(line) for line in part["text"].splitlines()]
    assert [line["data"]["content"] for line in lines] == thread.texts[:4]


def test_slices_make_the_whole(ada: User) -> None:
    thread = ada.thread("Fähre 渡船 \U0001f6a2 " * 100)
    path = thread.compress()["file_path"]
    for limit in (1000, 4096):
        text, offset, parts = "", 0, 0
        while offset is not None:
            part = thread.get(f"/history/{path}", offset=offset, limit=limit)
            assert len(part["text"]) <= limit
            text, offset, parts = text + part["text"], part["next_offset"], parts + 1
        assert parts == -(-len(text) // limit)
        assert json.loads(text.split("\n")[0])["data"]["content"] == thread.texts[0]


def test_offset_behind_the_end(ada: User) -> None:
    thread = ada.thread()
    path = thread.compress()["file_path"]
    part = thread.get(f"/history/{path}", offset=10**9)
    assert (part["text"], part["next_offset"]) == ("", None)


@pytest.mark.parametrize(
    ("name", "value"), [("offset", "-1"), ("limit", "0"), ("limit", "20001"), ("limit", "x")]
)
def test_slice_out_of_bounds(ada: User, name: str, value: str) -> None:
    thread = ada.thread(None)
    thread.get("/history/outputs/a.txt", 422, **{name: value})


@pytest.mark.parametrize("path", ODD_PATHS)
def test_hostile_path(ada: User, path: str) -> None:
    thread = ada.thread(None)
    answer = ada.http.get(f"{ada.http.base_url}{thread.url}/history/".rstrip("/") + f"/{path}")
    assert answer.status_code == 404, answer.text
    assert "root:" not in answer.text
    assert str(ada.server.home) not in answer.text


def test_link_out_of_the_workdir(ada: User) -> None:
    thread = ada.thread()
    path = thread.compress()["file_path"]
    [file] = [file for file in ada.server.files() if file.match(path)]
    (file.parent / "link.txt").symlink_to("/etc/hostname")
    answer = thread.get("/history/outputs/conversation_history/link.txt", 404)
    assert "/etc" not in answer["message"]


def test_another_thread_has_other_files(ada: User) -> None:
    path = ada.thread(LONG).compress()["file_path"]
    other = ada.thread(None)
    assert other.get("/history") == {"files": []}
    other.get(f"/history/{path}", 404)
