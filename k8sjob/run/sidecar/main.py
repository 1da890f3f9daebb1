"""How a sidecar learns that and how the main container has ended.

By a file that its wrapper leaves in the shared folder: on Pod deletion the API never shows the end
in time (measured on 1.34). Else by the Pod's status, which shows a normal end within 0.1 s of the
sidecar's SIGTERM (measured), where the service account may get pods.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from k8sjob.errors import K8sjobError
from k8sjob.kube.inside_trouble import Trouble
from k8sjob.run.doubt import first_line
from k8sjob.run.sidecar.end import MainEnd

if TYPE_CHECKING:
    from collections.abc import Callable

    from k8sjob.kube.inside import Inside
    from k8sjob.kube.pods import Pod

#: From the stop signal on. A deleted Pod may leave two seconds, and the row has to be written too.
PATIENCE_S = 1.2
_PAUSE_S = 0.1
_LEAST_S = 0.2
_MOST = 64
_HIGHEST = 255


class ExitFile:
    """The file ``exit`` beside the context: the exit code as text."""

    def __init__(self, folder: str) -> None:
        """Look in ``folder``, the one that ``k8sjob resolve --write`` has filled."""
        self._file = f"{folder}/exit"
        self._context = f"{folder}/context.json"
        self._before: bytes | None = None

    def look(self) -> MainEnd | None:
        """Return the end that the file tells of; None where it is not there, or half written."""
        try:
            with open(self._file, "rb") as file:  # noqa: PTH123  # no pathlib at start
                text = file.read(_MOST)
                if os.fstat(file.fileno()).st_mtime_ns < self._begun():
                    return None
        except OSError:
            return None
        # Without an end of line there may be more to come.
        whole, self._before = text.endswith(b"\n") or text == self._before, text
        return _read(text) if text.strip() and whole else None

    def _begun(self) -> int:
        """Return when the context was written.

        A Pod whose sandbox was made anew keeps its emptyDir and runs its init containers again:
        what is older tells of the run before.
        """
        try:
            return os.stat(self._context).st_mtime_ns  # noqa: PTH116  # no pathlib at start
        except OSError:
            return 0


def _read(text: bytes) -> MainEnd:
    word = text.strip()
    if word.isdigit() and int(word) <= _HIGHEST:
        return MainEnd(int(word))
    shown = word.decode(errors="replace")[:20]
    return MainEnd(None, f"the file exit holds {shown!r} and no exit code")


def end_in(pod: Pod, container: str | None) -> MainEnd | None:
    """Return how the main container ended; None while the Pod shows that it runs.

    The main container is the one called ``container``, else the only one: sidecars are init
    containers that never end.
    """
    found = [c for c in pod.containers if container in (None, c.name)]
    if len(found) != 1:
        names = ", ".join(c.name for c in pod.containers) or "none yet"
        return MainEnd(None, f"which container is the main one? There are {names}; {_NAME_IT}")
    ended = found[0].terminated
    if ended is None:
        return None
    return MainEnd(ended.exit_code, None if ended.reason in _SAYS_NO_MORE else ended.reason)


_NAME_IT = "set K8SJOB_CONTAINER"
_SAYS_NO_MORE = ("Completed", "Error")


@dataclass(slots=True)
class PodStatus:
    """The end of the main container by the Pod's status. ``uid`` tells two Pods of a name apart."""

    inside: Inside | None
    namespace: str | None
    name: str | None
    container: str | None = None
    uid: str | None = None
    #: Why nothing is to be learned here; None where it may be.
    refusal: str | None = field(default=None, init=False)

    def look(self, seconds: float) -> MainEnd | None:
        """Return the end that the status tells of, asked for at most so long; None: not (yet)."""
        if self.refusal is None:
            self.refusal = self._missing()
        if self.refusal is not None:
            return None
        try:
            return self._end(self._get(seconds))
        except K8sjobError as error:
            if not (isinstance(error, Trouble) and error.again):
                self.refusal = first_line(error)
            return None

    def _missing(self) -> str | None:
        if self.inside is None:
            return "no file exit, and no Kubernetes to ask"
        if not (self.namespace and self.name):
            return "no file exit, and K8SJOB_NAMESPACE or K8SJOB_POD_NAME is not set"
        return None

    def _get(self, seconds: float) -> Pod:
        from k8sjob.kube.pods import Pod  # noqa: PLC0415  # only where there is no file

        assert self.inside  # noqa: S101  # for the type checker
        limits = replace(self.inside.limits, total_s=seconds, tries=1)
        api = replace(self.inside, limits=limits)
        return Pod.parse(api.get_pod(self.namespace or "", self.name or ""))

    def _end(self, pod: Pod) -> MainEnd | None:
        if self.uid and self.uid != pod.uid:
            self.refusal = f"the Pod {pod.namespace}/{pod.name} is another one by now"
            return None
        end = end_in(pod, self.container)
        if end is not None and end.exit_code is None:
            self.refusal = end.remark
            return None
        return end


def settle(
    file: ExitFile,
    status: PodStatus,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> MainEnd:
    """Return how the main container ended, now that a stop signal says that it has.

    Takes little more than ``PATIENCE_S`` seconds at most.
    """
    over = clock() + PATIENCE_S
    while True:
        end = file.look() or status.look(max(over - clock(), _LEAST_S))
        if end is not None:
            return end
        if clock() >= over:
            return file.look() or MainEnd(None, status.refusal or _STILL_RUNS)
        sleep(_PAUSE_S)


_STILL_RUNS = "no file exit, and the Pod's status does not tell"
