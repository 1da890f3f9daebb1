from __future__ import annotations

from typing import Any

import pytest

from tests.chart.jobs import (
    RUN,
    SIDECAR,
    containers,
    cronjob,
    mounts,
    pod,
    refusal,
    rendered,
    variables,
)

pytestmark = pytest.mark.usefixtures("helm")

TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"
DSN = "/var/run/secrets/k8sjob"
NO_SHELL = {k: v for k, v in SIDECAR.items() if k != "command"} | {"shell": False}
every_mode = pytest.mark.parametrize(
    "job", [RUN, SIDECAR, NO_SHELL], ids=["run", "sidecar", "no shell"]
)


def _command(job: dict[str, Any]) -> Any:
    return containers(pod(job))["main"].get("command")


def test_a_target_is_run_by_k8sjob() -> None:
    assert _command(RUN) == ["k8sjob", "run", "credit:credit"]
    assert _command(RUN | {"target": "credit.sql"}) == ["k8sjob", "run", "credit.sql"]
    words = ["credit.sql", "--payload", "@/etc/rate of today"]
    assert _command(RUN | {"target": words}) == ["k8sjob", "run", *words]


def test_a_command_is_run_by_k8sjob_word_by_word() -> None:
    job = {k: v for k, v in RUN.items() if k != "target"}
    program = {"command": ["./credit", "a b"], "args": ['"$HOME"', "--", "'"]}
    words = ["--", "./credit", "a b", '"$HOME"', "--", "'"]
    assert _command(job | program) == ["k8sjob", "run", *words]
    recorded = job | program | {"recordOnSuccess": True}
    assert _command(recorded) == ["k8sjob", "run", "--record-on-success", *words]


def test_in_run_mode_there_is_one_container_with_all_that_it_needs() -> None:
    spec = pod(RUN)
    (main,) = spec["containers"]

    assert "initContainers" not in spec
    assert mounts(main) == {"ledger": DSN, "token": TOKEN, "tmp": "/tmp"}  # noqa: S108
    assert variables(main)["K8SJOB_DSN_FILE"] == f"{DSN}/dsn"
    assert variables(main)["K8SJOB_STOP_GRACE"] == "25s"
    assert main["image"] == "registry.example/billing:1.4"


def test_in_sidecar_mode_the_period_is_found_before_and_the_books_are_kept_beside() -> None:
    spec = pod(SIDECAR)
    resolve, sidecar = spec["initContainers"]
    (main,) = spec["containers"]

    assert (resolve["name"], sidecar["name"]) == ("resolve", "sidecar")
    assert resolve["command"] == ["k8sjob", "resolve", "--write", "/k8sjob"]
    assert "restartPolicy" not in resolve
    assert sidecar["command"][:4] == ["k8sjob", "sidecar", "--context", "/k8sjob"]
    assert sidecar["restartPolicy"] == "Always"
    assert resolve["image"] == sidecar["image"] == "k8sjob:0.1.0"
    assert main["image"] == "registry.example/billing:1.4"
    assert mounts(main) == {"k8sjob": "/k8sjob", "tmp": "/tmp"}  # noqa: S108
    assert main["command"][:2] == ["sh", "-c"]
    assert main["command"][3:] == ["sh", "./credit"]


def test_without_a_shell_the_main_container_is_left_as_it_is() -> None:
    main = containers(pod(NO_SHELL))["main"]
    assert ("command" in main, "args" in main) == (False, False)
    assert variables(main) == {"K8SJOB_CONTEXT": "/k8sjob"}

    words = {"command": ["/credit"], "args": ["--fast", "10"]}
    main = containers(pod(NO_SHELL | words))["main"]
    assert (main["command"], main["args"]) == (["/credit"], ["--fast", "10"])


def test_a_proxy_is_there_as_long_as_the_ledger_is_spoken_to() -> None:
    """Kubernetes starts native sidecars in their order, and stops them from the last one on."""
    wait, proxy = ({"name": name, "image": f"{name}:1"} for name in ("wait", "proxy"))
    spec = pod(SIDECAR | {"initContainers": [wait], "sidecars": [proxy]})

    assert [one["name"] for one in spec["initContainers"]] == [
        "proxy",
        "resolve",
        "wait",
        "sidecar",
    ]
    assert spec["initContainers"][0]["restartPolicy"] == "Always"

    spec = pod(RUN | {"initContainers": [wait], "sidecars": [proxy]})
    assert [one["name"] for one in spec["initContainers"]] == ["proxy", "wait"]
    assert spec["initContainers"][0]["restartPolicy"] == "Always"


# ------------------------------------------------------------------------------ who may do what


