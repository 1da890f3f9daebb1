"""One connection to a Kubernetes API server, as the official client's configuration says.

Of that client this takes what it is good at (kubeconfigs, plugins for logging in, certificates, the
Pod's own token, which it reads again) and its pool of connections. Its models are left out: they
lose the fields that they do not know.
"""

from __future__ import annotations

import json
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

from k8sjob.errors import ConfigError
from k8sjob.kube.failure import without_password
from k8sjob.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from k8sjob.kube.failure import Ask

#: Seconds: to connect, and between two pieces of an answer.
_CONNECT_S, _READ_S = 5.0, 30.0

_METHODS = {"get": "GET", "list": "GET", "create": "POST"}
_LOGGED_OUT = "Nothing was done."


class Answer(NamedTuple):
    """What came back. ``status`` 0: nothing did, and ``body`` says why."""

    status: int
    body: str
    headers: Mapping[str, str]


class Api:
    """A pool of connections and who asks over them."""

    def __init__(self, configuration: Any) -> None:
        """Take a ``kubernetes.client.Configuration``."""
        self._configuration = configuration
        self._client = import_module("kubernetes.client").ApiClient(configuration)
        self._errors = import_module("urllib3.exceptions")

    @property
    def host(self) -> str:
        """The server's address, without any password."""
        return without_password(str(self._configuration.host))

    def close(self) -> None:
        """Give the connections back."""
        self._client.rest_client.pool_manager.clear()
        self._client.close()

    def call(
        self, ask: Ask, query: Mapping[str, Any], body: Mapping[str, Any] | None = None
    ) -> Answer:
        """Send one request and return what came back, whatever it is."""
        url = f"{self._configuration.host}{_path(ask)}{'?' if query else ''}{urlencode(query)}"
        try:
            response = self._client.rest_client.pool_manager.request(
                _METHODS[ask.verb],
                url,
                headers=self._headers(),
                body=None if body is None else json.dumps(body).encode(),
                timeout=import_module("urllib3").Timeout(connect=_CONNECT_S, read=_READ_S),
                retries=False,  # the caller's: urllib3 would sleep for any Retry-After
                redirect=False,  # a token goes to the server that was named
            )
        except self._errors.HTTPError as error:
            return Answer(0, _cause(error), {})
        return Answer(response.status, response.data.decode("utf-8", "replace"), response.headers)

    def _headers(self) -> dict[str, str]:
        # auth_settings reads a token again that may be old, and knows each version's names for it.
        auth = self._configuration.auth_settings().get("BearerToken")
        login = {"Authorization": auth["value"]} if auth and auth["value"] else {}
        return {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": f"k8sjob/{__version__}",
        } | login


def connect(*, context: str | None = None, kubeconfig: str | None = None) -> Api:
    """Return a connection; nothing is asked yet.

    A kubeconfig that is named (here, or in KUBECONFIG) wins, then a Pod's own service account, then
    the kubeconfig in the home directory. Raises ConfigError.
    """
    try:
        config = import_module("kubernetes.config")
        configuration = import_module("kubernetes.client").Configuration()
    except ImportError as error:
        raise ConfigError(
            f"the Kubernetes client is not installed ({error}). {_LOGGED_OUT}\n"
            "  pip install 'k8sjob[kube]'"
        ) from None
    named = kubeconfig or os.environ.get("KUBECONFIG")
    in_pod = bool(os.environ.get("KUBERNETES_SERVICE_HOST"))
    try:
        if in_pod and not named and not context:
            config.load_incluster_config(client_configuration=configuration)
        else:
            config.load_kube_config(
                config_file=named or None,
                context=context,
                client_configuration=configuration,
                persist_config=False,
            )
    except Exception as error:  # noqa: BLE001  # YAML, base64, types: anything may be in the file
        own = in_pod and not named and not context
        raise ConfigError(_tokenless(error) if own else _unusable(error, named, context)) from None
    return Api(configuration)


def _tokenless(error: Exception) -> str:
    said = str(error).strip().rstrip(".")
    return (
        f"this Pod has no account in the Kubernetes cluster: {said}. {_LOGGED_OUT}\n"
        "  In the chart k8sjob, set backfill.enabled: true for backfill, or control.readCluster: "
        "true for dry runs; else pass --kubeconfig FILE."
    )


def _unusable(error: Exception, named: str | None, context: str | None) -> str:
    said = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    where = f"kubeconfig {named}" if named else "no kubeconfig was named, and the usual one"
    of = f", context {context}" if context else ""
    return (
        f"the Kubernetes cluster is not configured ({where}{of}): {said}. {_LOGGED_OUT}\n"
        "  Pass --kubeconfig FILE or set KUBECONFIG; kubectl config get-contexts shows what there "
        "is."
    )


def _path(ask: Ask) -> str:
    root = f"/apis/{ask.group}/v1" if ask.group else "/api/v1"
    space = f"/namespaces/{quote(ask.namespace, safe='')}" if ask.namespace else ""
    name = f"/{quote(ask.name, safe='')}" if ask.name and ask.verb != "create" else ""
    return f"{root}{space}/{ask.resource}{name}"


def _cause(error: BaseException) -> str:
    """Return the reason that stands last in what urllib3 says, without addresses and objects."""
    return (str(error).rpartition(": ")[2].strip(" '\"()") or type(error).__name__)[:200]
