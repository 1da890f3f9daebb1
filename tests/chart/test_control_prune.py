from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from k8sjob.cli.main import main
from tests.chart.control import everything, pod, render

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_stores import Database

pytestmark = pytest.mark.usefixtures("helm")

TWO = {
    "ledgers": {"a": {"existingSecret": "x"}, "b": {"existingSecret": "y"}},
    "prune": {"enabled": True},
}
NAME = "k8sjob-prune"


def test_nothing_is_deleted_unless_somebody_says_so() -> None:
    assert [one["metadata"]["name"] for one in render().all("CronJob")] == ["k8sjob-reconciler"]


def test_each_ledger_is_pruned_by_its_operator_without_a_token() -> None:
    spec = pod(render(TWO), NAME)
    assert [one["name"] for one in spec["containers"]] == ["prune-a", "prune-b"]
    assert [one["args"][2] for one in spec["containers"]] == ["--ledger=a", "--ledger=b"]
    assert spec["automountServiceAccountToken"] is False
    sources = spec["volumes"][0]["projected"]["sources"]
    assert [one["secret"]["items"][0]["key"] for one in sources] == ["operator", "operator"]


def test_a_release_for_some_namespaces_leaves_the_others_alone() -> None:
    spec = pod(render({**TWO, "scope": {"namespaces": ["shop", "billing"]}}), NAME)
    told = [(one["name"], one["args"][1:4]) for one in spec["containers"]]
    assert told == [
        (f"prune-{ledger}", ["--namespace=billing", "--namespace=shop", f"--ledger={ledger}"])
        for ledger in "ab"
    ]


def test_its_values_arrive() -> None:
    spec = everything().one("CronJob", "ledgers-prune")["spec"]
    assert (spec["schedule"], spec["timeZone"]) == ("5 4 * * 0", "Asia/Tokyo")
    assert spec["jobTemplate"]["spec"]["activeDeadlineSeconds"] == 900
    (container,) = pod(everything(), "ledgers-prune")["containers"]
    assert "--attempts-older-than=30d" in container["args"]
    assert pod(everything(), "ledgers-prune")["serviceAccountName"] == "pruner"


def test_its_command_does_it(db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text(db.dsn("operator"))
    monkeypatch.setenv("K8SJOB_LEDGERS_DIR", str(tmp_path))
    old = db.connect("admin", autocommit=True)
    old.execute("INSERT INTO k8sjob.jobs (job) VALUES ('shop/credit')")
    old.execute(
        """INSERT INTO k8sjob.attempts (id, job, period, mode, source, client, started_at, ended_at,
                                        outcome, exit_code, speaker)
           SELECT gen_random_uuid(), 'shop/credit', '2026-01-01T00:00:00Z', 'sql', '--period',
                  '0.1.0', now() - age, now() - age, 'duplicate', 0, 'k8sjob'
             FROM unnest(%s::interval[]) age""",
        ([timedelta(days=91), timedelta(days=89)],),
    )
    (container,) = pod(render({**TWO, "ledgers": {"a": {"existingSecret": "x"}}}), NAME)[
        "containers"
    ]
    with pytest.raises(SystemExit) as ended:
        main(container["args"])
    assert ended.value.code == 0
    assert old.execute("SELECT count(*) FROM k8sjob.attempts").fetchone() == (1,)
