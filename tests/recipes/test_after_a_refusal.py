from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

import k8sjob
from tests.recipes.clients import KEY

if TYPE_CHECKING:
    from tests.recipes.conftest import Business

ADD_5 = "UPDATE app.accounts SET balance = balance + 5"


@pytest.fixture(autouse=True)
def _done_before(business: Business) -> None:
    with business.db.connect() as conn:
        k8sjob.claim(conn, KEY)


def test_the_transaction_of_a_python_claim_can_go_on(business: Business) -> None:
    with business.db.connect() as conn:
        with pytest.raises(k8sjob.NotApplied):
            k8sjob.claim(conn, KEY)
        conn.execute(ADD_5)
    assert business.balance() == 5


def test_the_transaction_of_a_claim_in_sql_can_only_be_rolled_back(business: Business) -> None:
    conn = business.db.connect()
    with pytest.raises(psycopg.Error) as refusal:
        conn.execute("SELECT k8sjob.claim(%s, %s)", [str(KEY.job), str(KEY.period)])
    assert refusal.value.sqlstate == "KJ001"
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        conn.execute(ADD_5)
    conn.rollback()
    assert business.balance() == 0
