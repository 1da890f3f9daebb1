"""The Kubernetes API over the official client: lists, gets, and the create of a Job.

JSON goes in and out, no models. For reconciler and backfill; the entrypoint has `inside`.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from k8sjob.errors import TryAgain, Unavailable
from k8sjob.kube.connect import Answer, Api, connect
from k8sjob.kube.failure import PASSING, Ask, Gone, NotFound, pause_before, refused
from k8sjob.kube.objects import CronJob, Event, Job, Pod, UnreadableObject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Cluster", "Created", "NotFound", "UnreadableObject"]

#: Objects of one page: what kubectl and the controllers ask for.
PAGE = 500

_TRIES = 5
_LISTS = 3
#: Seconds that all pauses of one request may take together.
_PATIENCE_S = 60.0

_OK, _DENIED, _CONFLICT = range(200, 300), 401, 409

Parsed = TypeVar("Parsed")


@dataclass(frozen=True, slots=True)
class Created:
    """What a create came to: ``created``, or ``exists`` (409); ``raw`` is the Job that is there."""

    how: Literal["created", "exists"]
    raw: Mapping[str, Any]

    @property
    def job(self) -> Job:
        """The Job that is there now. Raises UnreadableObject."""
        return Job.parse(self.raw)


class Cluster:
    """One API server and one identity.

    All methods raise Denied (401, 403: the message has the RBAC rule to add), TryAgain (429, 5xx
    after some tries), Unavailable (not reached after some tries) and UnreadableObject.
    """

    def __init__(
        self, reconnect: Callable[[], Api], *, pause: Callable[[float], object] = time.sleep
    ) -> None:
        """Take what makes a connection; ``pause`` sleeps that many seconds between tries."""
        self._reconnect, self._pause = reconnect, pause
        self._api = reconnect()

    @classmethod
    def connect(
        cls,
        *,
        context: str | None = None,
        kubeconfig: str | None = None,
        pause: Callable[[float], object] = time.sleep,
    ) -> Cluster:
        """Take the kubeconfig that is named, else a Pod's own service account, else the usual file.

        Nothing is asked yet. Raises ConfigError where there is no client or no such configuration.
        """
        return cls(lambda: connect(context=context, kubeconfig=kubeconfig), pause=pause)

    @property
    def host(self) -> str:
        """The address of the API server, without any password."""
        return self._api.host

    def close(self) -> None:
        """Give the connections back."""
        self._api.close()

    # --------------------------------------------------------------------------------- lists

    def list_cronjobs(self, namespace: str | None, label_selector: str = "") -> list[CronJob]:
        """Return the CronJobs of a namespace (None: of all)."""
        return self._list("cronjobs", namespace, CronJob.parse, labelSelector=label_selector)

    def list_jobs(self, namespace: str | None, label_selector: str = "") -> list[Job]:
        """Return the Jobs of a namespace (None: of all)."""
        return self._list("jobs", namespace, Job.parse, labelSelector=label_selector)

    def list_pods(self, namespace: str | None, label_selector: str = "") -> list[Pod]:
        """Return the Pods of a namespace (None: of all)."""
        return self._list("pods", namespace, Pod.parse, labelSelector=label_selector)

    def list_events(self, namespace: str | None, field_selector: str = "") -> list[Event]:
        """Return the Events of a namespace (None: of all)."""
        return self._list("events", namespace, Event.parse, fieldSelector=field_selector)

    def _list(
        self,
        resource: str,
        namespace: str | None,
        parse: Callable[[object], Parsed],
        **selector: str,
    ) -> list[Parsed]:
        """Return all pages or raise: half a list would make what is there look gone."""
        ask = Ask("list", resource, namespace)
        wanted = {name: text for name, text in selector.items() if text}
        for _ in range(_LISTS):
            try:
                items = self._pages(ask, wanted)
            except Gone:  # the pages seen so far are of another moment: begin anew
                continue
            return [parse(item) for item in items]
        raise TryAgain(
            f"the API server forgot the rest of a list while it was read ({ask}), {_LISTS} times. "
            "Nothing was done.\n  It may be short of memory, or the link to it slow: try again."
        )

    def _pages(self, ask: Ask, wanted: Mapping[str, str]) -> list[object]:
        items: list[object] = []
        query: dict[str, str | int] = {"limit": PAGE, **wanted}
        while True:
            page = self._json(ask, self._ask(ask, query))
            found, meta = page.get("items") or [], page.get("metadata") or {}
            if not isinstance(found, list) or not isinstance(meta, dict):
                raise _garbled(ask, "no list")
            items += found
            if not meta.get("continue"):
                return items
            query["continue"] = meta["continue"]

    # ------------------------------------------------------------------------------- objects

    def get_cronjob(self, namespace: str, name: str) -> CronJob:
        """Return a CronJob. Raises NotFound."""
        return CronJob.parse(self._get(Ask("get", "cronjobs", namespace, name)))

    def get_job(self, namespace: str, name: str) -> Job:
        """Return a Job. Raises NotFound."""
        return Job.parse(self._get(Ask("get", "jobs", namespace, name)))

    def create_job(self, manifest: Mapping[str, Any]) -> Created:
        """Create a Job, or return the one that has its name already.

        To ask twice is harmless: the second create meets the first.
        """
        meta = manifest["metadata"]
        ask = Ask("create", "jobs", meta["namespace"], meta["name"])
        answer = self._ask(ask, {}, manifest)
        if answer.status == _CONFLICT and _reason(answer) == "AlreadyExists":
            return Created("exists", self._get(ask._replace(verb="get")))
        return Created("created", self._json(ask, answer))

    def _get(self, ask: Ask) -> dict[str, Any]:
        return self._json(ask, self._ask(ask, {}))

    # ------------------------------------------------------------------------------ requests

    def _ask(
        self, ask: Ask, query: Mapping[str, Any], body: Mapping[str, Any] | None = None
    ) -> Answer:
        """Return the first answer that is more than a passing trouble, else the last one."""
        waited, renewed = 0.0, False
        for tried in range(1, _TRIES):
            answer = self._api.call(ask, query, body)
            if answer.status == _DENIED and not renewed:
                self._renew()  # the token may have been exchanged
                renewed = True
                continue
            waited += (pause := pause_before(answer.headers, tried))
            if (answer.status and answer.status not in PASSING) or waited > _PATIENCE_S:
                return answer
            self._pause(pause)
        return self._api.call(ask, query, body)

    def _renew(self) -> None:
        self._api.close()
        self._api = self._reconnect()

    def _json(self, ask: Ask, answer: Answer) -> dict[str, Any]:
        """Return the object of a good answer. Raises what stands for a bad one."""
        if not answer.status:
            raise Unavailable(
                f"the API server {self.host} was not reached to {ask}: {answer.body}. Nothing is "
                "known from that, and nothing was done.\n"
                "  Look at the address and the network: kubectl get --raw /readyz"
            )
        if answer.status not in _OK:
            raise refused(ask, answer.status, answer.body)
        try:
            told = json.loads(answer.body)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise _garbled(ask, "no JSON object")
        return told


def _reason(answer: Answer) -> str | None:
    try:
        told = json.loads(answer.body)
    except ValueError:
        return None
    return told.get("reason") if isinstance(told, dict) else None


def _garbled(ask: Ask, what: str) -> Unavailable:
    return Unavailable(
        f"the answer to {ask} is {what}. Nothing is known from that, and nothing was done.\n"
        "  Something else may have answered in the API server's place: a proxy, a login page."
    )
