from __future__ import annotations

import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8sjob.run.child.tail import Tail

WRITES = st.lists(st.binary(max_size=40), max_size=20)
LIMITS = st.integers(0, 60)


def tail_of(limit: int, writes: list[bytes]) -> Tail:
    """Return a tail that took ``writes``."""
    tail = Tail(limit)
    for data in writes:
        tail.write(data)
    return tail


@given(LIMITS, st.lists(st.text(st.characters(codec="ascii", exclude_characters="\0")), max_size=9))
def test_the_last_bytes_are_kept(limit: int, writes: list[str]) -> None:
    said = "".join(writes)
    kept = said[max(0, len(said) - limit) :]

    text = tail_of(limit, [data.encode() for data in writes]).text()

    if len(kept) == len(said) or not limit:
        assert text == (kept if limit else "")
    else:
        assert text == f"[{len(said) - len(kept):,} bytes before this were left out]\n{kept}"


@given(LIMITS, WRITES)
def test_how_it_was_written_makes_no_difference(limit: int, writes: list[bytes]) -> None:
    at_once = tail_of(limit, [b"".join(writes)])

    assert tail_of(limit, writes).text() == at_once.text()


@given(LIMITS, WRITES)
def test_kept_and_left_out_are_all_that_was_written(limit: int, writes: list[bytes]) -> None:
    size = sum(map(len, writes))

    assert tail_of(limit, writes).left_out == max(0, size - limit)


CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0\ufffd")


@given(st.integers(1, 20), st.text(CHARACTERS, max_size=20))
def test_a_character_that_was_cut_is_left_out_whole(limit: int, said: str) -> None:
    text = tail_of(limit, [said.encode()]).text()

    kept = re.sub(r"\A\[\d+ bytes before this were left out\]\n", "", text)
    assert said.endswith(kept)
    assert limit - 3 <= len(kept.encode()) <= limit or kept == said


@given(LIMITS, WRITES)
def test_its_text_can_always_be_stored(limit: int, writes: list[bytes]) -> None:
    text = tail_of(limit, writes).text()

    assert "\0" not in text
    text.encode()


def test_more_than_a_cut_character_is_not_left_out() -> None:
    assert tail_of(6, [b"x" + b"\x80" * 6]).text().endswith("\ufffd" * 3)


def test_memory_is_bounded_by_the_limit() -> None:
    chunk = b"x" * 1000
    tracemalloc.start()
    tail = Tail(10_000)
    for _ in range(10_000):
        tail.write(chunk)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 40_000
    assert tail.left_out == 9_990_000


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="a tail of -1 bytes"):
        Tail(-1)
