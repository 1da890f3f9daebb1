"""``k8sjob sidecar``: the rows of an attempt whose work another container does, in any language.

::

    resolve --write ─▶ context.json ─▶ start row │ signs of life … │ end row
                                    the main container ─▶ exit ──▶ ┘   SIGTERM ─▶ 0

It runs as a native sidecar (an init container with ``restartPolicy: Always``) beside the main
container, which the kubelet ends before it (measured: SIGTERM comes 0.2 to 1 s after that end).
Whatever happens to it, the main container does not notice. That a container is started again in
the same Pod (``restartPolicy: OnFailure``) is not told apart: the first end is the attempt's.
"""

from __future__ import annotations

import logging
import os
import select
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from k8sjob import log as logs
from k8sjob.duration import parse_duration
from k8sjob.errors import K8sjobError, UsageError
from k8sjob.kube.inside import Inside
from k8sjob.ledger import settings
from k8sjob.ledger.contract import Attempt
from k8sjob.ledger.open import open_ledger
from k8sjob.ledger.uuid7 import short
from k8sjob.run.child.signalpipe import SignalPipe, signals_on_a_pipe
from k8sjob.run.doubt import first_line
from k8sjob.run.entry import redactor
from k8sjob.run.origin.context_file import read_context
from k8sjob.run.report import write_termination_message
from k8sjob.run.sidecar.books import Books, Shelf
from k8sjob.run.sidecar.main import ExitFile, PodStatus, settle
from k8sjob.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from k8sjob.ledger.contract import Ending
    from k8sjob.run.origin.context_file import Context
    from k8sjob.run.sidecar.end import MainEnd

T = TypeVar("T")

log = logging.getLogger("k8sjob")

