from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.chart.jobs import RUN, SIDECAR, containers, cronjob, pod, pod_of, rendered, variables
from tests.fix_chart import CHARTS

if TYPE_CHECKING:
    from tests.fix_chart import Object

pytestmark = pytest.mark.usefixtures("helm")


def _job(cron: Object) -> Object:
    spec: Object = cron["spec"]["jobTemplate"]["spec"]
    return spec


def test_a_cronjob_has_what_experience_calls_for() -> None:
    cron = cronjob(RUN)

    spec = {name: one for name, one in cron["spec"].items() if name != "jobTemplate"}
    assert spec == {
        "schedule": "0 2 * * *",
        "timeZone": "Etc/UTC",
        "suspend": False,
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 3600,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 3,
    }
    job = {n: one for n, one in _job(cron).items() if n not in ("template", "podFailurePolicy")}
    assert job == {
        "activeDeadlineSeconds": 3600,
        "backoffLimit": 3,
        "ttlSecondsAfterFinished": 86400,
        "podReplacementPolicy": "Failed",
    }
    assert cron["metadata"]["labels"]["k8sjob.io/enabled"] == "true"
    assert "annotations" not in cron["metadata"]


def test_an_autoscaler_leaves_a_run_alone_unless_it_is_told_otherwise() -> None:
    def said(job: dict[str, Any]) -> Any:
        return _job(cronjob(job))["template"]["metadata"]["annotations"]

    assert said(RUN) == {
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        "karpenter.sh/do-not-disrupt": "true",
    }
    assert said(RUN | {"safeToEvict": True}) == {}


#: A default, what a job lays over it, and what comes of both.
LAID_OVER: list[tuple[str, Any, Any, Any]] = [
    ("suspend", True, False, False),
    ("backoffLimit", 6, 0, 0),
    ("failedJobsHistoryLimit", 5, 0, 0),
    ("ttlSecondsAfterFinished", 60, 0, 0),
    ("ttlSecondsAfterFinished", 60, None, None),
    ("ttlSecondsAfterFinished", None, 60, 60),
    ("timeZone", "Europe/Rome", "Etc/UTC", "Etc/UTC"),
    ("concurrencyPolicy", "Allow", "Forbid", "Forbid"),
]


@pytest.mark.parametrize(("name", "default", "own", "comes"), LAID_OVER)
def test_a_jobs_own_value_wins_also_where_it_is_false_or_0(
    name: str, default: Any, own: Any, comes: Any
) -> None:
    cron = cronjob(RUN | {name: own}, defaults={name: default})
    assert (cron["spec"] | _job(cron)).get(name) == comes


@pytest.mark.parametrize(("name", "default", "own", "comes"), LAID_OVER[:4])
def test_a_default_is_every_jobs_that_does_not_say_otherwise(
    name: str, default: Any, own: Any, comes: Any
) -> None:
    mine, others = rendered(RUN | {name: own}, RUN, defaults={name: default}).all("CronJob")
    assert (mine["spec"] | _job(mine))[name] == comes
    assert (others["spec"] | _job(others))[name] == default


def test_an_empty_text_takes_a_default_away() -> None:
    defaults = {"grace": "1h", "catchUp": "every", "owner": "payments", "catchUpMaxCount": 5}
    nothing = {"grace": "", "catchUp": "", "owner": "", "catchUpMaxCount": None}

    assert len(cronjob(RUN, defaults=defaults)["metadata"]["annotations"]) == 4
    assert "annotations" not in cronjob(RUN | nothing, defaults=defaults)["metadata"]


def test_the_containers_of_k8sjob_ask_for_what_was_measured() -> None:
    """A namespace with a quota refuses a container that says nothing."""
    asked = {"requests": {"cpu": "10m", "memory": "48Mi"}, "limits": {"memory": "128Mi"}}
    found = rendered(SIDECAR)
    all_of_them = containers(pod_of(found.one("CronJob"))) | containers(found.one("Pod")["spec"])
    told = {name: one.get("resources") for name, one in all_of_them.items()}
    assert told == {"resolve": asked, "sidecar": asked, "main": None, "doctor": asked}

    page = " ".join((CHARTS.parent / "docs" / "inject.md").read_text("utf-8").split())
    assert "10m of CPU and 48Mi asked for, 128Mi at most" in page

    more = containers(pod(SIDECAR | {"sidecarResources": {"limits": {"memory": "1Gi"}}}))
    assert more["sidecar"]["resources"] == asked | {"limits": {"memory": "1Gi"}}


