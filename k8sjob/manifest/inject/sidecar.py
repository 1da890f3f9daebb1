"""Mode sidecar: for an image of any language, two more containers beside its own. Pure.

One finds the period before it starts, one keeps the books while it runs (docs/periods.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from k8sjob.manifest.calls import calls
from k8sjob.manifest.inject.emit import Inline, InlineList
from k8sjob.manifest.inject.put import Unwritable
from k8sjob.manifest.inject.sums import data_of, sum_of
from k8sjob.manifest.inject.wanted import (
    ACCOUNT,
    check_command,
    downward,
    from_secret,
    identity,
    names_in,
    set_policy,
)

if TYPE_CHECKING:
    from k8sjob.manifest.case import Case
    from k8sjob.manifest.inject.options import Asked
    from k8sjob.manifest.inject.wanted import Wanted
    from k8sjob.manifest.inject.written import Written
    from k8sjob.manifest.tree import Spot

RESOLVE: Final = "k8sjob-resolve"
SIDECAR: Final = "k8sjob-sidecar"
VOLUME: Final = "k8sjob"
TOKEN: Final = "k8sjob-token"  # noqa: S105  # the name of a volume
FOLDER: Final = "/k8sjob"

#: A shell as PID 1 passes no signal on by itself. A wait that a signal has ended tells nothing yet
#: of the command, and one more after the end tells 127. Of a file that is not there some shells
#: make nothing.
SCRIPT: Final = f"""\
. {FOLDER}/env || exit 78
_stop= _pid= _code=127
_end() {{ _stop=1; kill "$_pid" 2>/dev/null; }}
trap _end TERM INT QUIT HUP
"$@" & _pid=$!
[ -z "$_stop" ] || kill "$_pid"
while _stop=; wait "$_pid"; _got=$?; [ $_got = 127 ] || _code=$_got; [ -n "$_stop" ]; do :; done
echo $_code >{FOLDER}/exit
exit $_code"""

#: The image's own (Dockerfile).
_USER: Final = 65532
_MOUNT: Final = {"name": VOLUME, "mountPath": FOLDER}
#: Where in Wanted the pieces of each kind are, and by what the items of their lists are known.
_MADE: Final = {"mount": "mounts", "container": "init", "volume": "volumes"}
_TITLES: Final = {"env": "name", "volumeMounts": "mountPath"}


def cover(wanted: Wanted, case: Case, container: Spot, asked: Asked) -> None:
    """Want two more containers, and a shell around the command. Raises Unwritable."""
    _check(case, container, wanted.container)
    wanted.prefix = ["sh", "-c", SCRIPT, "k8sjob"]
    wanted.mounts = [dict(_MOUNT)]
    wanted.init = [_resolve(case, asked), _sidecar(case, asked, wanted.container)]
    wanted.volumes = [{"name": VOLUME, "emptyDir": Inline()}, _token()]
    wanted.notes += _notes(asked)
    set_policy(wanted, case, RESOLVE, f"of {RESOLVE}")
    if case.pod_spec["restartPolicy"].text == "OnFailure":
        wanted.warnings.append(
            "restartPolicy OnFailure starts the command again in the same Pod, and only its first "
            "end is written down: restartPolicy Never makes each try an attempt"
        )
    wanted.warnings.append(
        "nothing is recorded unless the command claims: SELECT k8sjob.claim('$K8SJOB_JOB', "
        "'$K8SJOB_PERIOD', attempt => '$K8SJOB_ATTEMPT') in the transaction of its work"
    )


def lost(gone: list[tuple[str, str, Written]], wanted: Wanted | None) -> list[str]:
    """Return a warning for each piece that a person has changed and that goes or is made anew."""
    made = {
        (kind, one["name"]): one
        for kind, ones in _MADE.items()
        for one in (getattr(wanted, ones) if wanted else [])
    }
    return [
        f"{kind} {name} is made anew, without what it had by hand: "
        f"{', '.join(_by_hand(data_of(there), made[kind, name]))}"
        if (kind, name) in made
        else f"{kind} {name} went, with what it had by hand"
        for kind, name, there in gone
    ]


def _by_hand(there: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return the names of what differs, in lists those of their items."""
    found = []
    for name in [*there, *(name for name in new if name not in there)]:
        old, made = there.get(name), new.get(name)
        if sum_of({name: old}) == sum_of({name: made}):
            continue
        title = _TITLES.get(name)
        if title and isinstance(old, list) and isinstance(made, list):
            found += _by_hand(_by_title(old, title), _by_title(made, title))
        else:
            found.append(name)
    return found


