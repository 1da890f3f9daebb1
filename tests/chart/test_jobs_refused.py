from __future__ import annotations

from typing import Any

import pytest

from tests.chart.jobs import RUN, SIDECAR, refusal, rendered
from tests.fix_chart import ChartError, render, validate

pytestmark = pytest.mark.usefixtures("helm")

#: What is wrong, and what the message has to have: where it is, and what is the matter.
WRONG: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "a misspelt key": (RUN | {"catchup": "every"}, ("/jobs/credit", "catchup")),
    "no schedule": ({"timeZone": "Etc/UTC", "target": "a:b"}, ("/jobs/credit", "schedule")),
    "a zone in the schedule": (
        RUN | {"schedule": "CRON_TZ=Europe/Rome 0 2 * * *"},
        ("/jobs/credit/schedule", "CRON_TZ=Europe/Rome 0 2 * * *"),
    ),
    "a zone in the schedule, the short way": (
        RUN | {"schedule": "TZ=UTC 0 2 * * *"},
        ("/jobs/credit/schedule",),
    ),
    "six fields": (RUN | {"schedule": "0 0 2 * * *"}, ("/jobs/credit/schedule",)),
    "7 for Sunday": (
        RUN | {"schedule": "0 2 * * 7"},
        ('jobs.credit: schedule: "0 2 * * 7" has "7" for the day of the week', "0 (Sunday) to 6"),
    ),
    "an hour that there is not": (
        RUN | {"schedule": "0 2-24 * * *"},
        ('jobs.credit: schedule: "0 2-24 * * *" has "2-24" for the hour', "0 to 23"),
    ),
    "@every": (
        RUN | {"schedule": "@every 90m"},
        ("jobs.credit: schedule: @every 90m counts from one start to the next", "five fields"),
    ),
    "@reboot": (
        RUN | {"schedule": "@reboot"},
        ("jobs.credit: schedule: @reboot is none that Kubernetes knows", "@daily"),
    ),
    "no zone": (
        {"schedule": "0 2 * * *", "target": "a:b"},
        ("jobs.credit: timeZone is not set", "Nothing was rendered", "timeZone: Etc/UTC"),
    ),
    "a zone in lower case": (RUN | {"timeZone": "europe/rome"}, ("/jobs/credit/timeZone",)),
    "Local": (RUN | {"timeZone": "Local"}, ("jobs.credit: timeZone: Local", "Europe/Rome")),
    "an unknown mode": (RUN | {"mode": "init"}, ("/jobs/credit/mode", "'run'", "'sidecar'")),
    "an unknown catch-up": (RUN | {"catchUp": "all"}, ("/jobs/credit/catchUp", "'latest'")),
    "an unknown cycle": (RUN | {"cycle": "daily"}, ("/jobs/credit/cycle", "'day'")),
    "an unknown concurrency": (
        RUN | {"concurrencyPolicy": "forbid"},
        ("/jobs/credit/concurrencyPolicy", "'Forbid'"),
    ),
    "a duration in words": (RUN | {"grace": "5 minutes"}, ("/jobs/credit/grace", "5 minutes")),
    "a duration as a number": (RUN | {"maxLateness": 3600}, ("/jobs/credit/maxLateness",)),
    "a duration of nothing": (RUN | {"grace": "0s"}, ("jobs.credit: grace: 0s", "36500d")),
    "a duration beyond the calendar": (
        RUN | {"retention": "36501d"},
        ("jobs.credit: retention: 36501d",),
    ),
    "an outcome that fails anyway": (RUN | {"failOn": ["failed"]}, ("/jobs/credit/failOn/0",)),
    "a starting deadline of 0": (
        RUN | {"startingDeadlineSeconds": 0},
        ("/jobs/credit/startingDeadlineSeconds", "10"),
    ),
    "a deadline of 0": (
        RUN | {"activeDeadlineSeconds": 0},
        ("/jobs/credit/activeDeadlineSeconds", "1"),
    ),
    "no deadline": (
        RUN | {"activeDeadlineSeconds": None},
        ("/jobs/credit/activeDeadlineSeconds", "want integer"),
    ),
    "an annotation of ours": (
        RUN | {"annotations": {"k8sjob.io/grace": "5m"}},
        ("jobs.credit: annotations has k8sjob.io/grace",),
    ),
    "an annotation that is no text": (
        RUN | {"annotations": {"example.com/ticket": 4711}},
        ("/jobs/credit/annotations", "want string"),
    ),
    "a variable that is no text": (RUN | {"env": {"RATE": 10}}, ("/jobs/credit/env",)),
    "a word that is no text": (SIDECAR | {"command": ["sleep", 5]}, ("/jobs/credit/command/1",)),
    "a target that is a flag": (RUN | {"target": "--period"}, ("/jobs/credit/target",)),
    "nothing to run": (
        {"schedule": "0 2 * * *", "timeZone": "Etc/UTC"},
        ("jobs.credit: nothing is named to run", "target: module:function"),
    ),
    "both target and command": (
        RUN | {"command": ["./credit"]},
        ("jobs.credit: both target and command",),
    ),
    "args of a target": (RUN | {"args": ["--fast"]}, ("jobs.credit: args", "list")),
    "a target that is recorded on success": (
        RUN | {"recordOnSuccess": True},
        ("jobs.credit: recordOnSuccess goes with a command",),
    ),
    "a target in sidecar mode": (
        SIDECAR | {"target": "a:b"},
        ("jobs.credit: target goes with mode: run",),
    ),
    "a record in sidecar mode": (
        SIDECAR | {"recordOnSuccess": True},
        ("jobs.credit: recordOnSuccess goes with mode: run",),
    ),
    "a shell without a command": (
        {"schedule": "0 2 * * *", "timeZone": "Etc/UTC", "mode": "sidecar"},
        ("jobs.credit: with shell: true", "shell: false"),
    ),
    "too little time to stop": (
        RUN | {"stopGrace": "1m", "terminationGracePeriodSeconds": 60},
        ("jobs.credit: terminationGracePeriodSeconds: 60", "stopGrace: 1m"),
    ),
    "a code that asks for another try": (
        RUN | {"permanentExitCodes": [75]},
        ("jobs.credit: permanentExitCodes has 75",),
    ),
    "no failure as a code": (RUN | {"permanentExitCodes": [0]}, ("permanentExitCodes/0",)),
    "a volume of ours": (
        RUN | {"volumes": [{"name": "tmp", "emptyDir": {}}]},
        ("jobs.credit: a volume is called tmp",),
    ),
    "a folder of ours": (
        RUN | {"volumeMounts": [{"name": "mine", "mountPath": "/tmp/"}]},  # noqa: S108
        ("jobs.credit: volumeMounts has /tmp/", "tmp: {enabled: false}"),
    ),
    "another ledger by a variable": (
        RUN | {"env": {"K8SJOB_DSN": "postgresql://"}},
        ("jobs.credit: env has K8SJOB_DSN", "ledger.existingSecret"),
    ),
    "one period for all runs": (
        SIDECAR | {"env": [{"name": "K8SJOB_PERIOD", "value": "2026-09-13"}]},
        ("jobs.credit: env has K8SJOB_PERIOD", "k8sjob backfill"),
    ),
    "a container of ours": (
        SIDECAR | {"initContainers": [{"name": "resolve", "image": "x"}]},
        ("jobs.credit: a container is called resolve",),
    ),
    "a variable of ours": (
        RUN | {"env": {"K8SJOB_CYCLE": "day"}},
        ("jobs.credit: env has K8SJOB_CYCLE",),
    ),
    "a variable of ours in a list": (
        RUN | {"env": [{"name": "K8SJOB_PAYLOAD", "value": "x"}]},
        ("jobs.credit: env has K8SJOB_PAYLOAD",),
    ),
    "a variable that has no name": (
        RUN | {"env": {"RATE-OF-TODAY": "10"}},
        ('jobs.credit: env has "RATE-OF-TODAY"',),
    ),
    "a variable twice": (
        RUN | {"env": {"DSN": "x"}, "ledger": {"env": "DSN"}},
        ("jobs.credit: a variable is in env twice",),
    ),
    "a tag in the repository": (
        RUN | {"image": {"repository": "billing:1.4"}},
        ("/jobs/credit/image/repository",),
    ),
}


