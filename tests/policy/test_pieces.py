"""The history in pieces: nothing is lost, each piece fits, nothing is made before its time."""

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from langgraph_compression.policy.pieces import Rest


def length(texts: Sequence[str]) -> int:
    """A token for each character, and one around each text."""
    return sum(len(text) + 1 for text in texts)


def one_by_one(texts: list[str], room: int) -> list[str]:
    """The head that fits when each text is looked at alone."""
    head: list[str] = []
    for text in texts:
        room -= len(text) + 1
        if room < 0:
            break
        head.append(text)
    return head


TEXTS = st.lists(st.text(st.sampled_from("ab 码\n"), max_size=60), max_size=200)


@given(TEXTS, st.integers(4, 600), st.data())
def test_pieces_lose_nothing_and_fit(texts: list[str], room: int, data: st.DataObject) -> None:
    rest, got = Rest(texts), ""
    for _ in range(len("".join(texts)) + len(texts) + 1):
        if not rest:
            break
        if data.draw(st.booleans()):  # a piece that was too much for the summarizer
            rest.put_back(rest.take(data.draw(st.integers(1, room)), length))
        piece = rest.take(room, length)
        assert piece
        assert length(piece) <= room
        got += "".join(piece)
    assert got == "".join(texts)
    assert not rest
    assert rest.take(room, length) == []


@given(TEXTS, st.integers(61, 600))
def test_a_piece_is_the_longest_head_that_fits(texts: list[str], room: int) -> None:
    assert Rest(texts).take(room, length) == one_by_one(texts, room)


def test_a_long_text_is_divided_and_put_back_whole() -> None:
    rest = Rest(["x" * 100, "y"])
    piece = rest.take(50, length)
    assert piece == ["x" * len(piece[0])]
    rest.put_back(piece)
    assert rest.take(1000, length) == ["x" * 100, "y"]
    assert not rest


def test_no_piece_when_nothing_fits() -> None:
    rest = Rest(["long text"])
    assert rest.take(0, length) == []
    assert rest.take(10, length) == ["long text"]


def test_texts_are_made_when_a_piece_may_take_them() -> None:
    made: list[int] = []

    def texts() -> Iterator[str]:
        for number in range(10_000):
            made.append(number)
            yield "x" * 10

    rest = Rest(texts())
    rest.take(1000, length)
    assert 90 < len(made) < 5000