def _by_title(items: list[Any], title: str) -> dict[str, Any]:
    return {one.get(title, ""): one for one in items if isinstance(one, dict)}


def _notes(asked: Asked) -> list[str]:
    command = (
        "command behind sh -c, which its image has to have: it gets K8SJOB_JOB, _PERIOD and "
        f"_ATTEMPT from {FOLDER}/env, and leaves its exit code in {FOLDER}/exit"
    )
    return [
        f"init container {RESOLVE} ({asked.image}): finds the period, by a token of its own",
        f"sidecar {SIDECAR}: writes the attempt's start, signs of life and end",
        command,
        f"K8SJOB_DSN from Secret {asked.secret}, key {asked.key}: the ledger, for these two",
    ]


def _check(case: Case, container: Spot, name: str) -> None:
    if calls(container).covers:
        raise Unwritable(
            container.at,
            f"its container {name} calls k8sjob by itself, so it needs no sidecar: pass --mode run",
        )
    check_command(container, name)
    for spot, names in (
        (case.pod_spec["volumes"], {VOLUME, TOKEN}),
        (case.pod_spec["initContainers"], {RESOLVE, SIDECAR}),
        (case.pod_spec["containers"], {RESOLVE, SIDECAR}),
    ):
        if taken := names & {*names_in(spot)}:
            raise Unwritable(spot.at, f"it has something called {min(taken)} by hand: rename that")
    for mount in container["volumeMounts"].items():
        if (mount["mountPath"].text or "").rstrip("/") == FOLDER:
            raise Unwritable(mount.at, f"its container {name} has another volume at {FOLDER}")


def _resolve(case: Case, asked: Asked) -> dict[str, Any]:
    made = _container(RESOLVE, case, asked, ["resolve", "--write", FOLDER])
    made["env"] = [*downward(case, with_job=True), *identity(case, asked), from_secret(asked)]
    made["volumeMounts"] = [dict(_MOUNT), {"name": TOKEN, "mountPath": ACCOUNT, "readOnly": True}]
    return made


def _sidecar(case: Case, asked: Asked, main: str) -> dict[str, Any]:
    args = ["sidecar", "--context", FOLDER, "--container", main]
    made = _container(SIDECAR, case, asked, args)
    made["env"] = [*downward(case, with_job=False), from_secret(asked)]
    made["volumeMounts"] = [dict(_MOUNT)]
    return made


def _container(name: str, case: Case, asked: Asked, args: list[str]) -> dict[str, Any]:
    """Return a container that Pod security `restricted` takes, whatever the Pod itself is."""
    # Its image names a user; some clusters choose one, which a number here would forbid.
    is_root = case.pod_spec.under("securityContext", "runAsUser").number == 0
    always = {"restartPolicy": "Always"} if name == SIDECAR else {}
    return {
        "name": name,
        "image": asked.image,
        **always,
        "args": InlineList(args),
        "env": [],
        "resources": {
            "requests": Inline(cpu="10m", memory="48Mi"),
            "limits": Inline(memory="128Mi"),
        },
        "securityContext": {
            "runAsNonRoot": True,
            **({"runAsUser": _USER} if is_root else {}),
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": Inline(drop=["ALL"]),
            "seccompProfile": Inline(type="RuntimeDefault"),
        },
        "volumeMounts": [],
    }


def _token() -> dict[str, Any]:
    """Return the volume that Kubernetes mounts by itself, into one container only."""
    sources = [
        Inline(serviceAccountToken={"path": "token", "expirationSeconds": 3600}),
        Inline(
            configMap={"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
        ),
        Inline(
            downwardAPI={
                "items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]
            }
        ),
    ]
    return {"name": TOKEN, "projected": {"sources": sources}}