@pytest.mark.parametrize(("job", "said"), WRONG.values(), ids=WRONG)
def test_a_job_that_cannot_be_meant_is_refused(job: dict[str, Any], said: tuple[str, ...]) -> None:
    message = refusal(job)
    assert [text for text in said if text not in message] == [], message


TOP: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "a misspelt key": ({"Jobs": {}}, ("Jobs",)),
    "a misspelt key of defaults": ({"defaults": {"graec": "1h"}}, ("/defaults", "graec")),
    "a misspelt key of the ledger": ({"ledger": {"secret": "x"}}, ("/ledger", "secret")),
    "no image": ({"image": {}}, ("jobs.credit: no image is named", "image.repository")),
    "an image without a tag": (
        {"image": {"repository": "billing"}},
        ("jobs.credit: the image billing has neither tag nor digest",),
    ),
    "a digest cut short": ({"image": {"digest": "sha256:abc"}}, ("/image/digest",)),
    "a prefix in capitals": ({"namePrefix": "Shop-"}, ("/namePrefix",)),
    "a prefix that a template makes": (
        {"namePrefix": "{{ .Chart.AppVersion }}-"},
        ("jobs.credit: its CronJob would be called", "namePrefix"),
    ),
    "no Secret": ({"ledger": {"existingSecret": ""}}, ("/ledger/existingSecret",)),
    "another type": ({"tests": {"enabled": "no"}}, ("/tests/enabled", "want boolean")),
}


