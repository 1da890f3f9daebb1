from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.doctor.conftest import Doctor
    from tests.fix_stores import Database
    from tests.inside.apiserver import ApiServer

SECRET = "s3cret-of-ann"


def nothing_of_it(doctor: Doctor, *args: str, **env: str) -> None:
    for output in ("table", "json"):
        told = doctor.call(*args, "-o", output, **env)
        assert SECRET not in told.out + told.err
        assert told.out


@pytest.mark.parametrize(
    "dsn",
    [
        f"postgresql://ann:{SECRET}@127.0.0.1:1/shop",
        f"host=127.0.0.1 port=1 user=ann password={SECRET}",
        f"postgresql://ann:{SECRET}@[bad/shop",
        f"postgres:/ann:{SECRET}@127.0.0.1/shop",
        f"mysql://ann:{SECRET}@127.0.0.1/shop",
    ],
)
@pytest.mark.parametrize(
    "name",
    [
        *("K8SJOB_DSN", "K8SJOB_DSN_FILE", "K8SJOB_LEDGER", "K8SJOB_LEDGERS_DIR", "K8SJOB_CYCLE"),
        *("K8SJOB_TIME_ZONE", "K8SJOB_JOB", "K8SJOB_PERIOD", "K8SJOB_LOG_FORMAT"),
        *("K8SJOB_NAMESPACE", "K8SJOB_DSNN", "K8SJOB_CONTEXT", "K8SJOB_MANUAL_RUNS"),
    ],
)
def test_a_password_is_not_told_whichever_variable_it_is_in(
    doctor: Doctor, name: str, dsn: str
) -> None:
    nothing_of_it(doctor, **{name: dsn})


def test_a_password_is_not_told_of_an_option(doctor: Doctor, tmp_path: Path) -> None:
    dsn = f"postgresql://ann:{SECRET}@127.0.0.1:1/shop"
    nothing_of_it(doctor, "--ledger", dsn, K8SJOB_LEDGERS_DIR=str(tmp_path))


def test_a_password_of_a_file_is_not_told(doctor: Doctor, db: Database, tmp_path: Path) -> None:
    (tmp_path / "shop").write_text(db.dsn("reader").replace("k8sjob_reader:", f"ann:{SECRET}"))

    nothing_of_it(doctor, K8SJOB_LEDGERS_DIR=str(tmp_path))


def test_libpqs_password_is_not_told(doctor: Doctor) -> None:
    nothing_of_it(doctor, PGHOST="127.0.0.1", PGPORT="1", PGPASSWORD=SECRET, PGUSER="ann")


def test_the_token_is_not_told(doctor: Doctor, api_server: ApiServer) -> None:
    api_server.renew_token(f"{SECRET} {SECRET}")

    nothing_of_it(doctor, **api_server.env)
