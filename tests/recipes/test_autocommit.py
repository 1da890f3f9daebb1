from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.recipes.clients import KEY, word
from tests.recipes.processes import RECIPES, run_psql, without_transaction

if TYPE_CHECKING:
    from tests.recipes.clients import Client
    from tests.recipes.conftest import Business

ONE_MESSAGE = f"BEGIN; SELECT k8sjob.claim('{KEY.job}', '{KEY.period}'); COMMIT"


def test_a_claim_that_would_commit_alone_is_refused(business: Business, client: Client) -> None:
    with pytest.raises(Exception) as refusal:  # noqa: PT011  # every driver has its own
        client.alone(business.url, KEY)
    assert word(refusal.value) == "ProtocolError"
    assert (business.balance(), business.done()) == (0, [])


def test_psql_can_bring_the_transaction_for_a_script_without_one(
    business: Business, psql: str
) -> None:
    bare = without_transaction(RECIPES / "credit.sql")
    run_psql(psql, business.url, KEY, 10, Path("-"), "--single-transaction", stdin=bare)
    assert (business.balance(), business.done()) == (10, [str(KEY)])


def test_a_transaction_sent_as_one_message_is_refused(business: Business, psql: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refusal:
        run_psql(psql, business.url, KEY, 10, Path("/dev/null"), "-c", ONE_MESSAGE)
    assert word(refusal.value) == "ProtocolError"
    assert business.done() == []