STOP: Final = (signal.SIGTERM, signal.SIGINT)
_POLL_S = 0.5
#: From the stop signal on: a failover may be over by then, and the Job waits for this container.
_STOP_GRACE = "10s"
#: Shorter than a run's own: nothing is lost by another try.
_LOCK_TIMEOUT_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """The flags of the command line; None where not given."""

    context: str | None = None
    container: str | None = None
    stop_grace: str | None = None
    ledger: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where it runs: flags and environment together. ``folder`` holds the context and exit."""

    context: str
    folder: str
    container: str | None
    stop_grace_s: float
    ledger: str | None
    env: Mapping[str, str]
    as_json: bool


def find_place(flags: Flags, env: Mapping[str, str]) -> Place:
    """Put flags and environment together. Raises UsageError, ConfigError."""
    path = flags.context or env.get("K8SJOB_CONTEXT")
    if not path:
        raise UsageError(
            "no context folder is named. Nothing was done.\n"
            "  Pass --context DIR, or set K8SJOB_CONTEXT: the folder that an init container has "
            "filled with k8sjob resolve --write DIR."
        )
    return Place(
        context=path,
        folder=os.path.dirname(path) or "." if path.endswith(".json") else path,  # noqa: PTH120
        container=flags.container or env.get("K8SJOB_CONTAINER") or None,
        stop_grace_s=parse_duration(
            flags.stop_grace or env.get("K8SJOB_STOP_GRACE") or _STOP_GRACE
        ),
        ledger=flags.ledger,
        env=env,
        as_json=logs.wants_json(env),
    )


def keep_books(place: Place) -> int:
    """Keep the attempt's rows until a stop signal comes; return 0, whatever happens.

    Must be called in the main thread, since it takes signals.
    """
    with signals_on_a_pipe(STOP) as signals:
        stop = _Stop(signals)
        try:
            _keep(place, stop)
        except Exception:
            log.exception("the sidecar failed; the main container goes on, its end is not recorded")
            stop.wait_or(lambda: None)
    return 0


class _Stop:
    """Whether a stop signal has come."""

    def __init__(self, signals: SignalPipe) -> None:
        self._signals, self._came = signals, False

    def wait_or(self, look: Callable[[], T | None]) -> T | None:
        """Wait until ``look`` finds something; None where a stop signal came first."""
        while not self._came:
            found = look()
            if found is not None:
                return found
            ready, _, _ = select.select([self._signals], [], [], _POLL_S)
            self._came = bool(ready) and any(True for _ in self._signals.read())
        return None


def _keep(place: Place, stop: _Stop) -> None:
    context = stop.wait_or(_Reading(place.context))
    if context is None:
        return
    file, status, telling = ExitFile(place.folder), _status(place), _Telling(context)
    attempt, since = _attempt(context, place.env), context.resolved_at
    books = Books(lambda: _shelf(place, context), attempt, telling, resolved_at=since)
    books.open()
    end = stop.wait_or(file.look)
    if end is None:
        books.hurry()
        end = settle(file, status)
    books.end(end)
    stop.wait_or(lambda: None)
    books.hurry()
    if not books.wait(place.stop_grace_s):
        telling.not_written(end)


class _Reading:
    """Reads the context; says once for each reason why it cannot."""

    def __init__(self, path: str) -> None:
        self._path, self._told = path, ""

    def __call__(self) -> Context | None:
        try:
            return read_context(self._path)
        except K8sjobError as error:
            if (reason := first_line(error)) != self._told:
                log.warning("%s", error, extra={"event": "sidecar_waits"})
            self._told = reason
            return None


def _status(place: Place) -> PodStatus:
    inside = Inside.find(place.env)
    own = inside.namespace if inside else None
    return PodStatus(
        inside=inside,
        namespace=own or place.env.get("K8SJOB_NAMESPACE") or None,
        name=place.env.get("K8SJOB_POD_NAME") or None,
        container=place.container,
        uid=place.env.get("K8SJOB_POD_UID") or None,
    )


def _shelf(place: Place, context: Context) -> Shelf:
    address = settings.find(place.env, ledger=place.ledger)
    redact = redactor(address, place.env)
    logs.set_up(redact, as_json=place.as_json)
    ledger = open_ledger(
        address, application_name=f"k8sjob {context.key}", lock_timeout_s=_LOCK_TIMEOUT_S
    )
    # On SQLite nothing can be written while the main container's claim holds the file.
    writable = address.kind is settings.Kind.POSTGRES
    return Shelf(ledger, takes_heartbeats=writable, redact=redact)


def _attempt(context: Context, env: Mapping[str, str]) -> Attempt:
    return Attempt(
        id=context.attempt,
        key=context.key,
        mode="sidecar",
        source=context.source,
        client=__version__,
        job_uid=env.get("K8SJOB_JOB_UID") or context.job_uid,
        job_name=env.get("K8SJOB_JOB_NAME") or context.job_name,
        pod_uid=env.get("K8SJOB_POD_UID") or None,
        pod_name=env.get("K8SJOB_POD_NAME") or None,
        node=env.get("K8SJOB_NODE") or None,
    )


class _Telling:
    """Lines of the log for people and machines, and the termination message."""

    def __init__(self, context: Context) -> None:
        self._context = context
        key = context.key
        self._fields: dict[str, object] = {
            "key": str(key),
            "namespace": key.job.namespace,
            "job": str(key.job),
            "period": str(key.period),
            "attempt": str(context.attempt),
            "source": context.source,
        }

    def begun(self) -> None:
        self._log(logging.INFO, f"{self._context.key} begun", event="attempt_begun")

    def ended(self, ending: Ending) -> None:
        text = self._log(
            logging.ERROR if ending.outcome.exit_code else logging.INFO,
            ending.message or "",
            event=f"attempt_{ending.outcome.replace('-', '_')}",
            outcome=str(ending.outcome),
            exit_code=ending.exit_code,
            speaker=ending.speaker,
        )
        write_termination_message(text, None)

    def not_written(self, end: MainEnd) -> None:
        text = f"{self._context.key}: its end could not be written, {end}"
        self._log(logging.ERROR, text, event="end_not_written", exit_code=end.exit_code)

    def _log(self, level: int, text: str, **fields: object) -> str:
        first, *rest = text.splitlines()
        first += f" (attempt {short(self._context.attempt)}, source {self._context.source})"
        whole = "\n".join([first, *rest])
        log.log(level, "%s", whole, extra=self._fields | fields)
        return whole
