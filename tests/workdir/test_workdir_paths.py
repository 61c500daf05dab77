"""Which paths are accepted, and their one form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_compression.errors import WorkdirError
from langgraph_compression.workdir.paths import checked, is_addressed, is_checked, writable

FORMS = [
    ("outputs/a.txt", "outputs/a.txt"),
    ("/outputs/a.txt", "outputs/a.txt"),
    ("./outputs/a.txt", "outputs/a.txt"),
    ("//outputs/a.txt", "outputs/a.txt"),
    ("压缩/结果 1.txt", "压缩/结果 1.txt"),
    ("...a", "...a"),
    (".env", ".env"),
    ("console/auxiliary.txt", "console/auxiliary.txt"),
    ("x" * 255, "x" * 255),
]

REFUSED = [
    "",
    "/",
    "./",
    "a/",
    "./../a",
    "/../a",
    "a/..",
    "...",
    "C:/a",
    "file:///etc/passwd",
    "\\\\host\\share",
    "CON",
    "con .txt",
    "a/lpt1",
    "COM¹.txt",
    "conin$",
    "nul.tar.gz",
    "a\u200bb",
    "a\u202eb",
    "a\u2028b",
    "a\u0085b",
    "\ud83d",
    ".writing-0123",
    "压" * 86,
    "a/" * 512 + "a",
    "a/" * 100_000 + "a",
]


@pytest.mark.parametrize(("path", "form"), FORMS)
def test_one_form(path: str, form: str) -> None:
    assert checked(path) == writable(path) == form
    assert is_checked(form)


@pytest.mark.parametrize("path", REFUSED)
def test_refused(path: str) -> None:
    with pytest.raises(WorkdirError) as caught:
        checked(path)
    assert len(str(caught.value)) < 1500
    assert not is_checked(path)


@pytest.mark.parametrize("path", [None, 1, b"a", ["a"]])
def test_no_text(path: str) -> None:
    with pytest.raises(WorkdirError, match="a path is text"):
        checked(path)


@pytest.mark.parametrize("path", ["skills", "skills/a", "/skills/a", "Skills/a", "SKILLS/a/b"])
def test_skills_are_not_written(path: str) -> None:
    assert checked(path) == path.lstrip("/")
    with pytest.raises(WorkdirError, match="only be read"):
        writable(path)


@pytest.mark.parametrize(
    ("form", "yes"),
    [
        ("outputs/large_tool_results/a", True),
        ("Outputs/Conversation_History/a", True),
        ("outputs/a", False),
        ("outputs/large_tool_results2/a", False),
    ],
)
def test_addressed(form: str, yes: bool) -> None:
    assert is_addressed(form) is yes


@given(st.text(st.characters() | st.sampled_from("./\\~:\0 "), max_size=20))
def test_a_form_is_stable_and_stays_inside(path: str) -> None:
    try:
        form = checked(path)
    except WorkdirError:
        return
    assert checked(form) == form
    assert not form.startswith("/")
    assert not {"", ".", ".."} & set(form.split("/"))
    form.encode()
