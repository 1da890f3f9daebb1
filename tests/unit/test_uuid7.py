from __future__ import annotations

import time
from uuid import RFC_4122

from k8sjob.ledger.uuid7 import short, uuid7


def test_an_attempt_id_is_a_version_7_uuid_with_the_time_in_front() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid7()
    after = time.time_ns() // 1_000_000

    assert (made.version, made.variant) == (7, RFC_4122)
    assert before <= made.int >> 80 <= after


def test_ids_made_in_one_millisecond_differ() -> None:
    assert len({uuid7() for _ in range(1000)}) == 1000


def test_the_short_form_holds_the_milliseconds() -> None:
    made = uuid7()

    assert str(made).startswith(short(made))
    assert int(short(made).replace("-", ""), 16) == made.int >> 80
