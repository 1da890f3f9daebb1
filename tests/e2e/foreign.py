"""A Job whose work is done by an image that knows nothing of k8sjob: psql and a shell.

Only the first container has a token of the API.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e import manifests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.e2e.cluster import Object
    from tests.e2e.images import Images

_SHARED: Object = {"name": "k8sjob", "mountPath": "/k8sjob"}
_TOKEN: Object = {"name": "token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}

# The sleep stands for work; a psql that is stopped in it takes its transaction back at once, since
# the server looks after its client.
SCRIPT = """\
. /k8sjob/env
psql -X -v ON_ERROR_STOP=1 "$K8SJOB_DSN" <<SQL &
BEGIN;
SET LOCAL client_connection_check_interval = '1s';
SELECT k8sjob.claim('$K8SJOB_JOB', '$K8SJOB_PERIOD', attempt => '$K8SJOB_ATTEMPT');
UPDATE app.accounts SET balance = balance + 10 WHERE name = 'alice';
SELECT pg_sleep(CASE WHEN $STUCK AND nextval('app.tries') = 1 THEN 600 ELSE 0 END);
COMMIT;
SQL
trap "kill $!" TERM
wait $!; code=$?; echo $code >/k8sjob/exit; exit $code
"""


def spec(images: Images, resolve: Sequence[str] = (), *, stuck: bool = False) -> Object:
    """Return the Job's spec; where it is ``stuck``, its first try works until it is stopped."""
    find = manifests.runner(images.entrypoint, ["resolve", "--write", "/k8sjob", *resolve])
    keep = manifests.runner(images.entrypoint, ["sidecar", "--context", "/k8sjob"])
    main = {
        "name": "main",
        "image": images.postgres,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", SCRIPT],
        "env": [
            manifests.from_secret("K8SJOB_DSN", "runner"),
            {"name": "STUCK", "value": str(stuck).upper()},
        ],
        "securityContext": manifests.LOCKED_DOWN | {"runAsUser": 65534},
        "volumeMounts": [_SHARED],
    }
    return manifests.job_spec(
        main,
        automountServiceAccountToken=False,
        initContainers=[
            find | {"name": "resolve", "volumeMounts": [_SHARED, _TOKEN]},
            keep | {"name": "books", "volumeMounts": [_SHARED], "restartPolicy": "Always"},
        ],
        volumes=[{"name": "k8sjob", "emptyDir": {}}, {"name": "token", "projected": _PROJECTED}],
    )


#: What Kubernetes would mount by itself, into every container.
_PROJECTED: Object = {
    "sources": [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}},
        {
            "configMap": {
                "name": "kube-root-ca.crt",
                "items": [{"key": "ca.crt", "path": "ca.crt"}],
            }
        },
        {
            "downwardAPI": {
                "items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]
            }
        },
    ]
}