@every_mode
def test_kubernetes_mounts_no_token_by_itself(job: dict[str, Any]) -> None:
    found = rendered(job)
    specs = [found.one("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]]
    specs.append(found.one("Pod")["spec"])
    assert [spec["automountServiceAccountToken"] for spec in specs] == [False, False]
    assert found.one("ServiceAccount")["automountServiceAccountToken"] is False


@pytest.mark.parametrize(
    ("job", "with_token"),
    [(RUN, {"main"}), (SIDECAR, {"resolve"}), (NO_SHELL, {"resolve", "sidecar"})],
    ids=["run", "sidecar", "no shell"],
)
def test_only_who_asks_the_api_has_a_token(job: dict[str, Any], with_token: set[str]) -> None:
    found = containers(pod(job))
    assert {name for name, one in found.items() if TOKEN in mounts(one).values()} == with_token


def test_the_token_is_short_lived_and_comes_with_what_is_needed_to_use_it() -> None:
    (volume,) = [one for one in pod(RUN)["volumes"] if one["name"] == "token"]
    token, ca, namespace = volume["projected"]["sources"]
    assert token["serviceAccountToken"] == {"path": "token", "expirationSeconds": 3600}
    assert ca["configMap"]["items"] == [{"key": "ca.crt", "path": "ca.crt"}]
    assert namespace["downwardAPI"]["items"][0]["path"] == "namespace"


def test_the_work_gets_the_dsn_only_where_it_is_asked_for() -> None:
    main = containers(pod(SIDECAR))["main"]
    assert "ledger" not in mounts(main)
    assert "secret" not in str(main)

    main = containers(pod(SIDECAR | {"ledger": {"env": "DATABASE_URL"}}))["main"]
    key = {"name": "k8sjob-ledger", "key": "runner"}
    assert variables(main)["DATABASE_URL"] == {"secretKeyRef": key}


# --------------------------------------------------------------------------------- what they say


def test_what_only_run_reads_is_not_told_to_others() -> None:
    all_jobs = {"lockTimeout": "1m", "payload": "{}", "outputBytes": 0, "failOn": ["skipped"]}

    told = variables(containers(pod(RUN, defaults=all_jobs))["main"])
    assert (told["K8SJOB_LOCK_TIMEOUT"], told["K8SJOB_PAYLOAD"]) == ("1m", "{}")
    assert (told["K8SJOB_OUTPUT_BYTES"], told["K8SJOB_FAIL_ON"]) == ("0", "skipped")

    found = containers(pod(SIDECAR, defaults=all_jobs))
    for name in ("resolve", "sidecar"):
        told = variables(found[name])
        assert told["K8SJOB_FAIL_ON"] == "skipped"
        assert not {"K8SJOB_PAYLOAD", "K8SJOB_OUTPUT_BYTES", "K8SJOB_STOP_GRACE"} & told.keys()


@pytest.mark.parametrize(
    "own",
    [
        {"payload": "{}"},
        {"lockTimeout": "1m"},
        {"outputBytes": 0},
        {"failOn": ["blocked"]},
        {"failOn": ["skipped", "awaiting"]},
        {"failOn": ["duplicate"]},
    ],
    ids=str,
)
def test_what_would_do_nothing_in_sidecar_mode_is_refused(own: dict[str, Any]) -> None:
    said = refusal(SIDECAR | own)
    assert f"jobs.credit: {next(iter(own))} " in said
    assert "do nothing" in said or "does nothing" in said
    # It may stand in defaults, for jobs of the other mode, and be taken away here.
    assert pod(SIDECAR, defaults=own)
    nothing = {"payload": "", "lockTimeout": "", "outputBytes": None, "failOn": ["skipped"]}
    assert pod(SIDECAR | nothing, defaults=own)


@every_mode
def test_every_container_of_k8sjob_says_where_it_is(job: dict[str, Any]) -> None:
    place = {
        "K8SJOB_CRONJOB",
        "K8SJOB_NAMESPACE",
        "K8SJOB_JOB_NAME",
        "K8SJOB_JOB_UID",
        "K8SJOB_POD_NAME",
        "K8SJOB_POD_UID",
        "K8SJOB_NODE",
    }
    for one in containers(pod(job)).values():
        if one["name"] != "main" or job is RUN:
            assert place <= variables(one).keys()


def test_variables_may_be_a_map_or_kubernetes_own_list() -> None:
    secret = {"secretKeyRef": {"name": "bank", "key": "token"}}
    as_map = {"A": "1", "B": {"valueFrom": secret}}
    as_list = [{"name": "B", "valueFrom": secret}, {"name": "A", "value": "$(B)"}]

    told = variables(containers(pod(RUN | {"env": as_map}))["main"])
    assert (told["A"], told["B"]) == ("1", secret)
    main = containers(pod(RUN | {"env": as_list}))["main"]
    assert main["env"][-2:] == as_list


def test_a_job_keeps_its_template_apart_from_the_release() -> None:
    """Only what chooses Pods goes to them: a chart's version would change all Jobs at upgrades."""
    labels = cronjob(RUN)["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
    assert labels == {
        "app.kubernetes.io/name": "k8sjob-jobs",
        "app.kubernetes.io/instance": "billing",
        "app.kubernetes.io/component": "job",
    }
