from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from k8sjob.kube.names import slot_of
from tests.chart.jobs import IMAGE, RUN, containers, pod_of, rendered, variables
from tests.fix_chart import render, validate

pytestmark = pytest.mark.usefixtures("helm")

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
#: Short ones, and long ones that begin alike: those are cut.
keys = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True) | st.from_regex(
    r"(a{40}|a-{41}|a{43}|ab-{40}c?)[-a-z0-9]{2,12}[a-z0-9]", fullmatch=True
).filter(lambda key: len(key) <= 63)
prefixes = st.sampled_from(["", "shop-", "s" * 30 + "-", "{{ .Release.Name }}-"])


def _names(jobs: set[str], prefix: str) -> dict[str, str]:
    """Return the CronJobs' names by the keys of their jobs."""
    values = {
        "image": IMAGE,
        "namePrefix": prefix,
        "jobs": {key: RUN | {"env": {"KEY": key}} for key in jobs},
    }
    found = render("k8sjob-jobs", values, name="billing").all("CronJob")
    return {
        variables(containers(pod_of(cron))["main"])["KEY"]: cron["metadata"]["name"]
        for cron in found
    }


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(st.sets(keys, min_size=1, max_size=6), prefixes)
def test_names_are_legal_apart_and_a_function_of_the_key(jobs: set[str], prefix: str) -> None:
    names = _names(jobs, prefix)

    assert names.keys() == jobs
    assert len(set(names.values())) == len(jobs)
    whole = prefix.replace("{{ .Release.Name }}", "billing")
    for key, name in names.items():
        assert len(name) <= 52
        assert LABEL.fullmatch(name)
        assert len(f"{name}-29818080") <= 63
        assert name == whole + key or len(whole + key) > 52
    # What else is installed changes no name: it is the job's identity.
    one = min(jobs)
    assert _names({one}, prefix) == {one: names[one]}


def test_a_long_name_is_cut_and_ends_in_its_hash() -> None:
    at_most, cut, other = "a" * 52, "a" * 53, "a" * 52 + "b"
    names = _names({at_most, cut, other}, "")

    assert names[at_most] == at_most
    assert re.fullmatch("a{43}-[0-9a-f]{8}", names[cut])
    assert names[cut] != names[other]


def test_a_name_is_not_cut_behind_a_hyphen() -> None:
    name = _names({"a" * 40 + "-" * 6 + "b" * 10}, "").popitem()[1]
    assert re.fullmatch("a{40}-[0-9a-f]{8}", name)


def test_the_entrypoint_knows_its_cronjob_by_the_name_that_it_has() -> None:
    """A Job's name tells the slot only of a CronJob of that name."""
    long = "the-weekly-statement-of-all-accounts-of-all-customers-in-eu"
    values = {"image": IMAGE, "jobs": {long: RUN}}
    cron = render("k8sjob-jobs", values).one("CronJob")
    told = variables(containers(pod_of(cron))["main"])["K8SJOB_CRONJOB"]

    assert told == cron["metadata"]["name"] != long
    assert slot_of(f"{told}-29818080", told)


@pytest.mark.parametrize("word", ["0", "007", "1e3", "true", "no", "null", "y"])
def test_words_that_yaml_takes_for_something_else_stay_names(word: str) -> None:
    job = RUN | {"env": {"y": word, "n": word}, "labels": {"a": word}, "owner": word}
    values = {"image": IMAGE | {"tag": word}, "jobs": {word: job}, "nameOverride": word}
    found = render("k8sjob-jobs", values, name=word, namespace=word)

    assert validate(found.objects) == []
    assert found.one("CronJob", word)["metadata"]["namespace"] == word


def test_without_a_prefix_the_key_is_the_name() -> None:
    assert rendered(RUN).one("CronJob")["metadata"]["name"] == "credit"
    shop = rendered(RUN, namePrefix="{{ .Release.Name }}-")
    assert shop.one("CronJob")["metadata"]["name"] == "billing-credit"


@pytest.mark.parametrize("release", ["b", "billing", "k8sjob-jobs", "x" * 53, "a.b.c", "0a"])
def test_the_names_of_what_the_jobs_share_are_legal(release: str) -> None:
    found = render("k8sjob-jobs", {"image": IMAGE, "jobs": {"credit": RUN}}, name=release)
    for one in found.objects:
        name = one["metadata"]["name"]
        assert len(name) <= 63
        assert re.fullmatch(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", name)
        labels = one["metadata"]["labels"]
        assert labels["app.kubernetes.io/instance"] == release
        assert all(len(value) <= 63 for value in labels.values())
