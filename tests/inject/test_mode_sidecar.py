"""Mode sidecar: two more containers, and a shell before the command."""

from __future__ import annotations

from k8sjob.manifest.inject.record import Mode
from k8sjob.manifest.inject.sidecar import SCRIPT
from tests.inject.examples import COMMENTED, EMPTY, FLOW, UNINDENTED
from tests.inject.injected import covered, cronjobs, main_of, pod_of, told
from tests.manifest.manifests import cronjob


def test_two_more_containers_stand_behind_those_that_were_there() -> None:
    (one,) = cronjobs(covered(UNINDENTED, mode=Mode.SIDECAR, image="here/k8sjob:1"))
    names = [c["name"] for c in pod_of(one)["initContainers"]]
    assert names == ["wait", "k8sjob-resolve", "k8sjob-sidecar"]
    _, resolve, books = pod_of(one)["initContainers"]
    assert resolve["args"] == ["resolve", "--write", "/k8sjob"]
    assert books["args"] == ["sidecar", "--context", "/k8sjob", "--container", "main"]
    assert (books["restartPolicy"], resolve.get("restartPolicy")) == ("Always", None)
    assert {resolve["image"], books["image"]} == {"here/k8sjob:1"}
    assert "K8SJOB_DSN" not in str(main_of(one))


def test_the_token_is_mounted_into_the_first_one_only() -> None:
    (one,) = cronjobs(covered(EMPTY, mode=Mode.SIDECAR))
    mounts = {
        c["name"]: [m["name"] for m in c["volumeMounts"]]
        for c in [*pod_of(one)["initContainers"], *pod_of(one)["containers"]]
    }
    assert mounts == {
        "k8sjob-resolve": ["k8sjob", "k8sjob-token"],
        "k8sjob-sidecar": ["k8sjob"],
        "main": ["k8sjob"],
    }


def test_pod_security_restricted_takes_both() -> None:
    (one,) = cronjobs(covered(EMPTY, mode=Mode.SIDECAR))
    for container in pod_of(one)["initContainers"]:
        security = container["securityContext"]
        assert security["runAsNonRoot"] is True
        assert security["allowPrivilegeEscalation"] is False
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        assert security["readOnlyRootFilesystem"] is True


def test_a_pod_that_runs_as_root_does_not_make_them_root() -> None:
    for user, wanted in (("0", 65532), ("1000", None)):
        text = cronjob(pod=f"securityContext: {{runAsUser: {user}}}").replace("k8sjob, run", "a, b")
        (one,) = cronjobs(covered(text, mode=Mode.SIDECAR))
        for container in pod_of(one)["initContainers"]:
            assert container["securityContext"].get("runAsUser") == wanted


def test_the_shell_stands_before_the_command_in_one_line_or_several() -> None:
    (block,) = cronjobs(covered(COMMENTED, mode=Mode.SIDECAR))
    (flow,) = cronjobs(covered(FLOW, mode=Mode.SIDECAR))
    assert main_of(block)["command"] == ["sh", "-c", SCRIPT, "k8sjob", "./credit.sh", "--fast"]
    one_line = SCRIPT.replace("\n", "; ")
    assert main_of(flow)["command"] == ["sh", "-c", one_line, "k8sjob", "./credit.sh", "--fast"]


def test_that_the_command_has_to_claim_is_told() -> None:
    assert any("k8sjob.claim(" in w for w in told(COMMENTED, mode=Mode.SIDECAR).warnings)
