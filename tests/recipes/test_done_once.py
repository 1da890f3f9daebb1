from __future__ import annotations

from typing import TYPE_CHECKING

import k8sjob
from tests.recipes.clients import JOB, KEY, outcome

if TYPE_CHECKING:
    from tests.recipes.clients import Client
    from tests.recipes.conftest import Business

NEXT = k8sjob.Key.parse(f"{JOB}:2026-09-14")
TOO_MUCH = 2**31  # the balance is an integer: the work fails, after the claim


def test_a_period_is_done_once_and_so_is_the_next_one(business: Business, client: Client) -> None:
    assert outcome(client, business.url) == "applied"
    assert (business.balance(), business.done()) == (10, [str(KEY)])

    assert outcome(client, business.url) == "duplicate"
    assert (business.balance(), business.done()) == (10, [str(KEY)])

    assert outcome(client, business.url, NEXT) == "applied"
    assert (business.balance(), business.done()) == (20, [str(KEY), str(NEXT)])


def test_work_that_fails_leaves_neither_row_nor_effect(business: Business, client: Client) -> None:
    assert outcome(client, business.url, amount=TOO_MUCH) == "failed"
    assert (business.balance(), business.done()) == (0, [])

    assert outcome(client, business.url) == "applied"
    assert (business.balance(), business.done()) == (10, [str(KEY)])


def test_another_payload_is_a_conflict(business: Business, client: Client) -> None:
    answers = [outcome(client, business.url, amount=amount) for amount in (10, 11)]
    assert answers == ["applied", "conflict"]
    assert (business.balance(), business.done()) == (10, [str(KEY)])


def test_what_one_client_did_is_a_duplicate_for_the_next(
    business: Business, all_clients: dict[str, Client]
) -> None:
    names = list(all_clients)
    for day, (own, other) in enumerate(zip(names, names[1:] + names[:1], strict=True), 1):
        key = k8sjob.Key.parse(f"{JOB}:2026-09-{day:02}")
        answers = [outcome(all_clients[name], business.url, key) for name in (own, other)]
        assert answers == ["applied", "duplicate"], (own, other)
    assert business.balance() == 10 * len(names)
