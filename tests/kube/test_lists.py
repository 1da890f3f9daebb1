from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.errors import Denied, TryAgain, Unavailable
from k8sjob.kube.fields import UnreadableObject
from tests.kube.made import cronjob, job
from tests.kube.made_pods import event, pod

if TYPE_CHECKING:
    from k8sjob.kube.client import Cluster
    from tests.kube.apiserver import ApiServer


def jobs(api: ApiServer, count: int) -> list[str]:
    names = [f"credit-{n:04}" for n in range(count)]
    api.add(*(job(f"billing/{name}") for name in names))
    return names


def test_a_list_is_read_page_by_page(api: ApiServer, cluster: Cluster) -> None:
    names = jobs(api, 7)
    api.page_limit = 3
    assert [j.name for j in cluster.list_jobs("billing")] == names
    limits = [(r.query["limit"], "continue" in r.query) for r in api.requests]
    assert limits == [("500", False), ("500", True), ("500", True)]


def test_a_list_of_nothing_is_empty(cluster: Cluster) -> None:
    assert cluster.list_cronjobs("billing") == []


def test_lists_go_by_namespace_and_by_label(api: ApiServer, cluster: Cluster) -> None:
    api.add(
        cronjob("billing/credit"),
        cronjob("billing/old", labels={}),
        cronjob("ops/vacuum"),
        pod("billing/credit-1-x2v", of="billing/credit-1"),
        event("billing", "Job/credit-1", "FailedCreate", "no account"),
        event("billing", "Job/credit-2", "FailedCreate", "no account"),
    )
    enabled = "k8sjob.io/enabled=true"
    assert [c.name for c in cluster.list_cronjobs("billing", enabled)] == ["credit"]
    assert [c.name for c in cluster.list_cronjobs(None, enabled)] == ["credit", "vacuum"]
    assert [c.name for c in cluster.list_cronjobs(None)] == ["credit", "old", "vacuum"]
    assert [p.name for p in cluster.list_pods("billing", "job-name=credit-1")] == ["credit-1-x2v"]
    found = cluster.list_events("billing", "involvedObject.name=credit-1,involvedObject.kind=Job")
    assert [e.about for e in found] == ["credit-1"]


def test_a_page_that_fails_for_a_moment_is_asked_for_again(
    api: ApiServer, cluster: Cluster, pauses: list[float]
) -> None:
    names = jobs(api, 4)
    api.page_limit = 2
    api.fail("list", "jobs", 503, after=1)
    assert [j.name for j in cluster.list_jobs("billing")] == names
    assert len(pauses) == 1


def test_a_page_that_goes_on_failing_fails_the_whole_list(api: ApiServer, cluster: Cluster) -> None:
    jobs(api, 4)
    api.page_limit = 2
    api.fail("list", "jobs", 500, after=1, times=99)
    with pytest.raises(TryAgain, match=r"answered 500 to list jobs in namespace billing"):
        cluster.list_jobs("billing")
    assert len(api.requests) == 1 + 5


def test_a_page_that_is_denied_fails_the_whole_list(api: ApiServer, cluster: Cluster) -> None:
    jobs(api, 4)
    api.page_limit = 2
    api.fail("list", "jobs", 403, after=1)
    with pytest.raises(Denied):
        cluster.list_jobs("billing")


def test_a_list_whose_next_page_is_forgotten_is_begun_anew(
    api: ApiServer, cluster: Cluster
) -> None:
    names = jobs(api, 4)
    api.page_limit = 2
    api.fail("list", "jobs", 410, after=1)
    assert [j.name for j in cluster.list_jobs("billing")] == names
    assert ["continue" in r.query for r in api.requests] == [False, True, False, True]


def test_a_list_that_is_forgotten_each_time_is_given_up(api: ApiServer, cluster: Cluster) -> None:
    jobs(api, 4)
    api.page_limit = 2
    api.fail("list", "jobs", 410, times=1, after=1)
    api.fail("list", "jobs", 410, times=1, after=2)
    api.fail("list", "jobs", 410, times=1, after=3)
    with pytest.raises(TryAgain, match=r"forgot the rest of a list .* 3 times"):
        cluster.list_jobs("billing")


@pytest.mark.parametrize(
    "body", ["<html>log in</html>", "[]", '{"items": [', '{"items": 7, "metadata": {}}']
)
def test_an_answer_that_is_no_list_is_not_taken_for_an_empty_one(
    api: ApiServer, cluster: Cluster, body: str
) -> None:
    api.fail("list", "jobs", 200, body=body)
    with pytest.raises(Unavailable, match=r"the answer to list jobs in namespace billing is no"):
        cluster.list_jobs("billing")


def test_one_garbled_object_fails_the_list_by_its_name(api: ApiServer, cluster: Cluster) -> None:
    broken = cronjob("billing/broken")
    broken["spec"]["schedule"] = 7
    api.add(cronjob("billing/credit"), broken)
    with pytest.raises(UnreadableObject, match=r"CronJob billing/broken cannot be"):
        cluster.list_cronjobs("billing")