def test_maps_are_laid_over_key_by_key_and_lists_are_replaced() -> None:
    defaults = {
        "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}},
        "env": {"RATE": "10", "REGION": "eu"},
        "tolerations": [{"key": "batch", "operator": "Exists"}],
    }
    own = {"resources": {"requests": {"memory": "2Gi"}}, "env": {"RATE": ""}, "tolerations": []}

    spec = pod(RUN | own, defaults=defaults)

    main = containers(spec)["main"]
    assert main["resources"] == {"requests": {"cpu": "100m", "memory": "2Gi"}}
    assert variables(main)["RATE"] in ("", None)
    assert variables(main)["REGION"] == "eu"
    assert "tolerations" not in spec


def test_defaults_of_a_map_are_not_changed_by_the_jobs_before() -> None:
    first, second = rendered(
        RUN | {"env": {"RATE": "1"}, "labels": {"a": "b"}}, RUN, defaults={"env": {"RATE": "10"}}
    ).all("CronJob")
    pods = [one["spec"]["jobTemplate"]["spec"]["template"]["spec"] for one in (first, second)]

    assert [variables(containers(spec)["main"])["RATE"] for spec in pods] == ["1", "10"]
    assert "a" not in second["metadata"]["labels"]


def test_a_job_that_is_not_enabled_is_not_made() -> None:
    assert rendered(RUN, RUN, defaults={"enabled": False}).all("CronJob") == []
    assert len(rendered(RUN | {"enabled": True}, RUN, defaults={"enabled": False}).all("CronJob"))


def test_a_job_that_is_not_tracked_has_no_label() -> None:
    assert "k8sjob.io/enabled" not in cronjob(RUN | {"tracked": False})["metadata"]["labels"]


@pytest.mark.parametrize("job", [RUN, SIDECAR], ids=["run", "sidecar"])
@pytest.mark.parametrize(
    ("own", "seconds"),
    [
        ({}, 45),
        ({"stopGrace": "2m"}, 140),
        ({"stopGrace": "500ms"}, 21),
        ({"stopGrace": "08s"}, 28),
        ({"stopGrace": "1h"}, 3620),
        ({"stopGrace": "10s", "terminationGracePeriodSeconds": 15}, 15),
    ],
)
def test_a_pod_has_more_time_to_stop_than_its_work(
    job: dict[str, Any], own: dict[str, Any], seconds: int
) -> None:
    assert pod(job | own)["terminationGracePeriodSeconds"] == seconds


def test_tmp_is_an_empty_folder_or_none() -> None:
    def tmp(**own: Any) -> tuple[Any, Any]:
        spec = pod(RUN | own)
        volume = next((one for one in spec["volumes"] if one["name"] == "tmp"), None)
        mounted = [m for m in spec["containers"][0]["volumeMounts"] if m["name"] == "tmp"]
        return volume, mounted

    assert tmp() == ({"name": "tmp", "emptyDir": {}}, [{"name": "tmp", "mountPath": "/tmp"}])  # noqa: S108
    assert tmp(tmp={"sizeLimit": "64Mi"})[0] == {"name": "tmp", "emptyDir": {"sizeLimit": "64Mi"}}
    assert tmp(tmp={"enabled": False}) == (None, [])


def test_whole_numbers_stay_whole_however_large() -> None:
    """Helm reads every number as a float, and prints large ones as 1e+06."""
    cron = cronjob(RUN | {"activeDeadlineSeconds": 5_000_000, "outputBytes": 2_000_000})
    assert _job(cron)["activeDeadlineSeconds"] == 5_000_000
    main = containers(_job(cron)["template"]["spec"])["main"]
    assert variables(main)["K8SJOB_OUTPUT_BYTES"] == "2000000"