@pytest.mark.parametrize(("top", "said"), TOP.values(), ids=TOP)
def test_a_chart_that_cannot_be_meant_is_refused(
    top: dict[str, Any], said: tuple[str, ...]
) -> None:
    message = refusal(RUN, **top)
    assert [text for text in said if text not in message] == [], message


def test_a_name_is_free_where_the_chart_makes_no_such_thing() -> None:
    """A program may have a /tmp of its own, and in mode run a volume called k8sjob."""
    volumes: list[Any] = [{"name": name, "emptyDir": {}} for name in ("tmp", "k8sjob")]
    mine = {"volumes": volumes, "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}]}  # noqa: S108

    found = rendered(RUN | mine | {"tmp": {"enabled": False}})

    assert validate(found.all("CronJob")) == []


@pytest.mark.parametrize("name", ["Credit", "daily_credit", "-credit", "credit-", "a.b", "x" * 64])
def test_a_key_that_is_no_dns_label_is_refused(name: str) -> None:
    image = {"repository": "billing", "tag": "1"}
    with pytest.raises(ChartError, match=f"jobs.{name}: the key is the CronJob's name"):
        render("k8sjob-jobs", {"image": image, "jobs": {name: RUN}})


def test_two_jobs_that_would_have_one_name_are_refused() -> None:
    """Only somebody who writes the digits of another key's hash comes to this."""
    long = "a" * 60
    cut = render(
        "k8sjob-jobs", {"image": {"repository": "b", "tag": "1"}, "jobs": {long: RUN}}
    ).one("CronJob")["metadata"]["name"]

    with pytest.raises(ChartError, match=f"would be called {cut}, as that of jobs"):
        render(
            "k8sjob-jobs",
            {"image": {"repository": "b", "tag": "1"}, "jobs": {long: RUN, cut: RUN}},
        )


def test_a_job_that_is_not_enabled_may_be_unfinished() -> None:
    draft = {"schedule": "0 2 * * *", "enabled": False}
    assert len(rendered(RUN, draft).all("CronJob")) == 1
